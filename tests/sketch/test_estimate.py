"""The error of the estimated overlap, and its confidence interval.

Theory (Li, Owen, Zhang 2012): the n filled buckets are n draws without replacement from the U shingles of both texts.
The error therefore has variance J(1-J)/n * (1 - (n-1)/(U-1)), with n = 512 * (1 - (1 - 1/512)**U).
"""

from __future__ import annotations

import functools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, MinHash, fingerprint, fingerprints
from simdoc_search.analysis.shingles import shingles
from simdoc_search.sketch.estimate import TokenOverlap, compare_token_ids, overlap_interval
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.tokens import HASH_BITS
from tests.support.strategies import analyses, texts

PAIRS = 400
VOCABULARY = [f"word{number}" for number in range(800)]
EVEN, NEAR_DUPLICATES = (0.05, 0.95), (0.8, 0.99)
USUAL, SHORT = (100, 1500), (20, 100)
SAMPLES = [(EVEN, USUAL), (EVEN, SHORT), (NEAR_DUPLICATES, USUAL)]

token_ids = st.dictionaries(st.integers(0, 511), st.integers(0, 3)).map(
    lambda kept: {bucket << HASH_BITS | value for bucket, value in kept.items()}
)


def jaccard(first: str, second: str) -> float:
    a, b = set(shingles(first)), set(shingles(second))
    return len(a & b) / len(a | b)


class Sample:
    """Pairs of texts with a common part, their exact overlaps and the estimates."""

    def __init__(self, overlaps: tuple[float, float], sizes: tuple[int, int]) -> None:
        drawn = random.Random(20_80)
        pairs = []
        for _ in range(PAIRS):
            total = drawn.randint(*sizes)  # shingles of both texts together
            common = round(total * drawn.uniform(*overlaps))
            own = drawn.randint(0, total - common)  # shingles of the first text alone. The rest are the second's alone
            middle = drawn.choices(VOCABULARY, k=common + 4)
            first = middle + drawn.choices(VOCABULARY, k=own)
            second = drawn.choices(VOCABULARY, k=total - common - own) + middle
            pairs.append((" ".join(first), " ".join(second)))
        found_a = fingerprints(a for a, _ in pairs)
        found_b = fingerprints(b for _, b in pairs)
        found = list(zip(found_a, found_b, strict=True))
        self.exact = np.array([jaccard(a, b) for a, b in pairs])
        errors = np.array([a.overlap(b) for a, b in found]) - self.exact
        self.rmse, self.bias = math.sqrt((errors**2).mean()), float(errors.mean())
        intervals = np.array([a.interval(b) for a, b in found])
        self.coverage = float(np.mean((intervals[:, 0] <= self.exact) & (self.exact <= intervals[:, 1])))
        union = np.array([len(set(shingles(a)) | set(shingles(b))) for a, b in pairs])
        filled = 512 * (1 - (1 - 1 / 512) ** union)
        variance = self.exact * (1 - self.exact) / filled * (1 - (filled - 1) / (union - 1))
        self.theory = math.sqrt(variance.mean())


sample = functools.cache(Sample)


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "floor"), [(USUAL, 0.0165), (SHORT, 0.0155)])
def test_the_error_agrees_with_the_theory(sizes: tuple[int, int], floor: float) -> None:
    """For usual and for short texts, the RMSE over all overlaps exceeds the theory by at most a tenth."""
    pairs = sample(EVEN, sizes)

    assert pairs.exact.min() < 0.07
    assert pairs.exact.max() > 0.93
    assert pairs.rmse <= min(floor, 1.1 * pairs.theory)


@pytest.mark.slow
@pytest.mark.parametrize(("overlaps", "sizes"), SAMPLES)
def test_the_estimate_is_unbiased_and_its_interval_covers_the_exact_value(
    overlaps: tuple[float, float], sizes: tuple[int, int]
) -> None:
    """The mean error is at most three standard deviations, and the 95 % interval covers at least 93 % of the pairs."""
    pairs = sample(overlaps, sizes)

    assert abs(pairs.bias) <= 3 * pairs.theory / math.sqrt(PAIRS)
    assert pairs.coverage >= 0.93
    assert overlaps != NEAR_DUPLICATES or pairs.rmse <= 0.0125


