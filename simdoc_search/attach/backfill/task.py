"""What a backfill is to do, and what it did: plain values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.concepts import Extractor
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings


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
        change: from the settings of the field, or from the default ones of a new field, to the wanted settings. It may
            add kinds of tokens to a field that has fingerprints, and change nothing else. None: no change.
        extractor: what finds concepts; None: the shipped one that the index names, or the usual one.
        full: with `stale`, all documents are read, also those that an earlier run compared.
        force: take other text fields than the index notes, or the others behind the name do.
    """

    text_field: str | Sequence[str]
    field: str = "simdoc"
    query: dict[str, Any] | None = None
    stale: bool = False
    throttle: float | None = None
    change: Callable[[Settings], Settings] | None = None
    extractor: Extractor | None = None
    full: bool = False
    force: bool = False

    @property
    def text_fields(self) -> list[str]:
        """The fields of the text, in their order."""
        return [self.text_field] if isinstance(self.text_field, str) else list(self.text_field)


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
