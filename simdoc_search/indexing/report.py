"""The report of one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simdoc_search.documents import Skipped


@dataclass(slots=True)
class IndexReport:
    """What one run did.

    Attributes:
        indexed: number of documents that are new in the store.
        unchanged: number of documents that the store had already.
        replaced: number of documents whose text or metadata changed.
        deleted: number of documents removed because their file is gone (`prune`) or has no text any more.
        duplicates: number of repeated ids in this run. The last document with an id counts.
        skipped: the sources without a document, with reasons.
        refused: what the store refused to write or to delete, id to reason. It is in none of the counts.
        incomplete: documents stored without sentences or concepts because these could not be made, id to what is
            missing. They are in the counts.
        problems: a sentence for each thing that could not be done: an unreadable folder, files whose ids other files
            have, documents that `prune` kept because their files may only be unreachable.
        notes: sentences that are good to know.
        seconds: the duration.
    """

    indexed: int = 0
    unchanged: int = 0
    replaced: int = 0
    deleted: int = 0
    duplicates: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    incomplete: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def note_missing_kinds(self, id: str, kinds: Sequence[str]) -> None:
        """Note what the last document with this id lacks."""
        self.incomplete.pop(id, None)
        if kinds:
            self.incomplete[id] = " and ".join(kinds)

    @property
    def failed(self) -> bool:
        """Whether the store differs from the sources. A skipped file alone is not a failure."""
        return bool(self.refused or self.problems)
