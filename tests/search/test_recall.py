"""What queries promise, measured: recall at an overlap and a probability, and the error of the estimate.

The texts are made (see texts.py) and always the same, and so are the results; the floors leave room for chance only.
"""

from __future__ import annotations

import functools
import math
import random
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.passages.exact import jaccard, shingle_set
from simdoc_search.query.planner import Planner
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.sketch.estimate import shared_and_union
from simdoc_search.sketch.tokens import hash_bits
from tests.support.texts import overlapping

pytestmark = pytest.mark.slow

PAIRS = 400
ABOVE = 0.02  # by so much, at most, the pairs at a threshold are above it
REFINED = 0.01  # so many of the documents at the overlap are dropped when candidates are refined


@dataclass(frozen=True)
class Pair:
    """Two stored documents, NAME/a and NAME/b, and what they truly share."""

    name: str
    exact: float
    union: int


@dataclass(frozen=True)
class Corpus:
    """Stored pairs, by what they were made for: `at 0.2` or `above 0.2`."""

    search: SimilaritySearch
    pairs: dict[str, list[Pair]]


@functools.cache
def corpus() -> Corpus:
    """All pairs of all tests, in one store."""
    search = SimilaritySearch(open_store(":memory:"))
    pairs: dict[str, list[Pair]] = {}
    documents: list[Document] = []
    for overlap in (0.2, 0.5, 0.8):
        clear = overlap + 3 * math.sqrt(overlap * (1 - overlap) / 400)
        for kind, low, high, count in (("at", overlap, overlap + ABOVE, PAIRS), ("above", clear, 1.0, 100)):
            rng = random.Random(f"{kind} {overlap}")
            found_pairs = pairs.setdefault(f"{kind} {overlap}", [])
            while len(found_pairs) < count:
                name = f"{kind} {overlap} {len(found_pairs)}"
                a, b = overlapping(rng, round(60 * 20 ** rng.random()), rng.uniform(low, high))
                shingles = shingle_set(a), shingle_set(b)
                exact = jaccard(*shingles)
                if low <= exact <= high:
                    found_pairs.append(Pair(name, exact, len(shingles[0] | shingles[1])))
                    documents += Document(f"{name}/a", a), Document(f"{name}/b", b)
    search.index(documents)
    return Corpus(search, pairs)


def lists(
    pair: Pair, overlap: Fraction, probability: Fraction | None, planner: Planner = "enough"
) -> tuple[bool, float]:
    """Whether a query with one document of a pair lists the other, and with which probability its plan finds it."""
    query = FingerprintQuery(f"{pair.name}/a", overlap, probability)
    result = corpus().search.similar(query, planner=planner, size=1000, verify=False)
    return f"{pair.name}/b" in {hit.id for hit in result.hits}, result.plan.probability_of_finding(pair.exact)


@pytest.mark.parametrize("planner", ["enough", "all"])
@pytest.mark.parametrize(("overlap", "probability"), [(20, 80), (50, 80), (80, 80), (80, 95)])
def test_documents_at_the_overlap_are_found_as_promised(overlap: int, probability: int, planner: Planner) -> None:
    """Of documents just above the overlap at least as many are listed as the plan promises, less the refined ones."""
    share, chance = Fraction(overlap, 100), Fraction(probability, 100)
    outcomes = [lists(pair, share, chance, planner) for pair in corpus().pairs[f"at {overlap / 100}"]]
    recall = sum(listed for listed, _ in outcomes) / len(outcomes)
    promised = [promise for _, promise in outcomes]
    deviation = math.sqrt(sum(each * (1 - each) for each in promised)) / len(promised)

    assert PAIRS == len(outcomes)
    assert min(promised) >= chance
    assert np.mean(promised) - REFINED - 3 * deviation <= recall


@pytest.mark.parametrize("overlap", [20, 50, 80])
def test_documents_clearly_above_a_threshold_are_all_found(overlap: int) -> None:
    """A query without probability lists every document whose overlap is beyond the error of the estimate."""
    outcomes = [lists(pair, Fraction(overlap, 100), None) for pair in corpus().pairs[f"above {overlap / 100}"]]

    assert [True] * 100 == [listed for listed, _ in outcomes]


@pytest.mark.parametrize("overlap", [20, 50, 80])
def test_documents_at_a_threshold_are_found_as_the_estimate_allows(overlap: int) -> None:
    """Of documents just above a threshold those are listed whose estimate reaches it: more than half."""
    outcomes = [lists(pair, Fraction(overlap, 100), None) for pair in corpus().pairs[f"at {overlap / 100}"]]

    assert 0.5 < sum(listed for listed, _ in outcomes) / len(outcomes) < 1


def test_the_estimate_is_as_exact_as_theory_has_it() -> None:
    """RMSE and bias of the estimate are those of one-permutation hashing (Li, Owen, Zhang 2012, theorem 1).

    With f shingles in the union and N filled buckets the variance is J (1-J) (E[1/N] (1 + 1/(f-1)) - 1/(f-1)).
    """
    search = corpus().search
    codes = {record.id: record.codes for record in search.store.scan()}
    errors, variances = [], []
    for pair in (pair for pairs in corpus().pairs.values() for pair in pairs):
        ends = codes[f"{pair.name}/a"], codes[f"{pair.name}/b"]
        shared, filled = shared_and_union(*ends, hash_bits(search.store.settings.minhash))
        errors.append(shared / filled - pair.exact)
        rest = 1 / (pair.union - 1)
        variances.append(pair.exact * (1 - pair.exact) * ((1 + rest) / filled - rest))

    assert 3 * (PAIRS + 100) == len(errors)
    assert math.sqrt(np.mean(np.square(errors))) <= 1.1 * math.sqrt(np.mean(variances))
    assert abs(np.mean(errors)) <= 0.003
