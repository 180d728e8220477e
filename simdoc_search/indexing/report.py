"""What one run did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simdoc_search.documents import Skipped


@dataclass(slots=True)
class IndexReport:
    """What one run did.

    Attributes:
        indexed: documents that are new in the store.
        unchanged: documents that were there already.
        replaced: documents whose text or metadata changed.
        deleted: documents removed because their file has vanished (`prune`) or has no text any more.
        duplicates: documents whose id came more than once in this run; the last one counts.
        skipped: what gave no document, and why.
        refused: what the store refused to write or to delete: id to reason. It is in none of the counts.
        incomplete: documents that were stored without sentences or concepts, which could not be made: id to what it
            lacks. They are in the counts.
        problems: a sentence for each thing that was to be done and was not: a folder that could not be read at all,
            files whose ids other files have, documents that `prune` left as their files may only be out of reach.
        notes: sentences that are good to know.
        seconds: how long it took.
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

    def note_lacking(self, id: str, kinds: Sequence[str]) -> None:
        """Remember what could not be made of a document, in place of what was said of it before."""
        self.incomplete.pop(id, None)
        if kinds:
            self.incomplete[id] = " and ".join(kinds)

    @property
    def failed(self) -> bool:
        """Whether the store is not as the sources say; a skipped file alone is no failure."""
        return bool(self.refused or self.problems)
