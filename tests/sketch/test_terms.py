"""What equal terms of Lucene's filter say of two texts, for all its options."""

from __future__ import annotations

import random

import numpy as np
import pytest

from simdoc_search import Analysis, MinHash, fingerprint
from simdoc_search.passages.exact import measures
from simdoc_search.sketch.terms import codes_of_terms, own_values, shared_and_union_of_terms
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
    MinHash(hash_count=128, bucket_count=1),
    MinHash(hash_count=3, bucket_count=50, hash_set_size=3),
]


def pairs(count: int, words: int) -> list[tuple[str, str]]:
    """Texts of many overlaps, some with words that they repeat."""
    rng = random.Random(11)
    made = [overlapping(rng, words, rng.uniform(0.1, 0.9)) for _ in range(count)]
    return [(a + " " + a[: len(a) // 3], b) for a, b in made[::2]] + made[1::2]


@pytest.mark.parametrize("minhash", OPTIONS, ids=str)
def test_the_estimate_has_no_bias(minhash: MinHash) -> None:
    """Over pairs of texts; repeats make Lucene's sets lack a value, which changes nothing."""
    errors = []
    for a, b in pairs(60, 600):
        true = measures(a, b, ANALYSIS).jaccard
        errors.append(fingerprint(a, ANALYSIS, minhash).overlap(fingerprint(b, ANALYSIS, minhash)) - true)

    assert abs(np.mean(errors)) < 3.5 * np.std(errors) / len(errors) ** 0.5
    assert np.std(errors) < 0.05


@pytest.mark.parametrize("minhash", OPTIONS, ids=str)
def test_the_terms_are_among_those_of_the_filter(minhash: MinHash) -> None:
    """As many as codes; all of them, where a bucket keeps one value. Equal codes are equal terms."""
    for a, b in pairs(6, 200):
        made = [fingerprint(each, ANALYSIS, minhash) for each in (a, b)]
        values = [own_values(each.minima, minhash) for each in made]
        codes = [codes_of_terms(each, minhash) for each in values]
        terms = [minhash.lucene_terms(each) for each in values]
        shared, union = shared_and_union_of_terms(codes[0], codes[1], minhash)

        assert [len(each) for each in codes] == [len(each) for each in terms]
        assert all(set(some) <= set(each.tokens("lucene")) for some, each in zip(terms, made, strict=True))
        if minhash.hash_set_size == 1:
            assert all(set(some) == set(each.tokens("lucene")) for some, each in zip(terms, made, strict=True))
        assert len(set(terms[0]) & set(terms[1])) == len(np.intersect1d(codes[0], codes[1]))
        assert shared <= len(set(terms[0]) & set(made[1].tokens("lucene")))
        assert union >= max(map(len, codes))


def test_usual_options_estimate_as_tokens_do() -> None:
    """The same counts as our own tokens give, but for hashes that are equal by chance."""
    for a, b in pairs(6, 600):
        rotated, usual = MinHash(with_rotation=True), MinHash()
        codes = [
            codes_of_terms(own_values(fingerprint(each, ANALYSIS, rotated).minima, rotated), rotated) for each in (a, b)
        ]
        found = shared_and_union_of_terms(codes[0], codes[1], rotated)
        assert found[0] / found[1] == pytest.approx(
            fingerprint(a, ANALYSIS, usual).overlap(fingerprint(b, ANALYSIS, usual)), abs=0.002
        )


def test_an_interval_needs_one_hash_function() -> None:
    """Several draw the same shingles again, so the number of buckets does not say how sure they are."""
    a, b = (fingerprint(each, ANALYSIS, MinHash(bucket_count=100)) for each in pairs(1, 300)[0])
    low, high = a.interval(b)
    assert low < a.overlap(b) < high

    several = fingerprint("one two three four five six", ANALYSIS, MinHash(hash_count=2))
    with pytest.raises(ValueError, match="hash_count is 2, and an interval is known for 1 only; use overlap"):
        several.interval(several)
