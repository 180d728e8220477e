"""Records up to which write the documents of each shard were compared, so that the next run reads only newer ones.

Engines number the writes of each shard (`_seq_no`), and a document keeps the number of its last write. The mapping
records these checkpoints together with the history of the shards: a clone, a restored index and a shard that was lost
have another history, so all of their documents are compared again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.attach.backfill.queries import Query, both, comparable, incomplete
from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.backfill.task import Task
from simdoc_search.attach.indices import OPTIONAL
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import add_fields
from simdoc_search.stores.remote.schema import format_label

_PLACE, _KEY = "buckets", "simdoc_compared"
"""The field whose `meta` records the checkpoints, and the first of its keys."""

_MAX_LINES, _MAX_VALUE = 4, 50
"""Space in the `meta` of a field: values, and characters per value."""


@dataclass(frozen=True, slots=True)
class Shards:
    """The shards of an index at one moment, by number.

    Attributes:
        histories: the history UUID of each shard.
        checkpoints: for each shard, the number up to which all copies have all writes. A refresh makes these visible.
    """

    histories: tuple[str, ...]
    checkpoints: tuple[int, ...]

    def writes_since(self, checkpoints: Sequence[int]) -> int:
        """Return the number of writes after these checkpoints. Repeated writes to a document and deletions count."""
        return sum(max(0, now - then) for now, then in zip(self.checkpoints, checkpoints, strict=True))


def read_shards(engine: Engine, index: str, count: int) -> Shards | None:
    """Return the shards of a concrete index with `count` shards; None if the engine does not report them."""
    answer = engine.call("GET", [index, "_stats", "store"], allow=OPTIONAL, level="shards") or {}
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
        after: the writes after these numbers.
        upto: and up to these; empty for no upper bound.
    """

    after: tuple[int, ...]
    upto: tuple[int, ...] = ()

    def in_shard(self, number: int) -> Query:
        """Return the query of the documents in a shard that were last written in the range."""
        return _seq_no_query(self.after[number], self.upto[number : number + 1])

    def in_any_shard(self) -> Query:
        """Return a query for all shards. It finds these documents, and more if the shards have different numbers."""
        return _seq_no_query(min(self.after), self.upto)

    def split(self, count: int) -> Iterator[WriteRange]:
        """Yield `count` ranges from the oldest writes to the newest; none if no document can be in the range."""
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
    """Return the checkpoints in the mappings below the fingerprint field, one per shard; all -1 if none are valid."""
    none = (-1,) * len(shards.checkpoints)
    meta = fields.get(_PLACE, {}).get("meta", {})
    if meta.get(_KEY) != _identity(shards, text_fields, settings):
        return none
    lines = [line for key, line in sorted(meta.items()) if key.startswith(f"{_KEY}_")]
    try:
        numbers = tuple(int(number) for line in lines for number in line.split())
    except ValueError:
        return none
    return numbers * len(none) if len(numbers) == 1 else numbers if len(numbers) == len(none) else none


def unread_writes(engine: Engine, target: Target, task: Task, shards: Shards | None) -> WriteRange:
    """Return the writes since the recorded checkpoints, up to the current ones.

    If the engine does not report its shards (None), these are all visible writes.
    """
    start = (-1,) * target.index.shards
    if shards is None:
        body = {"size": 0, "aggs": {"last": {"max": {"field": "_seq_no"}}}}
        last = int(engine.search(target.index.name, body)["aggregations"]["last"]["value"] or 0)
        return WriteRange(start, (last,) * target.index.shards)
    if task.stale and not task.full:
        start = recorded_checkpoints(target.fields, shards, task.text_fields, target.settings)
    return WriteRange(start, shards.checkpoints)


def unread_queries(engine: Engine, target: Target, task: Task) -> list[Query]:
    """Return the queries of all documents that a backfill reads. With several shards they may find more."""
    if not task.stale:
        return [incomplete(target, task)]
    shards = read_shards(engine, target.index.name, target.index.shards)
    unread = unread_writes(engine, target, task, shards).in_any_shard() if shards else {"match_all": {}}
    return [incomplete(target, task), both(comparable(target, task), unread)]


def record_checkpoints(engine: Engine, target: Target, task: Task, shards: Shards, writes: int) -> None:
    """Record that all documents up to these checkpoints were compared, if the user may change the mapping.

    The shards are those before the documents were read. If nobody wrote meanwhile but the backfill itself (`writes`
    documents), the current checkpoints are recorded instead. Then the next run does not read its writes again.
    """
    if target.index.filters:  # only the documents that the alias shows were compared
        return
    now = read_shards(engine, target.index.name, target.index.shards)
    if now and now.histories == shards.histories and now.writes_since(shards.checkpoints) == writes:
        shards = now
    lines = _lines(shards.checkpoints) or _lines([min(shards.checkpoints)])
    meta = {_KEY: _identity(shards, task.text_fields, target.settings)}
    meta |= {f"{_KEY}_{number}": line for number, line in enumerate(lines, 1)}
    mapping = target.fields[_PLACE]
    if mapping.get("meta") != meta:
        add_fields(engine, target.index.name, task.field, {_PLACE: {**mapping, "meta": meta}})


def _seq_no_query(after: int, upto: Sequence[int]) -> Query:
    last = {"lte": max(upto)} if upto else {}
    return {"range": {"_seq_no": {"gte": after + 1, **last}}}


def _identity(shards: Shards, text_fields: Sequence[str], settings: Settings) -> str:
    """A hash of all that must be unchanged for the checkpoints to be valid."""
    return text_hash("\n".join([*shards.histories, *text_fields, format_label(settings)]))


def _lines(numbers: Sequence[int]) -> list[str]:
    """Numbers in as few values of a `meta` as possible; empty if there is no space for all."""
    lines: list[str] = []
    for number in map(str, numbers):
        longer = f"{lines[-1]} {number}" if lines else number
        lines[-1:] = [longer] if len(longer) <= _MAX_VALUE or not lines else [lines[-1], number]
    return lines if len(lines) <= _MAX_LINES else []
