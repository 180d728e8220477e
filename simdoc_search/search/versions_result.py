"""The answer to which documents are versions of one, and which is the newest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from simdoc_search.display import counted, percent, printable
from simdoc_search.documents import Place, Placed
from simdoc_search.passages.passage import KeyChange
from simdoc_search.passages.report.summary import key_change_lines
from simdoc_search.search.similar_result import Hits
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.excluded_indices import LeftOutIndex
from simdoc_search.versions import THETA, By, Dated, Matched
from simdoc_search.versions.chronology import named_kind

Via = Literal["sentences", "passages", "fingerprints"]
_ORDERS_NOTHING = "?"
"""Key changes that are shown of each step."""

HINT = "Order by the texts alone, as a hint. In our test the last one was the newest in 48 of 60 families."


@dataclass(frozen=True, slots=True)
class Step:
    """What changed from one version to the next that is shown.

    Attributes:
        share: the larger of the shares of either's sentences that have a near one in the other, 0..1.
        added: words that only the later one has there; None: a text is not stored.
        removed: words that only the earlier one has there, likewise.
        key_changes: the negations, numbers, dates and names that differ, in this order.
    """

    share: float
    added: int | None = None
    removed: int | None = None
    key_changes: tuple[KeyChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What one kind of evidence says of two documents, where another kind says the opposite.

    Attributes:
        by: the kind of evidence.
        later: the name of the document that is later by it.
        earlier: that of the other one.
        later_shown: the date or version of the later one, for people.
        earlier_shown: that of the other one.
        counts: whether it keeps the newest from being claimed.
    """

    by: By
    later: str
    earlier: str
    later_shown: str
    earlier_shown: str
    counts: bool = True

    def __str__(self) -> str:
        one, other = (
            f"{printable(name) or 'the text'} ({printable(shown)})"
            for name, shown in ((self.later, self.later_shown), (self.earlier, self.earlier_shown))
        )
        ignored = "" if self.counts else "; copying a file changes that time, so it does not count here"
        return f"by the {named_kind(self.by)}, {one} is newer than {other}{ignored}"


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """A version in its place among the others.

    Attributes:
        name: its id; of a text that is not stored, its name.
        place: where it is stored; None: it is not.
        is_source: whether it is what was asked about.
        dated: when it was written, and what says so; None: nothing does.
        step: what changed since the one before it; None of the first.
    """

    name: str
    place: Place | None
    is_source: bool
    dated: Dated | None
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class VersionHit(Placed):
    """A version of the source.

    Attributes:
        place: where it is.
        score: `THETA` to 1.0.
        share: the share of the source's sentences that have a near one in it, 0..1.
        share_of_hit: the share of its sentences that have a near one in the source, 0..1.
        sentences: how many sentences it has.
        matched: which sentence of the source, `a`, has which of its, `b`.
        entry: its place among the others, and what changed in it.
        changed: whether its text is another one now than the one that was indexed; only the words of its step are of
            today's.
        fields: what it has in the fields that were asked for.
    """

    place: Place
    score: float
    share: float
    share_of_hit: float
    sentences: int
    matched: Matched = field(repr=False)
    entry: VersionEntry
    changed: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


class InOrder:
    """What is said of documents that are in their order: the properties of `VersionsResult` and `VersionFamily`."""

    __slots__ = ()

    if TYPE_CHECKING:
        timeline: tuple[VersionEntry, ...]
        undated: tuple[VersionEntry, ...]
        newest: VersionEntry | None
        by: By
        conflict: tuple[Contradiction, ...]
        reason: str

    @property
    def order(self) -> str:
        """What orders them, for people, with what is to be said of the dates that are shown."""
        is_other = any(self.when(each).endswith(_ORDERS_NOTHING) for each in self.timeline)
        return f"{self.reason}; a date or version with {_ORDERS_NOTHING} orders nothing" if is_other else self.reason

    @property
    def verdict(self) -> str:
        """Which is the newest, and why; or why none is claimed. One sentence for people."""
        if self.newest is not None:
            name = printable(self.newest.name) or "the text"
            aside = f", not counting {counted(len(self.undated), 'undated document')}" if self.undated else ""
            return f"newest: {name}, by the {named_kind(self.by)}{aside}"
        if any(each.counts for each in self.conflict):
            return "newest: not known, as the evidence conflicts"
        return (
            "newest: not known, as nothing says which is newer"
            if self.by == "texts"
            else ("newest: not known, as the latest have the same date or lack one")
        )

    def when(self, entry: VersionEntry) -> str:
        """The date or version of an entry, for people; with a sign if it is of another kind than what orders them."""
        if entry.dated is None or not entry.dated.shown:
            return ""
        return f"{entry.dated.shown}{'' if self.by in (entry.dated.by, 'dates') else _ORDERS_NOTHING}"

    def evidence(self) -> Iterator[str]:
        """Which is the newest, and the evidence that conflicts, a line each."""
        yield self.verdict
        yield from (f"conflict: {each}" for each in self.conflict)


