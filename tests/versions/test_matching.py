"""Similar sentences of two documents are matched, and decide whether the documents are versions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.sketch.thresholds import (
    DEFAULT_MAX_DISTANCE,
    DEFAULT_MIN_SHARE,
    DEFAULT_MIN_SMALLER_SHARE,
    MAX_DISTANCE_LIMIT,
    MIN_VERSION_SCORE,
    SimilarityThresholds,
)
from simdoc_search.versions.matching import (
    SentenceMatches,
    match_sentences,
    match_sentences_with_many,
    shares_by_max_distance,
)

CENTRES = [0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x5555AAAA3333CCCC, 0xFFFFFFFFFFFFFFFF]


@st.composite
def documents(draw: st.DrawFn) -> list[int]:
    """Draw sentences near a few centres. Many are similar, some are barely similar, and some are equal."""
    sentences = []
    for _ in range(draw(st.integers(0, 12))):
        flipped = draw(st.sets(st.integers(0, 63), max_size=DEFAULT_MAX_DISTANCE + 2))
        sentences.append(draw(st.sampled_from(CENTRES)) ^ sum(1 << bit for bit in flipped))
        sentences += sentences[-1:] * draw(st.integers(0, 2))
    return draw(st.permutations(sentences))


def brute_force(a: Sequence[int], b: Sequence[int]) -> tuple[list[tuple[int, int, int]], float, float]:
    """Return the similar pairs with their bits, and both shares, by comparing all pairs of sentences."""
    pairs = []
    for position, value in enumerate(a):
        distances = [((value ^ other).bit_count(), place) for place, other in enumerate(b)]
        bits, first = min(distances, default=(64, 0))
        if bits <= DEFAULT_MAX_DISTANCE:
            equal = [place for place, other in enumerate(b) if other == b[first]]
            pairs.append((position, equal[min(list(a[:position]).count(value), len(equal) - 1)], bits))

    def share(values: Sequence[int], others: Sequence[int]) -> float:
        similar = {
            value for value in values if any((value ^ other).bit_count() <= DEFAULT_MAX_DISTANCE for other in others)
        }
        return len(similar) / max(1, len(set(values)))

    return pairs, share(a, b), share(b, a)


def plain(matches: SentenceMatches) -> tuple[list[tuple[int, int, int]], float, float]:
    pairs = zip(matches.a.tolist(), matches.b.tolist(), matches.distances.tolist(), strict=True)
    return list(pairs), matches.share, matches.share_of_other


def sentences(*values: int) -> np.ndarray:
    return np.array(values, np.uint64)


@given(documents(), st.lists(documents(), max_size=5))
def test_sentences_are_matched_as_by_brute_force(a: list[int], others: list[list[int]]) -> None:
    matches = match_sentences_with_many(sentences(*a), [sentences(*values) for values in others])

    assert [brute_force(a, values) for values in others] == [plain(match) for match in matches]


@given(documents(), documents(), st.integers(0, MAX_DISTANCE_LIMIT))
def test_shares_by_bits_are_those_of_matching_with_each_number_of_bits(a: list[int], b: list[int], bits: int) -> None:
    one, other = (
        match_sentences(sentences(*a), sentences(*b), bits),
        shares_by_max_distance(sentences(*a), sentences(*b), MAX_DISTANCE_LIMIT)[bits],
    )

    assert (one.share, one.share_of_other) == (other.share, other.share_of_other)
    assert one.has_too_few_matches == other.has_too_few_matches or not other.share


def test_repeated_sentences_are_matched_in_order() -> None:
    refrain, other = CENTRES[:2]
    matches = match_sentences(sentences(refrain, refrain, refrain), sentences(other, refrain, other, refrain))

    assert ([(0, 1, 0), (1, 3, 0), (2, 3, 0)], 1.0, 0.5) == plain(matches)


def test_the_score_is_the_share_of_one_document_in_the_other() -> None:
    thresholds = SimilarityThresholds()

    assert (
        MIN_VERSION_SCORE
        == thresholds.score(DEFAULT_MIN_SHARE, DEFAULT_MIN_SMALLER_SHARE)
        == thresholds.score(DEFAULT_MIN_SMALLER_SHARE, DEFAULT_MIN_SHARE)
    )
    assert thresholds.score(1.0, DEFAULT_MIN_SMALLER_SHARE) == 1.0
    assert thresholds.score(0.25, 0.75) == pytest.approx(MIN_VERSION_SCORE + (1 - MIN_VERSION_SCORE) / 2)
    assert thresholds.score(1.0, DEFAULT_MIN_SMALLER_SHARE - 0.01) is None
    assert thresholds.score(DEFAULT_MIN_SHARE - 0.01, DEFAULT_MIN_SHARE - 0.01) is None
    assert SimilarityThresholds(1.0, 0.0).score(1.0, 0.001) == 1.0
    assert SimilarityThresholds(0.3, 0.0).score(0.0, 0.0) is None


def test_longer_documents_with_one_similar_sentence_are_not_versions() -> None:
    one, two, *_ = CENTRES
    far, farther = one ^ 0xFFFFF, two ^ 0xFFFFF << 20
    book = sentences(one, far, farther)

    assert SimilarityThresholds().score_matches(match_sentences(sentences(one, two), book)) is None
    assert SimilarityThresholds().score_matches(match_sentences(sentences(one, far), book)) is not None
    assert SimilarityThresholds().score_matches(match_sentences(sentences(one), book)) is not None