@given(texts(), texts(), texts(), analyses())
def test_the_estimate_is_a_symmetric_fraction_in_its_interval(
    first: str, second: str, common: str, analysis: Analysis
) -> None:
    """The overlap of a text with itself is 1. Without shingles, it is 0, and the interval is (0, 1)."""
    a, b = fingerprints([f"{common}\n{first}", f"{second}\n{common}"], analysis)
    low, high = a.interval(b)

    assert 0 <= low <= a.overlap(b) <= high <= 1
    assert (b.overlap(a), b.interval(a)) == (a.overlap(b), (low, high))
    assert float(a.shingle_count > 0) == a.overlap(a)
    assert (a.shingle_count > 0) == (a.interval(a) != (0.0, 1.0))


def test_disjoint_texts_overlap_only_by_chance() -> None:
    """The tokens of a bucket are then equal in 1 of 512 cases. The overlap of an empty text is 0."""
    first, second = fingerprint(" ".join(VOCABULARY)), fingerprint(" ".join(reversed(VOCABULARY)))

    assert first.overlap(second) < 0.01
    assert 0 == first.interval(second)[0]
    assert 0 == fingerprint("").overlap(first)


@pytest.mark.parametrize("bucket_count", [1, 64, 4096])
def test_every_number_of_buckets_estimates_the_overlap(bucket_count: int) -> None:
    """The error is at most four standard deviations."""
    first, second = " ".join(VOCABULARY[:600]), " ".join(VOCABULARY[200:])
    a, b = fingerprints([first, second], sketch=MinHash(bucket_count=bucket_count))
    exact = jaccard(first, second)

    assert abs(a.overlap(b) - exact) <= 4 * math.sqrt(exact * (1 - exact) / min(bucket_count, 700))


@given(token_ids, token_ids)
def test_token_ids_are_compared_as_sets(first: set[int], second: set[int]) -> None:
    """Of the buckets that are filled in both documents, 1 in 512 has matching tokens by chance."""
    buckets, others = ({code >> HASH_BITS for code in token_ids} for token_ids in (first, second))
    found = compare_token_ids(np.array(sorted(first), np.uint32), np.array(sorted(second), np.uint32))
    matched, common, union = len(first & second), len(buckets & others), len(buckets | others)

    assert (matched, max(0, matched - common / 512), union * 511 / 512) == pytest.approx(found[:3])
    assert found.overlap == (found.shared_count / found.union_count if union else 0)
    assert (found.overlap == 1) == (first == second != set())


@pytest.mark.parametrize("shingles", [10, 100, 1000, 20000])
def test_the_sample_size_determines_the_error_of_texts_of_any_length(shingles: int) -> None:
    """The two texts share half of their shingles. Tokens that match by chance are left out."""
    rng = np.random.default_rng(shingles)
    estimates, sizes = [], []
    for _ in range(400):
        slots, first = np.unique(rng.integers(0, 512, shingles), return_index=True)  # a slot keeps its first shingle
        shared = int(np.count_nonzero(rng.permutation(shingles)[first] < shingles // 2))
        compared = TokenOverlap(shared, shared, len(slots) * 511 / 512, 512)
        estimates.append(shared / len(slots))
        sizes.append(compared.sample_size)

    assert all(512 <= size <= 1024 for size in sizes)
    assert float(np.std(estimates)) == pytest.approx(math.sqrt(0.25 / np.mean(sizes)), rel=0.1)
    assert 100 == TokenOverlap(10, 10, 100).sample_size


@pytest.mark.parametrize(
    ("shared", "union", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718), (0, 0, 0, 1)],
)
def test_the_interval_is_wilsons(shared: int, union: int, low: float, high: float) -> None:
    """The interval agrees with the published values of Newcombe (Statistics in Medicine 17, 1998)."""
    assert (low, high) == pytest.approx(overlap_interval(shared, union), abs=0.00005)


def test_fingerprints_of_other_settings_are_not_compared() -> None:
    """The error shows both settings. A key is one of them."""
    keys = HashKey("a key of an index"), HashKey("a key of another index")
    others = MinHash(bucket_count=256), *(MinHash(key=key) for key in keys)
    for analysis, minhash in ((Analysis(profile="lowercase"), MinHash()), *((Analysis(), other) for other in others)):
        ours, other = fingerprint("a b c"), fingerprint("a b c", analysis, minhash)
        for compare in (ours.overlap, ours.interval):
            with pytest.raises(ValueError, match="different settings cannot be compared") as error:
                compare(other)
            assert f"{Analysis()}, {MinHash()} and {analysis}, {minhash}" in str(error.value)
    one, other = (fingerprint("a b c", None, MinHash(key=key)) for key in keys)
    with pytest.raises(ValueError, match="different settings cannot be compared"):
        one.overlap(other)
