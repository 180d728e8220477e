"""The options and the report of a backfill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from simdoc_search.attach.indices import SkippedIndex
from simdoc_search.concepts import Extractor
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.texts import text_field_names


class UnfitIndexError(StoreError):
    """An index cannot get fingerprints. The message is the reason, without the name of the index."""


@dataclass(frozen=True, slots=True)
class Task:
    """The options of a backfill.

    Attributes:
        text_field: the path of the text field, such as `page.body`. Several fields make one text, one line per field.
        field: the object field to fill.
        stale: whether to compare existing fingerprints with the texts, and to replace those that differ or are
            malformed. Only documents written since the last such run are compared.
        throttle: maximum number of documents per second; None for no limit.
        change: changes the settings of the field, or the default settings for a new field. In a field with fingerprints
            it may only add kinds of tokens. None for no change.
        extractor: finds concepts; None for the built-in extractor that the settings name.
        full: with `stale`, whether to compare the texts of all documents.
        force: whether to accept other text fields than those of the existing fingerprints.
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
        """The fields of the text, in their order."""
        return text_field_names(self.text_field)


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that could not get a fingerprint, and the reason."""

    id: str
    index: str
    reason: str


@dataclass(slots=True)
class BackfillReport:
    """The results of a backfill.

    Attributes:
        updated: documents that got a fingerprint.
        unchanged: documents whose fingerprint was already right.
        without_words: documents whose text has no words. They got a mark instead of a fingerprint.
        removed: documents without a text whose fingerprint was removed.
        without_text: documents without a text and without a fingerprint.
        conflicts: writes that the engine refused because another writer was faster. The documents were read again.
        deleted_meanwhile: documents that were deleted before their fingerprint was written.
        incomplete: the missing kinds, such as `sentences and concepts`, for each document where they could not be made.
        refused: documents that could not get a fingerprint, with the reason.
        skipped_indices: indices that were skipped or are not complete, with the reason.
        notes: what `force` changed, one sentence per index.
        seconds: duration.
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
