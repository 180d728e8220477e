"""Defines the options and the report of a backfill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from simdoc_search.attach.indices import SkippedIndex
from simdoc_search.concepts import Extractor
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.texts import text_field_names


class UnfitIndexError(StoreError):
    """Fingerprints cannot be added to an index. The message is the reason, without the name of the index."""


@dataclass(frozen=True, slots=True)
class Task:
    """The options of a backfill.

    Attributes:
        text_field: the path of the text field, such as `page.body`. The values of several fields are joined by line
            breaks into one text.
        field: the object field to write.
        stale: whether to compare existing fingerprints with the texts, and to replace fingerprints that do not match
            or are malformed. Only documents written since the last such run are compared.
        throttle: maximum number of documents per second; None for no limit.
        change: changes the settings of the field, or the default settings of a new field. If the field has
            fingerprints, the function may only add kinds of tokens. None keeps the settings.
        extractor: finds concepts; None for the built-in extractor that the settings name.
        full: with `stale`, whether to compare the texts of all documents.
        force: whether to accept text fields that differ from those of the existing fingerprints.
    """

    text_field: str | Sequence[str]
    field: str = "simdoc"
    stale: bool = False
    throttle: float | None = None
    change: Callable[[Settings], Settings] | None = None
    extractor: Extractor | None = None
    full: bool = False
    force: bool = False

    @property
    def text_fields(self) -> list[str]:
        """The paths of the text fields, in order."""
        return text_field_names(self.text_field)


@dataclass(frozen=True, slots=True)
class RefusedDocument:
    """A document that could not get a fingerprint, and the reason."""

    id: str
    index: str
    reason: str


@dataclass(slots=True)
class BackfillReport:
    """The results of a backfill.

    Attributes:
        updated: documents that got a fingerprint.
        unchanged: documents whose fingerprint was already correct.
        without_words: documents whose text has no words. They got an empty fingerprint.
        removed: documents without a text whose fingerprint was removed.
        without_text: documents without a text and without a fingerprint.
        conflicts: writes that the engine rejected, because another writer had changed the document. It was read again.
        deleted_meanwhile: documents that were deleted before their fingerprint was written.
        incomplete: for the id of each document, the kinds of tokens that could not be computed, such as
            `sentences and concepts`.
        refused: documents that could not get a fingerprint, with the reason.
        skipped_indices: indices that were skipped or are not complete, with the reason.
        notes: what `force` changed, one sentence per index.
        seconds: duration of the backfill.
    """

    updated: int = 0
    unchanged: int = 0
    without_words: int = 0
    removed: int = 0
    without_text: int = 0
    conflicts: int = 0
    deleted_meanwhile: int = 0
    incomplete: dict[str, str] = field(default_factory=dict)
    refused: list[RefusedDocument] = field(default_factory=list)
    skipped_indices: list[SkippedIndex] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def documents(self) -> int:
        """The number of documents in this report."""
        return self.writes + self.unchanged + self.without_text + self.deleted_meanwhile + len(self.refused)

    @property
    def writes(self) -> int:
        """The number of documents that were written."""
        return self.updated + self.without_words + self.removed

    def add(self, other: BackfillReport) -> None:
        """Add another report. A document that was refused twice is listed once, with the last reason."""
        for name in _COUNTERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.incomplete |= other.incomplete
        refused = {(document.index, document.id): document for document in (*self.refused, *other.refused)}
        self.refused = list(refused.values())
        self.skipped_indices += other.skipped_indices
        self.notes += other.notes


_COUNTERS = (
    "updated",
    "unchanged",
    "without_words",
    "removed",
    "without_text",
    "conflicts",
    "deleted_meanwhile",
)