@dataclass(frozen=True, slots=True)
class VersionsResult(InOrder, Hits[VersionHit]):
    """The versions of a source in their order; `print` shows them, the last one last.

    Attributes:
        source: the id, or the name, of the source; empty for a text without one.
        text: its text; None if the store has none.
        sentences: how many sentences it has, and with how many of them was asked.
        hits: its versions, highest score first, then by id: the best ones, and the newest in any case as the last of
            the first page.
        timeline: these, the newest and the source, the oldest first, without the undated.
        undated: those of them that have no evidence while the others do.
        newest: the newest of the timeline; None: the evidence does not say, or contradicts itself.
        by: what orders them, see `versions.By`; `texts` is a hint only.
        certain: whether the evidence says the place of each in the timeline, and does not contradict itself.
        conflict: the evidence that contradicts each other, two statements for each contradiction.
        reason: what orders them, and why nothing better does, for people.
        found: how many versions there are, with those that are not among the hits.
        candidates: how many documents share a token with it at all.
        compared: with how many of these it was compared, those that share most tokens.
        via: what found the candidates: `sentences` of an index made `--with versions`, else `passages` or
            `fingerprints`, and sentences come from the texts.
        changed: whether its text is another one now than the one that was indexed, of which it was asked.
        left_out_indices: the indices behind an alias whose documents were not compared, and why.
        limits: what made sentences alike, documents versions, and hits worth showing.
    """

    source: str
    text: str | None = field(repr=False)
    sentences: tuple[int, int]
    hits: list[VersionHit]
    timeline: tuple[VersionEntry, ...]
    undated: tuple[VersionEntry, ...]
    newest: VersionEntry | None
    by: By
    certain: bool
    conflict: tuple[Contradiction, ...]
    reason: str
    found: int
    candidates: int
    compared: int
    via: Via = "sentences"
    changed: bool = False
    left_out_indices: tuple[LeftOutIndex, ...] = ()
    limits: Limits = field(default_factory=Limits)

    @property
    def theta(self) -> float:
        """The score from which on documents are versions."""
        return THETA

    @property
    def entries(self) -> tuple[VersionEntry, ...]:
        """All that is shown: the timeline, then the undated."""
        return (*self.timeline, *self.undated)

    def __str__(self) -> str:
        name = printable(self.source) or "the text"
        if not self.found:
            return f"{name}: no other version"
        lines = [f"{name}: {counted(self.found, 'other version')}, {self.order}"]
        return "\n".join([*lines, *self.lines(), *self.evidence()])

    def lines(self) -> Iterator[str]:
        """A line for each version, with its key changes below it, then the undated ones.

        It shows when it was written, how much of it and the one before it is alike, what changed, and its name.
        """
        if self.by == "texts":
            yield HINT
        for each in self.timeline:
            yield self._line(each)
            yield from (f"{'':>12}  {line}" for line in key_lines(each.step))
        if self.undated:
            yield "undated, so not in this order:"
            yield from (self._line(each) for each in self.undated)

    def _line(self, entry: VersionEntry) -> str:
        share = percent(entry.step.share, 0) if entry.step else ""
        said = f"  ({marks})" if (marks := self.marks(entry)) else ""
        return f"{printable(self.when(entry)):>12}{share:>17}{words_of(entry.step):>20}  {self._named(entry)}{said}"

    def marks(self, entry: VersionEntry) -> str:
        """What an entry is among the others, for people: the newest, what was asked about, neither."""
        held = (("newest", entry is self.newest), ("asked about", entry.is_source))
        return ", ".join(name for name, holds in held if holds)

    def _named(self, entry: VersionEntry) -> str:
        """Its name, with its index where another one has this name too."""
        name = printable(entry.name) or "the text"
        is_twice = sum(each.name == entry.name for each in self.entries) > 1
        return f"{name} in {printable(str(entry.place.index))}" if is_twice and entry.place else name


def words_of(step: Step | None) -> str:
    """How many words were added and removed, for people; empty where that is not known."""
    if step is None or step.added is None or step.removed is None:
        return ""
    return f"+{step.added:,} −{step.removed:,} words"


def key_lines(step: Step | None) -> list[str]:
    """The key changes of a step, a line each; the last one says how many more there are."""
    return key_change_lines(step.key_changes) if step else []
