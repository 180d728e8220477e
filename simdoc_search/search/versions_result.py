"""The answer to which documents are versions of one, and which is the newest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.documents import Place, Placed
from simdoc_search.showing import counted, percent, printable
from simdoc_search.versions import THETA, By, Dated, Matched

__all__ = ["Step", "VersionEntry", "VersionHit", "VersionsResult", "words_of"]

_ORDERS_NOTHING = "?"


@dataclass(frozen=True, slots=True)
class Step:
    """What changed from one version to the next that is shown.

    Attributes:
        share: the larger of the shares of either's sentences that have a near one in the other, 0..1.
        added: words that only the later one has there; None: a text is not stored.
        removed: words that only the earlier one has there, likewise.
    """

    share: float
    added: int | None = None
    removed: int | None = None


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


@dataclass(frozen=True, slots=True)
class VersionsResult:
    """The versions of a source in their order; `print` shows them, the newest last.

    Attributes:
        source: the id, or the name, of the source; empty for a text without one.
        text: its text; None if the store has none.
        sentences: how many sentences it has, and with how many of them was asked.
        hits: its versions, highest score first, then by id: the best ones, and the newest in any case as the last of
            the first page.
        timeline: these, the newest and the source, the oldest first.
        by: what orders them, see `versions.By`.
        certain: whether dates or versions say the place of each; else at least some are where they are proposed.
        newest_certain: whether they say which is the newest.
        reason: what orders them, and why nothing better does, for people.
        found: how many versions there are, with those that are not among the hits.
        candidates: how many documents share a token with it at all.
        compared: with how many of these it was compared, those that share most tokens.
        changed: whether its text is another one now than the one that was indexed, of which it was asked.
    """

    source: str
    text: str | None = field(repr=False)
    sentences: tuple[int, int]
    hits: list[VersionHit]
    timeline: tuple[VersionEntry, ...]
    by: By
    certain: bool
    newest_certain: bool
    reason: str
    found: int
    candidates: int
    compared: int
    changed: bool = False

    @property
    def theta(self) -> float:
        """The score from which on documents are versions."""
        return THETA

    @property
    def newest(self) -> VersionEntry:
        """The last of the timeline."""
        return self.timeline[-1]

    @property
    def order(self) -> str:
        """What orders them, for people, with what is to be said of the dates that are shown."""
        is_other = any(self.when(each).endswith(_ORDERS_NOTHING) for each in self.timeline)
        return f"{self.reason}; a date or version with {_ORDERS_NOTHING} orders nothing" if is_other else self.reason

    def when(self, entry: VersionEntry) -> str:
        """The date or version of an entry, for people; with a sign if it is of another kind than what orders them."""
        if entry.dated is None or not entry.dated.shown:
            return ""
        return f"{entry.dated.shown}{'' if entry.dated.by == self.by else _ORDERS_NOTHING}"

    def __str__(self) -> str:
        name = printable(self.source) or "the text"
        if not self.found:
            return f"{name}: no other version"
        lines = [f"{name}: {counted(self.found, 'other version')}, {self.order}"]
        return "\n".join([*lines, *self.lines()])

    def lines(self) -> Iterator[str]:
        """A line for each version: when, how much of it and the one before it is alike, what changed, and its name."""
        for each in self.timeline:
            share = percent(each.step.share, 0) if each.step else ""
            said = f"  ({marks})" if (marks := self.marks(each)) else ""
            yield f"{printable(self.when(each)):>12}{share:>17}{words_of(each.step):>20}  {self._named(each)}{said}"

    def marks(self, entry: VersionEntry) -> str:
        """What an entry of the timeline is among the others, for people: the newest, what was asked about, neither."""
        newest = "newest" if self.newest_certain else "newest as proposed"
        held = ((newest, entry is self.newest), ("asked about", entry.is_source))
        return ", ".join(name for name, holds in held if holds)

    def _named(self, entry: VersionEntry) -> str:
        """Its name, with its index where another one has this name too."""
        name = printable(entry.name) or "the text"
        is_twice = sum(each.name == entry.name for each in self.timeline) > 1
        return f"{name} in {printable(str(entry.place.index))}" if is_twice and entry.place else name


def words_of(step: Step | None) -> str:
    """How many words were added and removed, for people; empty where that is not known."""
    if step is None or step.added is None or step.removed is None:
        return ""
    return f"+{step.added:,} −{step.removed:,} words"
