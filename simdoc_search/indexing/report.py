"""The report of an indexing run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simdoc_search.documents import SkippedFile


@dataclass(slots=True)
class IndexReport:
    """The results of an indexing run.

    Attributes:
        added_count: number of new documents.
        unchanged_count: number of documents that the store had already.
        replaced_count: number of documents whose text or metadata changed.
        deleted_count: number of documents that were removed because their file no longer exists (`prune`) or no longer
            has text.
        repeated_id_count: number of repeated ids in this run. The last document with an id is stored.
        skipped: the sources that were skipped, with the reasons.
        refused: the ids that the store refused to write or to delete, with the reasons. The counts do not include them.
        incomplete: maps the id of each document without sentences or concepts to the kinds of data that could not be
            computed. The counts include these documents.
        unread_attachments: maps the ids of new or changed e-mails to the names of the attachments that were not read.
        problems: a sentence for each problem: an unreadable folder, files whose ids other files already have, or
            documents that `prune` kept because their files might just be unreachable.
        notes: further information, one sentence each.
        seconds: duration of the run in seconds.
    """

    added_count: int = 0
    unchanged_count: int = 0
    replaced_count: int = 0
    deleted_count: int = 0
    repeated_id_count: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    incomplete: dict[str, str] = field(default_factory=dict)
    unread_attachments: dict[str, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def note_missing_kinds(self, id: str, kinds: Sequence[str]) -> None:
        """Record which kinds of data could not be computed for the last document with this id."""
        self.incomplete.pop(id, None)
        if kinds:
            self.incomplete[id] = " and ".join(kinds)

    def note_unread_attachments(self, id: str, names: Sequence[str]) -> None:
        """Record which attachments of the last e-mail with this id were not read."""
        self.unread_attachments.pop(id, None)
        if names:
            self.unread_attachments[id] = list(names)

    @property
    def has_failed(self) -> bool:
        """Whether documents were refused, or there were problems. Skipped files alone are not a failure."""
        return bool(self.refused or self.problems)
