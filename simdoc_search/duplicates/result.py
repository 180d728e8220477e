"""What finding duplicates gives: groups and pairs, made when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

from simdoc_search.corpus.member_names import archive_of
from simdoc_search.documents import Place
from simdoc_search.duplicates.plan.rows import Action
from simdoc_search.duplicates.verdicts import Kind


@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents that overlap enough.

    Attributes:
        a: where the one is that would be kept.
        b: where the other one is.
        overlap: by the measure that was asked for, 0..1.
        kind: `identical`, `hard link`, `same text`, `same words` or `near`.
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
    """A document of a group that is not kept, and what a plan proposes for it.

    Attributes:
        overlap: how much it overlaps the kept document, as in `Pair`; 1 if it is `identical` to the one that stays.
        kind: as in `Pair`: what it has in common with the document that stays for it.
        exact: whether the overlap was computed from the texts.
        action: `drop` or `decide`.
        reason: why, in a few words.
        frees: bytes that are free when it is deleted with all that the plan drops; hard links of one file count once.
        duplicate_of: where the document is that stays for it: the kept one of the group, or one that is nearer to it.
    """

    overlap: float
    kind: Kind
    exact: bool
    action: Action
    reason: str
    frees: int
    duplicate_of: Place


@dataclass(frozen=True, slots=True)
class Group:
    """A document that is kept, and those that overlap it enough, each by itself.

    Attributes:
        kept: the one that is kept.
        duplicates: the others, in the order of `Kind`, then the greatest overlap first.
    """

    kept: Kept
    duplicates: tuple[Duplicate, ...]

    @property
    def frees(self) -> int:
        """Bytes that are free when all that the plan drops of the group is deleted."""
        return sum(each.frees for each in self.duplicates)
