"""Folds near-duplicates in a page of results, by comparing the tokens of the hits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np

from simdoc_search.duplicates.arrays import Ints
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.measures import Measure
from simdoc_search.query.planner import parse_fraction
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.records import read_codes

EngineHit = TypeVar("EngineHit", bound=Mapping[str, Any])


class FoldedHit(NamedTuple):
    """A hit that is hidden under an earlier hit that it overlaps.

    Attributes:
        hit: the hit as the engine returned it.
        overlap: overlap with the earlier hit, estimated from the tokens, 0..1.
    """

    hit: Mapping[str, Any]
    overlap: float


class ShownHit(NamedTuple):
    """A hit that is shown, and the near-duplicates that are folded under it.

    Attributes:
        hit: the hit as the engine returned it.
        folded: the folded hits, in the order of the page.
    """

    hit: Mapping[str, Any]
    folded: list[FoldedHit]


def fold_near_duplicates(
    hits: Iterable[EngineHit],
    overlap: float | Fraction = Fraction(4, 5),
    *,
    field: str = "simdoc",
    settings: Settings | None = None,
) -> list[ShownHit]:
    """Fold a page of results: put each near-duplicate under the first shown hit that it overlaps enough.

    No request is sent. A hit is only compared with shown hits, not with folded ones. A hit without a readable
    fingerprint in its `_source` is always shown.

    Args:
        hits: the hits of an engine, `response["hits"]["hits"]`, in their order. Their `_source` must contain the
            tokens: request `"_source": [..., "simdoc.tokens"]`.
        overlap: the minimum Jaccard similarity of a folded hit, greater than 0 and at most 1. It is
            estimated from the tokens.
        field: the object field of the fingerprint.
        settings: the settings of the fingerprints; None for the default settings.

    Returns:
        The shown hits in order, each with the hits folded under it. No hit is lost or changed.

    Raises:
        QuerySyntaxError: the overlap is out of range.
    """
    min_overlap = Measure("jaccard", parse_fraction(overlap, "overlap")).overlap
    settings, page = settings or Settings(), list(hits)
    codes_or_problems = [read_codes(hit.get("_source") or {}, field=field) for hit in page]
    numbers = [number for number, codes in enumerate(codes_or_problems) if not isinstance(codes, str)]
    codes = [codes for codes in codes_or_problems if not isinstance(codes, str)]
    counts: Ints = np.array([len(tokens) for tokens in codes], np.int64)
    table = FingerprintTable.from_codes(codes, counts, settings.minhash.slot_count)
    shown: dict[int, list[FoldedHit]] = {number: [] for number in range(len(page))}
    remaining = np.arange(len(codes))
    while len(remaining):
        first, remaining = remaining[0], remaining[1:]
        jaccard, _ = table.estimate_jaccard(np.repeat(first, len(remaining)), remaining)
        is_near = jaccard >= float(min_overlap)
        estimates = jaccard[is_near].tolist()
        for near, estimate in zip(remaining[is_near].tolist(), estimates, strict=True):
            shown[numbers[first]].append(FoldedHit(page[numbers[near]], estimate))
            del shown[numbers[near]]
        remaining = remaining[~is_near]
    return [ShownHit(page[number], folded) for number, folded in shown.items()]
