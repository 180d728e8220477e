"""The report of a backfill, with the reasons why documents were refused and indices were skipped."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from simdoc_search.attach.indices import SkippedIndex
from simdoc_search.errors import StoreError


class UnsupportedIndexError(StoreError):
    """Fingerprints cannot be added to an index. The message is the reason, without the name of the index."""


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
        updated_count: number of documents that got a fingerprint.
        unchanged_count: number of documents whose fingerprint was already correct.
        wordless_count: number of documents whose text has no words. They got an empty fingerprint.
        removed_count: number of documents without a text whose fingerprint was removed.
        textless_count: number of documents without a text and without a fingerprint that were read.
        unread_count: number of documents that did not need to be read when the run began. They have no text, or a
            fingerprint that was not to be compared.
        conflict_count: number of writes that the engine rejected because another writer had changed the document. Such
            a document is read again.
        deleted_count: number of documents that were deleted before their fingerprint was written.
        unconfirmed_count: number of documents that may have been updated. The run ended before the engine answered.
        incomplete: maps the ids of documents with an incomplete fingerprint to the kinds of tokens that could not be
            computed, such as `sentences and concepts`.
        refused: documents that could not get a fingerprint, with the reason.
        skipped_indices: indices that were skipped, in full or in part, with the reason.
        notes: sentences about what `force` changed, and about text fields that may not contain text.
        seconds: duration of the backfill.
    """

    updated_count: int = 0
    unchanged_count: int = 0
    wordless_count: int = 0
    removed_count: int = 0
    textless_count: int = 0
    unread_count: int = 0
    conflict_count: int = 0
    deleted_count: int = 0
    unconfirmed_count: int = 0
    incomplete: dict[str, str] = field(default_factory=dict)
    refused: list[RefusedDocument] = field(default_factory=list)
    skipped_indices: list[SkippedIndex] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def document_count(self) -> int:
        """The number of documents in this report."""
        return self.write_count + self.unchanged_count + self.textless_count + self.deleted_count + len(self.refused)

    @property
    def write_count(self) -> int:
        """The number of documents that were written."""
        return self.updated_count + self.wordless_count + self.removed_count

    def add(self, report: BackfillReport) -> None:
        """Add the results of another report. A document that was refused twice is listed once, with the last reason."""
        for name in [item.name for item in fields(self) if item.type == "int"]:
            setattr(self, name, getattr(self, name) + getattr(report, name))
        self.incomplete |= report.incomplete
        refused = {(document.index, document.id): document for document in (*self.refused, *report.refused)}
        self.refused = list(refused.values())
        self.skipped_indices += report.skipped_indices
        self.notes += report.notes
