"""What finding duplicates gives: groups and pairs, made when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from simdoc_search.corpus.member_names import archive_of
from simdoc_search.documents import Place

__all__ = ["Duplicate", "Group", "Kept", "Kind", "Pair"]

Kind = Literal["identical", "same words", "near"]
"""The same text; the same words in the same order, but for letter case and punctuation; as much as was asked for."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents that overlap enough.

    Attributes:
        a: where the one is that would be kept.
        b: where the other one is.
        overlap: by the measure that was asked for, 0..1.
        kind: `identical`, `same words` or `near`.
        exact: whether the overlap was computed from the texts; else it is estimated from the fingerprints.
    """

    a: Place
    b: Place
    overlap: float
    kind: Kind
    exact: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """The document of a group that stays.

    Attributes:
        place: where it is.
        size: bytes of its file; None if it was read from none, or from an archive.
        changed: when that file last changed, in nanoseconds since 1970; None if it was read from none.
        path: where that file lies, in an archive perhaps; None if it was read from none.
        number: by which this run knows it.
    """

    place: Place
    size: int | None
    changed: int | None
    path: str | None
    number: int = field(repr=False, compare=False)

    @property
    def id(self) -> str:
        """Its id."""
        return self.place.id

    @property
    def archive(self) -> str | None:
        """The path of the archive, or mailbox, in which it lies; None if it lies in none."""
        return archive_of(self.path) if self.path is not None and self.size is None else None


@dataclass(frozen=True, slots=True)
class Duplicate(Kept):
    """A document of a group that could go: how much it overlaps the one that stays, as in `Pair`."""

    overlap: float
    kind: Kind
    exact: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A document that stays, and those that overlap it enough, each by itself.

    Attributes:
        kept: the one that stays.
        duplicates: the others: identical ones, those of the same words, then the greatest overlap first.
    """

    kept: Kept
    duplicates: tuple[Duplicate, ...]

    @property
    def size(self) -> int:
        """Bytes of the files of the duplicates, as far as they are known."""
        return sum(each.size or 0 for each in self.duplicates)
