"""The similarity of two documents is computed from their concepts."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.concepts import extractor_from_option
from simdoc_search.sketch.concepts import decode_paragraph_concepts, paragraph_simhashes
from simdoc_search.sketch.simhash import hamming_distances
from simdoc_search.sketch.thresholds import DEFAULT_MIN_SCORE, MIN_VERSION_SCORE
from simdoc_search.versions.relations import (
    WeightedConcepts,
    concept_weights,
    explain_similarity,
    relation_score,
    similarities,
)
from tests.versions.paper import DOCUMENTS

STORED = st.lists(st.sampled_from([0, 1, 2, 3, 2**30 - 1]), max_size=40)


def weighted(documents: Sequence[Sequence[int]], others: int = 0) -> WeightedConcepts:
    """Return the weighted concepts of documents in a collection with `others` more documents."""
    paragraphs = [decode_paragraph_concepts(np.array(token_ids, np.uint32)) for token_ids in documents]
    token_ids, counts = np.unique(
        np.concatenate([np.unique(document.token_ids) for document in paragraphs]), return_counts=True
    )
    return WeightedConcepts(paragraphs, token_ids, concept_weights(counts, len(documents) + others))


def similarity(documents: WeightedConcepts, a: int = 0, b: int = 1) -> float:
    (result,) = similarities(documents, np.array([a]), np.array([b])).tolist()
    return float(result)


def score(a: Sequence[int], b: Sequence[int], others: int = 0) -> float:
    return relation_score(similarity(weighted([a, b], others)))


def test_documents_3_and_4_of_the_paper_are_related_and_1_and_2_are_more_similar() -> None:
    token_ids = extractor_from_option("keywords").token_ids(DOCUMENTS)
    documents = weighted([document.tolist() for document in token_ids if document is not None])
    scores = {(a + 1, b + 1): relation_score(similarity(documents, a, b)) for a, b in combinations(range(5), 2)}

    assert {(1, 2), (3, 4)} == {pair for pair, value in scores.items() if value >= DEFAULT_MIN_SCORE}
    assert scores[1, 2] > scores[3, 4]
    assert max(value for pair, value in scores.items() if pair not in {(1, 2), (3, 4)}) < 0.3


def test_a_paragraph_on_another_topic_hardly_reduces_the_similarity() -> None:
    """The paragraph may be anywhere. The better half of the paragraphs counts, at least two."""
    same = [*range(1, 9), 0, *range(11, 19), 0]
    edited = score([*same, *range(30, 38), 0], [*range(50, 58), 0, *same], 100)

    assert DEFAULT_MIN_SCORE < edited < score(same, same, 100)
    assert score([*range(1, 9), 0, *range(30, 38), 0], [*range(50, 58), 0, *range(60, 68), 0], 100) == 0


def test_frequent_concepts_hardly_relate_documents() -> None:
    """Concepts relate two of a thousand documents much more if the other documents do not have them."""
    a, b = ([*range(1, 5), *range(at, at + 8), 0] for at in (100, 200))
    paragraphs = [decode_paragraph_concepts(np.array(document, np.uint32)) for document in (a, b)]
    token_ids = np.unique(np.concatenate([document.token_ids for document in paragraphs]))
    rare, common = (
        similarity(
            WeightedConcepts(paragraphs, token_ids, concept_weights(np.where(token_ids < 5, frequency, 1), 1000))
        )
        for frequency in (2, 1000)
    )

    assert rare > 10 * common


def test_concepts_that_a_text_repeats_relate_documents_more() -> None:
    """The documents are 3a to 3c and 5 of the paper's figure 23."""
    golf, dufner, pga, diabetes, walking, cycling = range(1, 7)
    a, b, c = [golf] * 4 + [dufner, pga, 0], [golf, dufner, pga, 0], [golf, 0]
    other = [diabetes] * 2 + [walking] + [cycling] * 3 + [0]
    documents = weighted([a, b, c, other], 100)
    values = [similarity(documents, 0, number) for number in (1, 2, 3)]
    often = similarity(weighted([[golf] * 20 + [dufner, 0], [golf] * 20 + [pga, 0]], 100))

    assert 0 == values[2] < values[1] < values[0]
    assert min(values[:2]) > 0.4
    assert often > similarity(weighted([[golf, dufner, 0], [golf, pga, 0]], 100))


