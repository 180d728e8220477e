"""Groups and pairs of duplicates."""

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
        a: place of the one that would be kept.
        b: place of the other one.
        overlap: by the chosen measure, 0..1.
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
    """The kept document of a group.

    Attributes:
        place: where it is in the store.
        size: bytes of its file; None if it has no file, or is in an archive.
        changed: modification time of the file, in nanoseconds since 1970; None if it has no file.
        path: path of the file, possibly in an archive; None if it has no file.
        number: its number in this run.
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
        """The path of the archive or mailbox that contains it; None if there is none."""
        return archive_of(self.path) if self.path is not None and self.size is None else None


@dataclass(frozen=True, slots=True)
class Duplicate(Kept):
    """A document of a group that is not kept, and what a plan proposes for it.

    Attributes:
        overlap: with the kept document, as in `Pair`; 1 if the two are `identical`.
        kind: what it has in common with `duplicate_of`, as in `Pair`.
        exact: whether the overlap was computed from the texts.
        action: `drop` or `decide`.
        reason: why, in a few words.
        frees: bytes freed by deleting it with everything that the plan drops. Hard links of one file count once.
        duplicate_of: place of the document that is kept instead: the kept one of the group, or a more similar one.
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
    """A kept document, and its duplicates. Each of them overlaps the kept document itself.

    Attributes:
        kept: the kept document.
        duplicates: the others, in the order of `Kind`, then the greatest overlap first.
    """

    kept: Kept
    duplicates: tuple[Duplicate, ...]

    @property
    def frees(self) -> int:
        """Bytes freed by deleting all documents of the group that the plan drops."""
        return sum(each.frees for each in self.duplicates)
