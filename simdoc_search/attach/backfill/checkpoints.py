"""Stores checkpoints in the mapping, so that the next run reads only documents that were written since this run.

Engines number the writes in each shard (`_seq_no`), and each document has the number of its last write. A checkpoint
is the sequence number of a write in a shard. The fingerprints of all documents with this number or a smaller one were
compared with the texts. The mapping also stores a hash of the history UUIDs of the shards. A cloned or restored index
has new history UUIDs, and so has a shard that was lost and created again. All of their documents are compared again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.attach.backfill.options import BackfillOptions
from simdoc_search.attach.backfill.queries import Query, build_comparable_query, build_incomplete_query, combine_clauses
from simdoc_search.attach.backfill.targets import Target
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine, UrlParams
from simdoc_search.stores.remote.mappings import add_fields
from simdoc_search.stores.remote.schema import MAX_META_ENTRIES, format_label, join_to_lines

_META_FIELD, _META_KEY = "buckets", "simdoc_compared"
"""The subfield whose `meta` stores the checkpoints, and the key of `_hash_dependencies` in this `meta`. The keys of the
checkpoints begin with the same characters."""


@dataclass(frozen=True, slots=True)
class ShardStates:
    """The state of all shards of an index at one moment. Shard numbers are indices into both tuples.

    Attributes:
        history_uuids: the history UUID of each shard.
        checkpoints: for each shard, the sequence number of a write. All copies of the shard have all writes up to this
            number, and a refresh makes them visible.
    """

    history_uuids: tuple[str, ...]
    checkpoints: tuple[int, ...]

    def count_writes_since(self, checkpoints: Sequence[int]) -> int:
        """Return the number of writes after these checkpoints, including deletions and repeated writes."""
        return sum(max(0, now - then) for now, then in zip(self.checkpoints, checkpoints, strict=True))


def read_shard_states(engine: Engine, index: str, shard_count: int) -> ShardStates | None:
    """Return the states of the shards of a concrete index; None if the engine does not report them."""
    response = engine.get_if_allowed(index, "_stats", "store", level="shards")
    shards = response.get("indices", {}).get(index, {}).get("shards", {})
    history_uuids, checkpoints = [], []
    for number in range(shard_count):
        copies = shards.get(str(number), [])
        ids = {copy.get("commit", {}).get("user_data", {}).get("history_uuid") for copy in copies}
        copy_checkpoints = [copy["seq_no"]["global_checkpoint"] for copy in copies if "seq_no" in copy]
        if len(ids) != 1 or None in ids or not copy_checkpoints:
            return None
        history_uuids.append(str(ids.pop()))
        checkpoints.append(int(max(copy_checkpoints)))  # copies that lag behind report an older checkpoint
    return ShardStates(tuple(history_uuids), tuple(checkpoints))


class Search(NamedTuple):
    """A query, and the URL parameters with which it is sent."""

    query: Query
    params: UrlParams = UrlParams()


@dataclass(frozen=True, slots=True)
class WriteRange:
    """A range of writes in each shard."""

    after_seq_nos: tuple[int, ...]  # for each shard, the greatest sequence number before the range
    up_to_seq_nos: tuple[int, ...] = ()  # for each shard, the sequence number of its last write; empty: no upper bound

    def build_shard_query(self, number: int) -> Query:
        """Return the query for the documents in one shard that were last written in the range."""
        return _seq_no_query(self.after_seq_nos[number], self.up_to_seq_nos[number : number + 1])

    def build_any_shard_query(self) -> Query:
        """Return one query for all shards. If their bounds differ, it also matches some documents outside the range."""
        return _seq_no_query(min(self.after_seq_nos), self.up_to_seq_nos)

    def plan_searches(self) -> list[Search]:
        """Return searches that together match exactly the range: one search if all shards have the same bounds."""
        if len({*self.after_seq_nos}) == 1 and len({*self.up_to_seq_nos}) <= 1:
            return [Search(self.build_any_shard_query())]
        shards = range(len(self.after_seq_nos))
        return [Search(self.build_shard_query(number), {"preference": f"_shards:{number}"}) for number in shards]

    def split(self, count: int) -> Iterator[WriteRange]:
        """Yield `count` parts of the range, oldest first; none if it is empty. Without `up_to_seq_nos`, yield one."""
        if not self.up_to_seq_nos:
            yield from [self] if count else []
            return
        bounds = [*zip(self.after_seq_nos, self.up_to_seq_nos, strict=True)]
        if not count or all(last <= first for first, last in bounds):
            return
        ends = [tuple(first + (last - first) * part // count for first, last in bounds) for part in range(count + 1)]
        yield from (WriteRange(start, end) for start, end in pairwise(ends))


def read_checkpoints(
    subfields: Mapping[str, Any], shards: ShardStates, text_fields: Sequence[str], settings: Settings
) -> tuple[int, ...]:
    """Return the checkpoints in the mapping of the fingerprint field, one per shard; all -1 if they are not valid.

    `subfields` are the mappings of the subfields of the fingerprint field.
    """
    no_checkpoints = (-1,) * len(shards.checkpoints)
    meta = subfields.get(_META_FIELD, {}).get("meta", {})
    if meta.get(_META_KEY) != _hash_dependencies(shards, text_fields, settings):
        return no_checkpoints
    lines = [line for key, line in sorted(meta.items()) if key.startswith(f"{_META_KEY}_")]
    try:
        numbers = tuple(int(number) for line in lines for number in line.split())
    except ValueError:
        return no_checkpoints
    if len(numbers) == 1:
        return numbers * len(no_checkpoints)
    return numbers if len(numbers) == len(no_checkpoints) else no_checkpoints


def find_unread_writes(
    engine: Engine, target: Target, options: BackfillOptions, shards: ShardStates | None
) -> WriteRange:
    """Return the writes since the recorded checkpoints, up to the current checkpoints.

    If the engine does not report shards (`shards` is None), return all visible writes.
    """
    start = (-1,) * target.index.shard_count
    if shards is None:
        body = {"size": 0, "aggs": {"last": {"max": {"field": "_seq_no"}}}}
        last = int(engine.search(target.index.name, body)["aggregations"]["last"]["value"] or 0)
        return WriteRange(start, (last,) * target.index.shard_count)
    if options.stale and not options.full:
        start = read_checkpoints(target.subfields, shards, options.text_fields, target.settings)
    return WriteRange(start, shards.checkpoints)


def plan_backfill_searches(engine: Engine, target: Target, options: BackfillOptions) -> list[Search]:
    """Return searches for the documents that a backfill reads. The first finds those without a complete fingerprint."""
    incomplete, comparable = build_incomplete_query(target, options), build_comparable_query(target, options)
    if not options.stale:
        return [Search(incomplete)]
    shards = read_shard_states(engine, target.index.name, target.index.shard_count)
    if shards is None:
        return [Search(incomplete), Search(comparable)]
    unread = WriteRange(find_unread_writes(engine, target, options, shards).after_seq_nos).plan_searches()
    return [Search(incomplete), *(Search(combine_clauses(comparable, query), params) for query, params in unread)]


def record_checkpoints(
    engine: Engine, target: Target, options: BackfillOptions, shards: ShardStates, write_count: int
) -> None:
    """Record that all documents up to the checkpoints in `shards` were compared.

    If the user is not allowed to change the mapping, nothing is recorded.

    `shards` is the state before the documents were read. `write_count` is the number of documents that the backfill
    wrote since then. If there were no other writes, the current checkpoints are recorded. The next run then skips the
    documents that this run wrote.
    """
    if target.index.filters:  # the alias excludes documents, which this run has not read, so record nothing
        return
    now = read_shard_states(engine, target.index.name, target.index.shard_count)
    if now and now.history_uuids == shards.history_uuids and now.count_writes_since(shards.checkpoints) == write_count:
        shards = now
    lines = join_to_lines(map(str, shards.checkpoints), " ")
    if len(lines) >= MAX_META_ENTRIES:  # one entry is the hash
        lines = [str(min(shards.checkpoints))]
    meta = {_META_KEY: _hash_dependencies(shards, options.text_fields, target.settings)}
    meta |= {f"{_META_KEY}_{number}": line for number, line in enumerate(lines, 1)}
    mapping = target.subfields[_META_FIELD]
    if mapping.get("meta") != meta:
        add_fields(engine, target.index.name, options.field, {_META_FIELD: {**mapping, "meta": meta}})


def _seq_no_query(after_seq_no: int, up_to_seq_nos: Sequence[int]) -> Query:
    last = {"lte": max(up_to_seq_nos)} if up_to_seq_nos else {}
    return {"range": {"_seq_no": {"gte": after_seq_no + 1, **last}}}


def _hash_dependencies(shards: ShardStates, text_fields: Sequence[str], settings: Settings) -> str:
    """Return a hash of the values on which the checkpoints depend. If it changes, the checkpoints are invalid."""
    return text_hash("\n".join([*shards.history_uuids, *text_fields, format_label(settings)]))