@given(STORED, STORED)
def test_the_similarity_is_symmetric_and_its_score_is_below_that_of_versions(a: list[int], b: list[int]) -> None:
    if not (set(a) | set(b)) - {0}:
        return
    documents = weighted([a, b], 50)
    value = similarity(documents)

    assert value == similarity(documents, 1, 0)
    assert 0 <= relation_score(value) <= MIN_VERSION_SCORE
    assert (value > 0) >= (0 < len(set(a) & set(b) - {0}) and a == b)
    assert set(a) & set(b) - {0} or 0 == value


def test_scores_grow_continuously_with_the_similarity() -> None:
    scores = [relation_score(similarity / 1000) for similarity in range(1001)]

    assert (0, MIN_VERSION_SCORE) == (scores[0], scores[-1])
    assert all(0 < after - before < 0.01 for before, after in pairwise(scores))


@given(STORED)
def test_stored_paragraphs_are_read_without_empty_ones(token_ids: list[int]) -> None:
    ends = [-1, *(at for at, code in enumerate(token_ids) if not code), len(token_ids)]
    expected = [part for begin, end in pairwise(ends) if (part := sorted(token_ids[begin + 1 : end]))]
    paragraphs = decode_paragraph_concepts(np.array(token_ids, np.uint32))
    read = [
        np.repeat(paragraphs.token_ids, paragraphs.frequencies)[
            np.repeat(paragraphs.paragraph_indices, paragraphs.frequencies) == n
        ]
        for n in range(paragraphs.paragraph_count)
    ]

    assert expected == [paragraph.tolist() for paragraph in read]
    assert sorted({*token_ids} - {0}) == paragraphs.as_one_paragraph().token_ids.tolist()


def test_simhashes_estimate_the_cosine() -> None:
    """If d bits differ, the cosine is estimated as cos(π d / 64), within the error of Charikar's theorem."""
    rng = random.Random(1)
    errors = []
    for both in range(0, 41, 2):
        a, b, common = ([rng.randrange(1, 2**30) for _ in range(count)] for count in (40 - both, 40 - both, both))
        (first,), (second,) = (
            paragraph_simhashes(decode_paragraph_concepts(np.array([*document, *common, 0], np.uint32)))
            for document in (a, b)
        )
        bits = int(hamming_distances(np.array([first]), np.array([second]))[0])
        errors.append(math.cos(math.pi * bits / 64) - both / 40)

    assert math.sqrt(sum(error**2 for error in errors) / len(errors)) < 0.2
    assert abs(sum(errors) / len(errors)) < 0.1


@pytest.mark.parametrize(("a", "b"), [([], [1, 0]), ([0], [1, 0]), ([0, 0], [0])])
def test_a_document_without_concepts_is_not_related_to_any_other(a: list[int], b: list[int]) -> None:
    documents = [decode_paragraph_concepts(np.array(document, np.uint32)) for document in (a, b)]

    assert 0 == similarity(WeightedConcepts(documents, np.array([1], np.uint32), np.ones(1)))


@given(st.lists(STORED, min_size=2, max_size=6))
def test_similarities_of_many_pairs_are_those_of_single_pairs_and_explanations_add_up(stored: list[list[int]]) -> None:
    if not any({*document} - {0} for document in stored):
        return
    documents = weighted(stored, 50)
    pairs = [pair for pair in product(range(len(stored)), repeat=2) if pair[0] != pair[1]]
    of_pairs = similarities(documents, *np.array(pairs, np.int64).T)

    assert [similarity(documents, *pair) for pair in pairs] == pytest.approx(of_pairs.tolist(), abs=1e-12)
    for (a, b), similarity_of_pair in zip(pairs, of_pairs.tolist(), strict=True):
        if min(documents.paragraph_counts[a], documents.paragraph_counts[b]):
            explanation = explain_similarity(documents, a, b)

            assert (
                similarity_of_pair
                == pytest.approx(explanation.similarity)
                == pytest.approx(float(explanation.contributions.sum()))
            )
            assert similarity_of_pair == pytest.approx(
                (explanation.document_similarity + explanation.paragraph_similarity) / 2
            )
            assert sorted({*stored[a]} & {*stored[b]} - {0}) == explanation.token_ids.tolist() or not similarity_of_pair
