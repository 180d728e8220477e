"""Ranks the candidates of `similar` by their overlaps, which are estimated from tokens or computed from texts."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from simdoc_search.passages.exact_overlap import Measures
from simdoc_search.query.plans import Plan, ThresholdPlan, is_ruled_out
from simdoc_search.search.similar_result import Hit
from simdoc_search.search.stored_texts import measure_texts, read_stored_texts, split_into_batches
from simdoc_search.sketch.estimate import TokenOverlap
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Candidate, Record, has_text_changed

_MIN_COMPARED_CANDIDATES = 50
"""Minimum number of candidates that are read to count hits, even if all hits on the page are already known."""

_COMPARED_PER_HIT = 5
"""Maximum number of candidates that are read per requested hit if there is no minimum overlap.

At least `_MIN_COMPARED_CANDIDATES` are read. Without this limit, hundreds of texts would be compared if many documents
share a few sentences, only to sort hits with an overlap of a few percent.
"""

DEFAULT_MAX_COMPARED_DOCUMENTS = 2_000
"""Maximum number of documents that are compared.

If more than 200 hits are needed, the maximum is 10 times the number of hits. Without a maximum, a document with 100,000
near-duplicates would be compared with all of them.
"""

_MAX_COMPARED_PER_HIT = 10

Z_SCORE = 3.09
"""Number of standard deviations from the mean that one value in 1,000 exceeds, in one direction."""


class HitPage(NamedTuple):
    """The hits on a page, and the number of hits on all pages."""

    hits: list[Hit]
    total: int  # number of hits on all pages, or a lower bound
    is_total_exact: bool  # whether `total` is not only a lower bound
    compared_count: int  # number of candidates that were compared, by their tokens or texts


@dataclass(frozen=True, slots=True)
class Ranker:
    """Selects and ranks the hits among candidates, which have a descending number of matching tokens."""

    store: Store
    query_record: Record  # the query document with its tokens
    plan: Plan  # the plan that found the candidates
    overlap: Fraction | None  # minimum overlap; None: any overlap
    size: int  # maximum number of hits
    offset: int  # number of best hits to skip

    def rank_by_tokens(self, candidates: Iterable[Candidate]) -> HitPage:
        """Return the hits with the greatest estimated overlaps.

        The share of the query document's tokens that match a candidate is an upper bound for the estimated overlap of
        this candidate, because the union of both token sets is at least as large as the query document's set. The bound
        never increases from one candidate to the next. Reading stops when it rules out further hits, or when the
        overlaps of enough hits reach it.
        """
        needed_hit_count = self.offset + self.size
        min_share = self.plan.min_token_share(self.overlap)
        ranked: list[tuple[float, int, int, Candidate]] = []

        def is_complete(bound: float) -> bool:
            return len(ranked) >= needed_hit_count and -ranked[-1][0] >= bound

        total, compared, is_exact, is_page_known = 0, 0, True, False
        for number, candidate in enumerate(candidates):
            bound = candidate.matched_token_count / len(self.query_record.token_ids)
            if bound < min_share:
                break
            is_page_known = is_page_known or is_complete(bound)
            tokens, compared = self._compare_tokens(candidate), number + 1
            if self.plan.is_hit(tokens, self.overlap):
                total += 1
                if not is_page_known:
                    insort(ranked, (-tokens.overlap, -tokens.matched_token_count, number, candidate))
                    del ranked[needed_hit_count:]
                    is_page_known = is_complete(bound)
            if is_page_known and compared >= _MIN_COMPARED_CANDIDATES:
                is_exact = False
                break
        page = ranked[self.offset :]
        hits = (
            Hit(candidate.key, -overlap, -matched, fields=candidate.fields) for overlap, matched, _, candidate in page
        )
        return HitPage(sorted(hits, key=sort_key), total, is_exact, compared)

    def rank_by_texts(self, candidates: Iterable[Candidate], text: str) -> HitPage:
        """Return the hits with the greatest overlaps. Overlaps are exact if the store has the text of the candidate.

        Texts are read in batches. Reading stops when, with 99.9 % probability, no further candidate has a greater
        overlap than the hits found. It also stops after a number of candidates, which depends on `overlap` and `size`.
        """
        needed_hit_count = self.offset + self.size
        if self.overlap:
            max_compared = compute_max_compared_documents(needed_hit_count)
        else:
            max_compared = max(_MIN_COMPARED_CANDIDATES, _COMPARED_PER_HIT * needed_hit_count)
        hits: list[Hit] = []
        total, compared, is_exact = 0, 0, True

        def find_possible_hits() -> Iterator[Candidate]:
            nonlocal compared
            possible = islice(candidates, max_compared)
            for compared, candidate in enumerate(possible, 1):  # noqa: B007 - used outside this function
                if self._is_possible_hit(candidate):
                    yield candidate

        for batch in split_into_batches(find_possible_hits()):
            bound = estimate_max_overlap(batch[0].matched_token_count, len(self.query_record.token_ids))
            if len(hits) >= needed_hit_count and hits[-1].overlap >= bound:
                is_exact = False
                break
            texts = read_stored_texts(self.store, [candidate.key for candidate in batch])
            measures = measure_texts(text, texts, self.store.settings.analysis)
            for candidate in batch:
                if exact := measures.get(candidate.key):
                    hit: Hit | None = self._make_exact_hit(candidate, exact)
                else:
                    hit = self._make_estimated_hit(candidate)
                if not hit or (self.overlap and hit.overlap < self.overlap):
                    continue
                total += 1
                if len(hits) < needed_hit_count or sort_key(hit) < sort_key(hits[-1]):
                    if exact:
                        hit = replace(hit, changed=has_text_changed(texts[hit.key]))
                    insort(hits, hit, key=sort_key)
                    del hits[needed_hit_count:]
        return HitPage(hits[self.offset :], total, is_exact and compared != max_compared, compared)

    def _compare_tokens(self, candidate: Candidate) -> TokenOverlap:
        return self.store.settings.compare_tokens(self.query_record.token_ids, candidate.token_ids)

    def _is_possible_hit(self, candidate: Candidate) -> bool:
        """Return whether a candidate may have the minimum overlap, according to its tokens."""
        if not self.overlap and isinstance(self.plan, ThresholdPlan):
            return candidate.matched_token_count >= self.plan.minimum_match
        tokens = self._compare_tokens(candidate)
        if self.overlap and is_ruled_out(tokens, self.overlap, Z_SCORE):
            return False
        return self.plan.is_hit(tokens, None)

    @staticmethod
    def _make_exact_hit(candidate: Candidate, exact: Measures) -> Hit:
        return Hit(candidate.key, exact.jaccard, candidate.matched_token_count, "exact", candidate.fields, exact)

    def _make_estimated_hit(self, candidate: Candidate) -> Hit | None:
        tokens = self._compare_tokens(candidate)
        if not self.plan.is_hit(tokens, self.overlap):
            return None
        return Hit(candidate.key, tokens.overlap, tokens.matched_token_count, "estimated", candidate.fields)


def compute_max_compared_documents(needed_hit_count: int) -> int:
    """Return the maximum number of documents that are compared to find `needed_hit_count` hits."""
    return max(DEFAULT_MAX_COMPARED_DOCUMENTS, _MAX_COMPARED_PER_HIT * needed_hit_count)


def sort_key(hit: Hit) -> tuple[float, int, str, str]:
    """Return a key that sorts by descending overlap and number of matching tokens, then by id and index."""
    return -hit.overlap, -hit.matched_token_count, hit.id, hit.key.index or ""


def estimate_max_overlap(shared_count: float, union_count: float) -> float:
    """Return the greatest likely overlap for these numbers of tokens: the upper end of Wilson's interval (1927)."""
    if shared_count >= union_count:
        return 1.0  # the formula below would have rounding errors
    z_squared = Z_SCORE**2
    share = shared_count / union_count
    spread = Z_SCORE * math.sqrt(share * (1 - share) / union_count + z_squared / (4 * union_count * union_count))
    return min(1.0, (share + z_squared / (2 * union_count) + spread) / (1 + z_squared / union_count))
