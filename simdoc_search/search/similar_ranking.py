"""Ranks the candidates of `similar`: by their tokens, or exactly by their texts."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from simdoc_search.query.plans import Plan
from simdoc_search.search.similar_result import Hit
from simdoc_search.search.stored_texts import AnalysedText, batches, exact_measures, read_records
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Candidate, Record, has_changed

_MIN_READ = 50
"""Minimum number of candidates that are read to count the hits, though the best ones are known earlier."""

_DEVIATIONS = 3.0
"""Standard deviations. One of 1,000 values is further above the mean."""


class HitPage(NamedTuple):
    """The hits of a page, and how many there are.

    Attributes:
        hits: the hits of the page.
        total: minimum number of hits on all pages.
        is_total_exact: whether `total` is exact.
    """

    hits: list[Hit]
    total: int
    is_total_exact: bool


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hits among some candidates, and their order.

    Attributes:
        store: the store of the candidates.
        source: the query document with its tokens.
        plan: the plan that found the candidates.
        overlap: the minimum overlap; None for any.
        size: maximum number of hits.
        offset: number of best hits to skip.
    """

    store: Store
    source: Record
    plan: Plan
    overlap: Fraction | None
    size: int
    offset: int

    def estimated(self, candidates: Iterable[Candidate]) -> HitPage:
        """Return the hits with the greatest estimated overlaps.

        The union of the tokens of two documents has at least as many as the query document. So `matched` / its number
        of tokens bounds what a candidate and all later ones can reach. Reading ends where this bound rules out further
        hits, or where as many hits as needed reach it.

        Args:
            candidates: the candidates, most equal tokens first.

        Returns:
            The hits by overlap, equal tokens and id. Their number is exact if all candidates were read.
        """
        needed = self.offset + self.size
        least = self.plan.min_share(self.overlap)
        ranked: list[tuple[float, int, int, Candidate]] = []

        def is_complete(most: float) -> bool:
            return len(ranked) >= needed and -ranked[-1][0] >= most

        total, is_exact, is_known = 0, True, False
        for number, candidate in enumerate(candidates):
            most = candidate.matched / len(self.source.codes)
            if most < least:
                break
            is_known = is_known or is_complete(most)
            shared, union = self._counts(candidate)
            if self.plan.is_hit(shared, union, self.overlap):
                total += 1
                if not is_known:
                    insort(ranked, (-shared / union, -shared, number, candidate))
                    del ranked[needed:]
                    is_known = is_complete(most)
            if is_known and number + 1 >= _MIN_READ:
                is_exact = False
                break
        page = ranked[self.offset :]
        hits = (
            Hit(candidate.place, -overlap, -matched, fields=candidate.fields) for overlap, matched, _, candidate in page
        )
        return HitPage(in_order(hits), total, is_exact)

    def verified(self, candidates: Iterable[Candidate], text: AnalysedText) -> HitPage:
        """Return the hits with the greatest overlaps, exact where the store has the text.

        Texts are read in batches. Reading ends when the next candidate cannot overlap more than the hits that are
        needed, with a probability of 99.9 %.

        Args:
            candidates: the candidates, most equal tokens first.
            text: the text of the query document.
        """
        needed = self.offset + self.size
        hits: list[Hit] = []
        total, is_exact = 0, True
        for batch in batches(self._possible(candidates)):
            most = max_overlap(batch[0].matched, len(self.source.codes))
            if len(hits) >= needed and hits[-1].overlap >= most:
                is_exact = False
                break
            records = read_records(self.store, [candidate.place for candidate in batch])
            for candidate in batch:
                record = records.get(candidate.place)
                hit = (record and self._exact_hit(candidate, record, text)) or self._estimated_hit(candidate)
                if hit and (not self.overlap or hit.overlap >= self.overlap):
                    hits.append(hit)
                    total += 1
            hits = in_order(hits)[:needed]
        return HitPage(hits[self.offset :], total, is_exact)

    def _counts(self, candidate: Candidate) -> tuple[int, int]:
        """Return the number of equal tokens, and of places that are filled in either document."""
        return self.store.settings.estimate(self.source.codes, candidate.codes)

    def _possible(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        """Yield the candidates whose estimate does not rule the overlap out."""
        for candidate in candidates:
            shared, union = self._counts(candidate)
            can_reach = not self.overlap or max_overlap(shared, union) >= self.overlap
            if can_reach and self.plan.is_hit(shared, union, None):
                yield candidate

    def _exact_hit(self, candidate: Candidate, record: Record, text: AnalysedText) -> Hit | None:
        if record.text is None:
            return None
        analysis = self.store.settings.analysis
        exact = exact_measures(text, AnalysedText.of(record.text, analysis), analysis)
        changed = has_changed(record)
        return Hit(candidate.place, exact.jaccard, candidate.matched, "exact", candidate.fields, exact, changed)

    def _estimated_hit(self, candidate: Candidate) -> Hit | None:
        shared, union = self._counts(candidate)
        if not self.plan.is_hit(shared, union, self.overlap):
            return None
        return Hit(candidate.place, shared / union, shared, "estimated", candidate.fields)


def in_order(hits: Iterable[Hit]) -> list[Hit]:
    """Sort hits by overlap, equal tokens, id and index."""
    return sorted(hits, key=lambda hit: (-hit.overlap, -hit.matched, hit.id, hit.place.index or ""))


def max_overlap(shared: int, union: int) -> float:
    """Return the greatest overlap that this many equal tokens allow: the upper end of Wilson's interval (1927)."""
    if shared >= union:
        return 1.0  # without rounding errors
    square = _DEVIATIONS**2
    share = shared / union
    spread = _DEVIATIONS * math.sqrt(share * (1 - share) / union + square / (4 * union * union))
    return min(1.0, (share + square / (2 * union) + spread) / (1 + square / union))
