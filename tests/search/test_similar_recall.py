"""Tests that the recall of queries and the error of the estimate are as promised.

The texts are generated, and the same in each run. The limits only allow for chance.
"""

from __future__ import annotations

import functools
import math
import random
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.passages.exact_overlap import jaccard, shingle_set
from simdoc_search.query.planner import Planner
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.sketch.estimate import compare_token_ids
from tests.support.texts import overlapping

pytestmark = pytest.mark.slow

PAIRS, CLEAR_PAIRS = 300, 100
ABOVE = 0.02
"""Maximum difference between the overlap of a pair and the overlap that it is `at`."""

REFINED = 0.01
"""Share of the documents at the overlap that the comparison of candidates may reject."""


class Pair(NamedTuple):
    """Two stored documents, `NAME/a` and `NAME/b`."""

    name: str
    exact: float  # the overlap of the texts
    union: int  # number of distinct shingles of both


class Corpus(NamedTuple):
    """Stored pairs, by an overlap that they have almost exactly (`at`), or clearly exceed (`above`)."""

    search: SimilaritySearch
    at: dict[float, list[Pair]]
    above: dict[float, list[Pair]]


@functools.cache
def corpus() -> Corpus:
    """Index all pairs in one store."""
    result = Corpus(SimilaritySearch(open_store(":memory:")), {}, {})
    documents: list[Document] = []
    for overlap in (0.2, 0.5, 0.8):
        clear = overlap + 3 * math.sqrt(overlap * (1 - overlap) / 400)
        ranges = (("at", result.at, overlap, overlap + ABOVE, PAIRS), ("above", result.above, clear, 1.0, CLEAR_PAIRS))
        for kind, pairs, low, high, count in ranges:
            rng = random.Random(f"{kind} {overlap}")
            pairs[overlap] = []
            while len(pairs[overlap]) < count:
                name = f"{kind} {overlap} {len(pairs[overlap])}"
                a, b = overlapping(rng, round(60 * 20 ** rng.random()), rng.uniform(low, high))
                shingles = shingle_set(a), shingle_set(b)
                exact = jaccard(*shingles)
                if low <= exact <= high:
                    pairs[overlap].append(Pair(name, exact, len(shingles[0] | shingles[1])))
                    documents += Document(f"{name}/a", a), Document(f"{name}/b", b)
    result.search.index(documents)
    return result


def finds(pair: Pair, overlap: float, probability: float | None, planner: Planner = "enough") -> tuple[bool, float]:
    """Return whether a query with one document finds the other, and the probability of its plan."""
    percent, chance = Fraction(str(overlap)), None if probability is None else Fraction(str(probability))
    query = FingerprintQuery(f"{pair.name}/a", percent, chance)
    result = corpus().search.similar(query, planner=planner, size=1000, verify=False)
    return f"{pair.name}/b" in {hit.id for hit in result}, result.plan.probability_of_finding(pair.exact)


@pytest.mark.parametrize("planner", ["enough", "all"])
@pytest.mark.parametrize(("overlap", "probability"), [(0.2, 0.8), (0.5, 0.8), (0.8, 0.95)])
def test_documents_at_the_overlap_are_found_as_often_as_promised(
    overlap: float, probability: float, planner: Planner
) -> None:
    outcomes = [finds(pair, overlap, probability, planner) for pair in corpus().at[overlap]]
    recall = sum(is_found for is_found, _ in outcomes) / PAIRS
    promised = [promise for _, promise in outcomes]
    deviation = math.sqrt(sum(promise * (1 - promise) for promise in promised)) / PAIRS

    assert min(promised) >= probability
    assert np.mean(promised) - REFINED - 3 * deviation <= recall


@pytest.mark.parametrize("overlap", [0.2, 0.5, 0.8])
def test_a_threshold_finds_all_documents_clearly_above_it_and_most_at_it(overlap: float) -> None:
    above = [finds(pair, overlap, None)[0] for pair in corpus().above[overlap]]
    at = [finds(pair, overlap, None)[0] for pair in corpus().at[overlap]]

    assert all(above)
    assert 0.5 < sum(at) / PAIRS < 1


def test_the_error_of_the_estimate_agrees_with_the_theory() -> None:
    """The RMSE and the bias are those of one-permutation hashing (Li, Owen, Zhang 2012, theorem 1).

    With f shingles in the union and N filled buckets the variance is J (1-J) (E[1/N] (1 + 1/(f-1)) - 1/(f-1)).
    """
    search, at, above = corpus()
    token_ids = {record.id: record.token_ids for record in search.store.scan()}
    errors, variances = [], []
    for pair in (pair for pairs in [*at.values(), *above.values()] for pair in pairs):
        ends = token_ids[f"{pair.name}/a"], token_ids[f"{pair.name}/b"]
        estimate = compare_token_ids(*ends)
        filled = estimate.union_count * 512 / 511
        errors.append(estimate.overlap - pair.exact)
        rest = 1 / (pair.union - 1)
        variances.append(pair.exact * (1 - pair.exact) * ((1 + rest) / filled - rest))

    assert math.sqrt(np.mean(np.square(errors))) <= 1.1 * math.sqrt(np.mean(variances))
    assert abs(np.mean(errors)) <= 0.003
