"""The overlap that is estimated from equal terms of Lucene's filter, for all its options."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

from simdoc_search import Analysis, MinHash, fingerprint
from simdoc_search.passages.exact_overlap import measures
from simdoc_search.sketch.terms import compare_terms, encode_terms, select_reliable_minima
from tests.support.slow_cases import slow_after
from tests.support.texts import overlapping

ANALYSIS = Analysis(profile="lowercase", short_texts=False)
OPTIONS = [
    MinHash(),
    MinHash(with_rotation=True),
    MinHash(bucket_count=100, with_rotation=True),
    MinHash(bucket_count=1, hash_set_size=200),
    MinHash(bucket_count=64, hash_set_size=4),
    MinHash(bucket_count=100, hash_set_size=2),
    MinHash(hash_count=4, bucket_count=128),
    MinHash(hash_count=16, bucket_count=8),
    MinHash(hash_count=3, bucket_count=50, hash_set_size=3),
]


@cache
def pairs(count: int, words: int) -> list[tuple[str, str]]:
    """Pairs of texts with many different overlaps. In half of the pairs, one text repeats words."""
    rng = random.Random(11)
    made = [overlapping(rng, words, rng.uniform(0.1, 0.9)) for _ in range(count)]
    return [(a + " " + a[: len(a) // 3], b) for a, b in made[::2]] + made[1::2]


@cache
def true_overlap(a: str, b: str) -> float:
    """The exact overlap of two texts."""
    return measures(a, b, ANALYSIS).jaccard


@pytest.mark.parametrize("minhash", slow_after(3, OPTIONS), ids=str)
def test_the_estimate_is_unbiased(minhash: MinHash) -> None:
    """Repeated shingles, for which Lucene's sets lack a value, do not change the estimate."""
    errors = []
    for a, b in pairs(40, 400):
        true = true_overlap(a, b)
        errors.append(fingerprint(a, ANALYSIS, minhash).overlap(fingerprint(b, ANALYSIS, minhash)) - true)

    assert abs(np.mean(errors)) < 3.5 * np.std(errors) / len(errors) ** 0.5
    assert np.std(errors) < 0.055


@pytest.mark.parametrize("minhash", OPTIONS, ids=str)
def test_term_ids_stand_for_terms_of_the_filter(minhash: MinHash) -> None:
    """If a bucket keeps one value, every term has an id. Equal ids stand for equal terms."""
    for a, b in pairs(4, 200):
        made = [fingerprint(text, ANALYSIS, minhash) for text in (a, b)]
        values = [select_reliable_minima(fp.minima, minhash) for fp in made]
        token_ids = [encode_terms(minima, minhash) for minima in values]
        terms = [minhash.lucene_terms(minima) for minima in values]
        shared, _, union, _ = compare_terms(token_ids[0], token_ids[1], minhash)

        for token_ids_of_text, terms_of_text, fp in zip(token_ids, terms, made, strict=True):
            assert len(token_ids_of_text) == len(terms_of_text)
            assert set(terms_of_text) <= set(fp.tokens("lucene"))
            assert minhash.hash_set_size > 1 or set(terms_of_text) == set(fp.tokens("lucene"))
        assert len(set(terms[0]) & set(terms[1])) == len(np.intersect1d(token_ids[0], token_ids[1]))
        assert shared <= len(set(terms[0]) & set(made[1].tokens("lucene")))
        assert union >= max(map(len, token_ids))


def test_an_interval_needs_one_hash_function() -> None:
    """Several functions draw the same shingles again, so the number of buckets does not determine the error."""
    a, b = (fingerprint(text, ANALYSIS, MinHash(bucket_count=100)) for text in pairs(1, 300)[0])
    low, high = a.interval(b)
    assert low < a.overlap(b) < high

    several = fingerprint("one two three four five six", ANALYSIS, MinHash(hash_count=2))
    with pytest.raises(
        ValueError, match="a confidence interval requires hash_count 1, not 2; use the method `overlap` instead"
    ):
        several.interval(several)
