"""The answer to a query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from simdoc_search.display import documents_compared, estimate, percent, printable, showing
from simdoc_search.query.plans import Plan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.similar_options import Measure
from simdoc_search.search.similar_ranking import Hit
from simdoc_search.stores.excluded_indices import LeftOutIndex
from simdoc_search.stores.record import LeftOut

AnyHit = TypeVar("AnyHit")

_SHOWN = 10


class Hits(Generic[AnyHit]):
    """An answer that is counted and gone through by its hits.

    Attributes:
        hits: those that are shown.
    """

    __slots__ = ()
    hits: list[AnyHit]

    def __iter__(self) -> Iterator[AnyHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class SearchResult(Hits[Hit]):
    """The answer to a query: `print` shows its best hits.

    Attributes:
        query: what was asked, with the full id; the id is empty if a text was asked for.
        plan: how the store was asked.
        candidates: how many documents the store counted before they were refined.
        hits: the best ones, greatest overlap first, then most equal tokens, then by id and index. Which of equal ones
            are among them is the store's choice.
        shingles: how many distinct shingles the text has that was asked about.
        measure: what the overlap of the hits is.
        left_out: documents that the store found and that cannot be compared, as others wrote what is no fingerprint.
        unread: how many candidates were left unread, as they share least.
        total: how many hits there are; None: that is not known.
        is_total_exact: whether there are no more than `total`.
        offset: how many hits come before those that are shown.
        left_out_indices: the indices behind an alias whose documents were not compared, and why.
    """

    query: FingerprintQuery
    plan: Plan = field(repr=False)
    candidates: int
    hits: list[Hit]
    shingles: int = 0
    left_out: tuple[LeftOut, ...] = ()
    measure: Measure = "jaccard"
    unread: int = 0
    total: int | None = None
    is_total_exact: bool = False
    offset: int = 0
    left_out_indices: tuple[LeftOutIndex, ...] = ()

    @property
    def counts(self) -> str:
        """How many hits are shown of how many, and how many documents were compared."""
        shown, total = len(self.hits), len(self.hits) if self.total is None else self.total
        at_least = self.total is not None and not self.is_total_exact
        hits = showing(shown, total, self.offset, "hit", at_least=at_least)
        return f"{hits}, {documents_compared(self.compared, self.candidates)}"

    @property
    def compared(self) -> int:
        """How many of the candidates were compared: by another measure than the overlap those that share most."""
        return self.candidates - self.unread

    def __str__(self) -> str:
        asked = printable(str(self.query)) if self.query.id else "the text"
        lines = [f"{asked}: {self.counts[0].lower()}{self.counts[1:]}"]
        for hit in self.hits[:_SHOWN]:
            overlap = estimate(hit.overlap) if hit.kind == "estimated" else percent(hit.overlap)
            lines.append(f"{overlap:>7}  {printable(hit.id)}")
        if len(self.hits) > _SHOWN:
            lines.append(f"         and {len(self.hits) - _SHOWN} more")
        return "\n".join(lines)
