"""Documents by the sequence number of their last write, which engines count in each shard.

The mapping notes up to which number the documents of each shard were looked at. A document that nobody wrote to since
has the same number as then, so it need not be read again. A note holds for these very shards: a copy of the index, one
that was restored and a shard that was lost have another history.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.attach.backfill import queries
from simdoc_search.attach.backfill.targets import UNTOLD, Target, maximum
from simdoc_search.attach.backfill.task import Task
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import add_fields
from simdoc_search.stores.remote.schema import format_label

NoteKind = Literal["compared", "filled"]
"""All fingerprints were compared with their texts; or all texts without a fingerprint got one."""

_PLACES: dict[NoteKind, str] = {"compared": "buckets", "filled": "shingles"}
"""In whose `meta` a note is, which has little room."""

_MAX_LINES, _MAX_VALUE = 4, 50

Query = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shards:
    """The shards of an index at one moment, by their numbers.

    Attributes:
        histories: what tells the history of each from another one.
        numbers: up to which sequence number all its copies have all writes. The next refresh lets searches see these.
    """

    histories: tuple[str, ...]
    numbers: tuple[int, ...]

    def writes_since(self, numbers: Sequence[int]) -> int:
        """How many writes there were after these numbers; a document may have had several, or be deleted."""
        return sum(max(0, now - then) for now, then in zip(self.numbers, numbers, strict=True))


def _between(after: int, upto: Sequence[int]) -> Query:
    last = {"lte": max(upto)} if upto else {}
    return {"range": {"_seq_no": {"gte": after + 1, **last}}}


def shards_of(engine: Engine, index: str, count: int) -> Shards | None:
    """The shards of a concrete index that has so many; None if the engine does not tell.

    Raises:
        StoreError: the engine does not answer.
    """
    found = engine.call("GET", [index, "_stats", "store"], allow=UNTOLD, level="shards") or {}
    shards = found.get("indices", {}).get(index, {}).get("shards", {})
    histories, numbers = [], []
    for number in range(count):
        copies = shards.get(str(number), [])
        ids = {each.get("commit", {}).get("user_data", {}).get("history_uuid") for each in copies}
        # Each copy knows a number that holds for all, some of them a late one.
        known = [each["seq_no"]["global_checkpoint"] for each in copies if "seq_no" in each]
        if len(ids) != 1 or None in ids or not known:
            return None
        histories.append(str(ids.pop()))
        numbers.append(int(max(known)))
    return Shards(tuple(histories), tuple(numbers))


@dataclass(frozen=True, slots=True)
class Span:
    """Writes of each shard, by its number.

    Attributes:
        after: those that come after these numbers.
        upto: and not after these; empty: all of them.
    """

    after: tuple[int, ...]
    upto: tuple[int, ...] = ()

    def of_shard(self, number: int) -> Query:
        """The documents of a shard that were last written then."""
        return _between(self.after[number], self.upto[number : number + 1])

    def of_any(self) -> Query:
        """These documents of all shards, and some others where the shards differ."""
        return _between(min(self.after), self.upto)

    def parts(self, count: int) -> Iterator[Span]:
        """The same in so many parts, from the oldest writes to the newest; none if there can be no document."""
        both = [*zip(self.after, self.upto, strict=True)]
        if not count or all(last <= first for first, last in both):
            return
        ends = [tuple(first + (last - first) * part // count for first, last in both) for part in range(count + 1)]
        yield from (Span(start, end) for start, end in pairwise(ends))


def noted(
    ours: Mapping[str, Any], kind: NoteKind, shards: Shards, text_fields: Sequence[str], settings: Settings
) -> tuple[int, ...]:
    """Up to which numbers documents were looked at, of each shard; -1 where nothing says it.

    Args:
        ours: the mapping of what is below our field.
        kind: for what they were looked at.
        shards: as they are now.
        text_fields: where the texts are.
        settings: how fingerprints are made.
    """
    none = (-1,) * len(shards.numbers)
    meta = ours.get(_PLACES[kind], {}).get("meta", {})
    if meta.get(f"simdoc_{kind}") != _label(shards, text_fields, settings):
        return none
    lines = [each for key, each in sorted(meta.items()) if key.startswith(f"simdoc_{kind}_")]
    try:
        numbers = tuple(int(each) for line in lines for each in line.split())
    except ValueError:
        return none
    return numbers * len(none) if len(numbers) == 1 else numbers if len(numbers) == len(none) else none


def span_of(engine: Engine, target: Target, task: Task, shards: Shards | None) -> Span:
    """The writes since documents of an index were last looked at, up to these shards.

    Args:
        engine: where it is.
        target: the index.
        task: for what they are looked at.
        shards: as they were when that began; None: the engine does not tell.

    Raises:
        StoreError: the engine does not answer.
    """
    none = (-1,) * target.shards
    if shards is None:
        last = int(maximum(engine, target.index, "_seq_no")["value"] or 0)
        return Span(none, (last,) * target.shards)
    before = none if task.full else noted(target.ours, _kind(task), shards, task.text_fields, target.settings)
    return Span(before, shards.numbers)


def work_in(engine: Engine, target: Target, task: Task) -> list[Query]:
    """The queries of all that is to be read of an index; of several shards they may find more.

    Raises:
        StoreError: the engine does not answer.
    """
    shards = shards_of(engine, target.index, target.shards)
    span = span_of(engine, target, task, shards).of_any() if shards else {"match_all": {}}
    to_do = queries.to_do(target, task)
    return [to_do if target.has_text else queries.both(to_do, span), queries.both(queries.doubtful(target, task), span)]


def remember(engine: Engine, target: Target, task: Task, shards: Shards, writes: int) -> None:
    """Note that all documents up to the numbers of these shards were looked at. Whoever may not write it does without.

    Args:
        engine: where the index is.
        target: the index.
        task: for what they were looked at.
        shards: as they were when that began.
        writes: how many documents this run wrote. If nobody else wrote to the index, these were looked at too.

    Raises:
        StoreError: the engine does not answer.
    """
    now = shards_of(engine, target.index, target.shards)
    if now and now.histories == shards.histories and now.writes_since(shards.numbers) == writes:
        shards = now
    kind = _kind(task)
    lines = _lines(shards.numbers) or _lines([min(shards.numbers)])
    meta = {f"simdoc_{kind}": _label(shards, task.text_fields, target.settings)}
    meta |= {f"simdoc_{kind}_{number}": line for number, line in enumerate(lines, 1)}
    mapping = target.ours[_PLACES[kind]]
    if mapping.get("meta") != meta and task.query is None and not target.chosen:
        add_fields(engine, target.index, task.field, {_PLACES[kind]: {**mapping, "meta": meta}})


def _kind(task: Task) -> NoteKind:
    return "compared" if task.stale else "filled"


def _label(shards: Shards, text_fields: Sequence[str], settings: Settings) -> str:
    """What a note is about."""
    return text_hash("\n".join([*shards.histories, *text_fields, format_label(settings)]))


def _lines(numbers: Sequence[int]) -> list[str]:
    """Numbers in lines as a `meta` takes them; none if it has no room for so many."""
    lines: list[str] = []
    for each in map(str, numbers):
        longer = f"{lines[-1]} {each}" if lines else each
        lines[-1:] = [longer] if len(longer) <= _MAX_VALUE or not lines else [lines[-1], each]
    return lines if len(lines) <= _MAX_LINES else []
