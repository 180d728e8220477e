"""What a backfill is to do, and what it did: plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.concepts import Extractor
from simdoc_search.errors import StoreError
from simdoc_search.sketch.kinds import KindName
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import Passages


class UnfitIndexError(StoreError):
    """An index in which nothing can be done; the message is the reason, without the index."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done.

    Attributes:
        text_field: where the text is; dots lead into objects. Several fields are one text, line by line.
        field: the object field to fill.
        query: a query of the engine that chooses documents; None: all.
        stale: also those whose fingerprint is of another text, of other settings, or malformed. Of documents that an
            earlier such run compared, those are read that were written since.
        throttle: documents a second at most; None: as fast as it goes.
        passages: whether documents get passage tokens. None: as the index says, and where it has no fingerprints yet,
            they do. True: also where it has fingerprints without them. False: not where it has none yet.
        passage_run: with `passages`, the words of a shared run that is always found; None: 36 with shingles of 5 words.
        kinds: of `sentences` and `concepts` those that documents get also where the index has none yet; what it says
            that it has, they get in any case.
        extractor: what finds concepts; None: the shipped one that the index names, or the usual one.
        settings: those of an index without the field; None: of the others behind the name, or the usual ones.
        full: with `stale`, all documents are read, also those that an earlier run compared.
        force: take other text fields than the index notes, or the others behind the name do.
    """

    text_field: str | Sequence[str]
    field: str = "simdoc"
    query: dict[str, Any] | None = None
    stale: bool = False
    throttle: float | None = None
    passages: bool | None = None
    passage_run: int | None = None
    kinds: tuple[KindName, ...] = ()
    extractor: Extractor | None = None
    settings: Settings | None = None
    full: bool = False
    force: bool = False

    @property
    def text_fields(self) -> list[str]:
        """The fields of the text, in their order."""
        return [self.text_field] if isinstance(self.text_field, str) else list(self.text_field)

    def passages_with(self, shingle_size: int) -> Passages:
        """The passage tokens that it asks for, in an index with shingles of so many words.

        Raises:
            UnfitIndexError: the run has fewer words than a shingle, or too many.
        """
        try:
            return Passages() if self.passage_run is None else Passages.of_run(self.passage_run, shingle_size)
        except ValueError:
            raise UnfitIndexError(f"it has shingles of {shingle_size} words; give another --passage-run") from None


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that has no fingerprint, and why."""

    id: str
    index: str
    reason: str


@dataclass(frozen=True, slots=True)
class SkippedIndex:
    """An index in which nothing more is done, and why."""

    index: str
    reason: str


@dataclass(slots=True)
class BackfillReport:
    """What was done.

    Attributes:
        updated: documents that got a fingerprint.
        unchanged: documents that had the right one when they were looked at.
        without_words: documents whose text has no words, which got a mark that says so.
        removed: documents that have no text any more, whose fingerprint was removed.
        without_text: documents that have no text, and no fingerprint.
        incomplete: documents without sentences or concepts, which could not be made: id to what it lacks.
        conflicts: writes that came too late, because another writer was faster; the documents were read again.
        deleted_meanwhile: documents that were gone when their fingerprint came.
        refused: documents without fingerprint, with the reason.
        skipped_indices: indices that are not done, with the reason.
        notes: what was done because of `force`, a sentence for each index.
        seconds: how long it took.
    """

    updated: int = 0
    unchanged: int = 0
    without_words: int = 0
    removed: int = 0
    without_text: int = 0
    conflicts: int = 0
    deleted_meanwhile: int = 0
    incomplete: dict[str, str] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    skipped_indices: list[SkippedIndex] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def documents(self) -> int:
        """How many documents it counts."""
        done = self.writes + self.unchanged + self.without_text
        return done + self.deleted_meanwhile + len(self.refused)

    @property
    def writes(self) -> int:
        """How many documents were written."""
        return self.updated + self.without_words + self.removed

    def add(self, other: BackfillReport) -> None:
        """Count what another one counted; a document that is refused again is listed once."""
        self.updated += other.updated
        self.unchanged += other.unchanged
        self.without_words += other.without_words
        self.removed += other.removed
        self.without_text += other.without_text
        self.conflicts += other.conflicts
        self.deleted_meanwhile += other.deleted_meanwhile
        self.incomplete |= other.incomplete
        if other.refused:
            refused = {(each.index, each.id): each for each in (*self.refused, *other.refused)}
            self.refused = list(refused.values())
        self.skipped_indices += other.skipped_indices
        self.notes += other.notes
