"""The versions found in a collection are those that a comparison of all pairs finds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct_in_order
from simdoc_search.documents import DocumentKey
from simdoc_search.groups import version_pairs as module
from simdoc_search.groups.comparable_documents import ComparableDocuments
from simdoc_search.groups.version_pairs import VersionPairs, find_version_pairs
from simdoc_search.sketch.simhash import Simhashes, hamming_distances
from simdoc_search.sketch.thresholds import DEFAULT_MAX_DISTANCE, SimilarityThresholds
from simdoc_search.versions import pair_scores
from simdoc_search.versions.matching import match_sentences
from simdoc_search.versions.pair_scores import score_pairs
from tests.support.slow_cases import examples

CENTRES = [0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x5555AAAA3333CCCC, 0xFFFFFFFFFFFFFFFF, 0x0F0F3C3C5A5A9999]


@st.composite
def documents(draw: st.DrawFn) -> list[int]:
    """Draw sentences near a few centres. Many are similar, some are barely similar, and some are equal."""
    sentences = []
    for _ in range(draw(st.integers(1, 8))):
        flipped = draw(st.sets(st.integers(0, 63), max_size=DEFAULT_MAX_DISTANCE + 2))
        sentences.append(draw(st.sampled_from(CENTRES)) ^ sum(1 << bit for bit in flipped))
    return sentences


def as_arrays(read: Sequence[Sequence[int]]) -> ComparableDocuments:
    values = [distinct_in_order(np.array(sentences, np.uint64)) for sentences in read]
    counts = np.array([len(document_values) for document_values in values], np.int64)
    places = [DocumentKey(f"d{number}") for number in range(len(values))]
    return ComparableDocuments(places, np.concatenate(values), np.cumsum(counts) - counts, counts)


def find_versions(read: Sequence[Sequence[int]], thresholds: SimilarityThresholds | None = None) -> VersionPairs:
    return find_version_pairs(as_arrays(read), thresholds or SimilarityThresholds(), lambda _stage, _share: None)


def scores(pairs: VersionPairs) -> dict[tuple[int, int], float]:
    columns = (pairs.first_documents.tolist(), pairs.second_documents.tolist(), pairs.scores.tolist())
    return {(a, b): score for a, b, score in zip(*columns, strict=True)}


@given(st.lists(documents(), min_size=2, max_size=9), st.sampled_from([0.3, 0.5, 0.7, 1.0]))
@examples(0.6)
def test_versions_are_those_of_brute_force(read: list[list[int]], min_share: float) -> None:
    thresholds = SimilarityThresholds(min_share, min(0.1, min_share))
    found = find_versions(read, thresholds)
    expected = {}
    for a, b in combinations(range(len(read)), 2):
        both = match_sentences(np.array(read[a], np.uint64), np.array(read[b], np.uint64))
        if (score := thresholds.score_matches(both)) is not None:
            expected[a, b] = score

    assert expected == pytest.approx(scores(found))
    assert (True, 0) == (found.found_all_similar_sentences, found.frequent_sentence_document_count)


@given(st.lists(documents(), min_size=2, max_size=6), st.sampled_from([0.01, 0.3, 0.5, 1.0]))
@examples(1.2)
def test_the_scores_of_many_pairs_are_those_of_single_pairs(read: list[list[int]], min_share: float) -> None:
    made, thresholds = as_arrays(read), SimilarityThresholds(min_share, min(0.1, min_share))
    first, second = np.array(list(combinations(range(len(read)), 2))).T
    expected = [
        match_sentences(np.array(read[a], np.uint64), np.array(read[b], np.uint64))
        for a, b in zip(first, second, strict=True)
    ]
    every_limits: list[dict[str, int]] = [
        {},
        {"_CELLS_PER_BATCH": 1},
        {"_CELLS_PER_BATCH": 1, "_MAX_COMPARED_CELLS": 0},
    ]
    for limits in every_limits:
        with pytest.MonkeyPatch.context() as patch:
            for name, limit in limits.items():
                patch.setattr(pair_scores, name, limit)
            found = score_pairs(made.simhashes, made.simhash_starts, made.simhash_counts, (first, second), thresholds)

        assert [
            -1.0 if (score := thresholds.score_matches(both)) is None else score for both in expected
        ] == pytest.approx(found.tolist())


def test_equal_sentences_of_many_long_documents_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 40 versions has 399 sentences of the first one. All pairs of their sentences would be 6 million."""
    compared_counts = []

    def count_distances(a: Simhashes, b: Simhashes) -> NDArray[np.uint8]:
        distances = hamming_distances(a, b)
        compared_counts.append(distances.size)
        return distances

    text, *new = np.random.default_rng(7).integers(0, 2**64, (1 + 40, 400), dtype=np.uint64)
    versions = as_arrays([text.tolist(), *([*text[1:].tolist(), int(sentences[0])] for sentences in new)])
    pairs = np.zeros(40, np.int64), np.arange(1, 41)
    monkeypatch.setattr(pair_scores, "hamming_distances", count_distances)
    arrays = versions.simhashes, versions.simhash_starts, versions.simhash_counts
    found = score_pairs(*arrays, pairs, SimilarityThresholds())

    assert [SimilarityThresholds().score(399 / 400, 399 / 400)] * 40 == found.tolist()
    assert [400 * (399 + 40)] == compared_counts


def flip_bits(values: Simhashes, bits: int, draw: np.random.Generator) -> list[int]:
    """Flip random bits of each sentence."""
    return [int(value) ^ sum(1 << int(bit) for bit in draw.choice(64, bits, replace=False)) for value in values]


def test_nearly_all_versions_are_found_by_a_sample_of_similar_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """All versions with equal sentences are found, and nearly all versions with 20 edited sentences."""
    monkeypatch.setattr(module, "MAX_SENTENCES_FOR_EXACT_SEARCH", 0)
    draw = np.random.default_rng(5)
    read = []
    for number in range(200):
        values = draw.integers(0, 2**64, 20, dtype=np.uint64)
        read += [values.tolist(), flip_bits(values, 3, draw) if number % 2 else [*values[:12].tolist(), number]]
    found = find_versions(read)

    assert not found.found_all_similar_sentences
    assert {(at, at + 1) for at in range(0, 400, 4)} <= scores(found).keys()
    assert scores(found).keys() <= {(at, at + 1) for at in range(0, 400, 2)}
    assert len(found.first_documents) >= 198


def test_documents_with_a_very_frequent_sentence_are_paired_with_a_few_others() -> None:
    """All 500 copies are versions. Documents that only share a footer are not."""
    draw = np.random.default_rng(6)
    footer = int(draw.integers(0, 2**63))
    text = draw.integers(0, 2**64, 10, dtype=np.uint64).tolist()
    others = [[*draw.integers(0, 2**64, 9, dtype=np.uint64).tolist(), footer] for _ in range(500)]
    found = find_versions([[*text, footer]] * 500 + others)

    assert {*range(500)} == {*found.first_documents.tolist(), *found.second_documents.tolist()}
    assert found.compared_count < 500 * 2 * module.MAX_PARTNERS_PER_FREQUENT_SENTENCE
    assert 500 == found.frequent_sentence_document_count
