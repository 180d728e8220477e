"""Records how far each shard was compared, so that the next run reads only documents written since.

Engines number the writes in each shard (`_seq_no`), and each document has the number of its last write. The mapping
stores a checkpoint for each shard: all writes up to this number were compared. It also stores a hash of the shard
histories. A clone, a restored index and a lost shard have a new history, so all of their documents are compared again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.attach.backfill.queries import Query, all_of, comparable_query, incomplete_query
from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.backfill.task import Task
from simdoc_search.attach.indices import UNSUPPORTED_OR_FORBIDDEN
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import add_fields
from simdoc_search.stores.remote.schema import format_label

_META_FIELD, _META_KEY = "buckets", "simdoc_compared"
"""The field whose `meta` stores the checkpoints, and the first of the keys."""

_MAX_LINES, _MAX_VALUE = 4, 50
"""Limits of the `meta` of a field: values for checkpoints, and characters per value."""


@dataclass(frozen=True, slots=True)
class Shards:
    """The shards of an index at one moment, by number.

    Attributes:
        histories: the history UUID of each shard.
        checkpoints: the number up to which all copies of each shard have all writes. A refresh makes them visible.
    """

    histories: tuple[str, ...]
    checkpoints: tuple[int, ...]

    def writes_since(self, checkpoints: Sequence[int]) -> int:
        """Return the number of writes after these checkpoints, including deletions and repeated writes."""
        return sum(max(0, now - then) for now, then in zip(self.checkpoints, checkpoints, strict=True))


def read_shards(engine: Engine, index: str, count: int) -> Shards | None:
    """Return the shards of a concrete index with `count` shards; None if the engine does not report them."""
    answer = engine.call("GET", [index, "_stats", "store"], allow=UNSUPPORTED_OR_FORBIDDEN, level="shards") or {}
    shards = answer.get("indices", {}).get(index, {}).get("shards", {})
    histories, checkpoints = [], []
    for number in range(count):
        copies = shards.get(str(number), [])
        ids = {copy.get("commit", {}).get("user_data", {}).get("history_uuid") for copy in copies}
        known = [copy["seq_no"]["global_checkpoint"] for copy in copies if "seq_no" in copy]  # some copies lag behind
        if len(ids) != 1 or None in ids or not known:
            return None
        histories.append(str(ids.pop()))
        checkpoints.append(int(max(known)))
    return Shards(tuple(histories), tuple(checkpoints))


@dataclass(frozen=True, slots=True)
class WriteRange:
    """A range of writes in each shard, by number.

    Attributes:
        after: for each shard, the number before the first write.
        upto: for each shard, the number of the last write; empty for no upper bound.
    """

    after: tuple[int, ...]
    upto: tuple[int, ...] = ()

    def in_shard(self, number: int) -> Query:
        """Return the query for the documents in one shard that were last written in the range."""
        return _seq_no_query(self.after[number], self.upto[number : number + 1])

    def in_any_shard(self) -> Query:
        """Return one query for all shards. It also finds other documents if the shards have different bounds."""
        return _seq_no_query(min(self.after), self.upto)

    def split(self, count: int) -> Iterator[WriteRange]:
        """Yield `count` parts of the range, oldest first; none if it is empty. An open range is not split."""
        if not self.upto:
            yield from [self] if count else []
            return
        bounds = [*zip(self.after, self.upto, strict=True)]
        if not count or all(last <= first for first, last in bounds):
            return
        ends = [tuple(first + (last - first) * part // count for first, last in bounds) for part in range(count + 1)]
        yield from (WriteRange(start, end) for start, end in pairwise(ends))


def recorded_checkpoints(
    fields: Mapping[str, Any], shards: Shards, text_fields: Sequence[str], settings: Settings
) -> tuple[int, ...]:
    """Return the checkpoints in the mapping of the fingerprint field, one per shard; all -1 if they are not valid.

    `fields` are the mappings below the fingerprint field.
    """
    none = (-1,) * len(shards.checkpoints)
    meta = fields.get(_META_FIELD, {}).get("meta", {})
    if meta.get(_META_KEY) != _identity(shards, text_fields, settings):
        return none
    lines = [line for key, line in sorted(meta.items()) if key.startswith(f"{_META_KEY}_")]
    try:
        numbers = tuple(int(number) for line in lines for number in line.split())
    except ValueError:
        return none
    return numbers * len(none) if len(numbers) == 1 else numbers if len(numbers) == len(none) else none


def unread_writes(engine: Engine, target: Target, task: Task, shards: Shards | None) -> WriteRange:
    """Return the writes since the recorded checkpoints, up to the current ones.

    Without `shards`, which some engines do not report, these are all visible writes.
    """
    start = (-1,) * target.index.shards
    if shards is None:
        body = {"size": 0, "aggs": {"last": {"max": {"field": "_seq_no"}}}}
        last = int(engine.search(target.index.name, body)["aggregations"]["last"]["value"] or 0)
        return WriteRange(start, (last,) * target.index.shards)
    if task.stale and not task.full:
        start = recorded_checkpoints(target.subfields, shards, task.text_fields, target.settings)
    return WriteRange(start, shards.checkpoints)


def unread_queries(engine: Engine, target: Target, task: Task) -> list[Query]:
    """Return queries for all documents that a backfill reads. With several shards they may find other documents too."""
    if not task.stale:
        return [incomplete_query(target, task)]
    shards = read_shards(engine, target.index.name, target.index.shards)
    unread = unread_writes(engine, target, task, shards).in_any_shard() if shards else {"match_all": {}}
    return [incomplete_query(target, task), all_of(comparable_query(target, task), unread)]


def record_checkpoints(engine: Engine, target: Target, task: Task, shards: Shards, writes: int) -> None:
    """Record that all documents up to these checkpoints were compared, if this user may change the mapping.

    `shards` is the state before the documents were read, and `writes` the number of documents that the backfill wrote
    since. If there were no other writes, the current checkpoints are recorded, so that the next run does not read the
    writes of this run.
    """
    if target.index.filters:  # documents outside the filter of the alias were not compared
        return
    now = read_shards(engine, target.index.name, target.index.shards)
    if now and now.histories == shards.histories and now.writes_since(shards.checkpoints) == writes:
        shards = now
    lines = _lines(shards.checkpoints) or _lines([min(shards.checkpoints)])
    meta = {_META_KEY: _identity(shards, task.text_fields, target.settings)}
    meta |= {f"{_META_KEY}_{number}": line for number, line in enumerate(lines, 1)}
    mapping = target.subfields[_META_FIELD]
    if mapping.get("meta") != meta:
        add_fields(engine, target.index.name, task.field, {_META_FIELD: {**mapping, "meta": meta}})


def _seq_no_query(after: int, upto: Sequence[int]) -> Query:
    last = {"lte": max(upto)} if upto else {}
    return {"range": {"_seq_no": {"gte": after + 1, **last}}}


def _identity(shards: Shards, text_fields: Sequence[str], settings: Settings) -> str:
    """A hash of everything that must not change while the checkpoints are valid."""
    return text_hash("\n".join([*shards.histories, *text_fields, format_label(settings)]))


def _lines(numbers: Sequence[int]) -> list[str]:
    """Join numbers into as few values as possible; none if they exceed the limits of a `meta`."""
    lines: list[str] = []
    for number in map(str, numbers):
        longer = f"{lines[-1]} {number}" if lines else number
        lines[-1:] = [longer] if len(longer) <= _MAX_VALUE or not lines else [lines[-1], number]
    return lines if len(lines) <= _MAX_LINES else []
