"""Texts that were crafted to win buckets are told from honest ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from simdoc_search import Analysis, MinHash, fingerprint, fingerprints
from simdoc_search.sketch import implausible
from simdoc_search.sketch.crafted_text import LIMIT, crafted, deviation
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.settings import Settings
from tests.support.attack import crafted_words
from tests.support.texts import text as some_text
from tests.support.vectors import reference_texts

SMALL = MinHash(bucket_count=64)
KEYED = replace(SMALL, key=HashKey("a secret key of 30 characters."))


def honest_texts(count: int) -> Iterator[str]:
    """Random words, from one to some thousand of them."""
    generator = random.Random(11)
    for _ in range(count):
        number = round(10 ** generator.uniform(0, 3.5))
        yield " ".join(f"w{generator.randrange(10**6)}" for _ in range(number))


@pytest.mark.slow
@pytest.mark.parametrize("minhash", [MinHash(), MinHash(with_rotation=True), SMALL, KEYED])
def test_minima_of_honest_texts_are_as_expected(minhash: MinHash) -> None:
    """Their mean is 0, and they vary less than a normal distribution, so six deviations are out of reach."""
    found = np.array([deviation(fp) for fp in fingerprints(honest_texts(200), None, minhash)])

    assert abs(found.mean()) < 4 / 200**0.5
    assert found.std() < 1.15
    assert found.min() > -5


def test_reference_texts_are_plausible() -> None:
    """Real texts of many languages, with repeats and boilerplate; also by characters, and one without words."""
    texts = [*reference_texts().values(), "", "one", "one word " * 5000]
    for analysis in (Analysis(), Analysis(unit="character"), Analysis(shingle_size=1)):
        assert [] == [text for text, fp in zip(texts, fingerprints(texts, analysis), strict=True) if implausible(fp)]


def test_words_that_win_every_bucket_are_detected() -> None:
    """Alone, and within a text of other words; not with a key that the attacker lacks."""
    words = crafted_words(SMALL)

    for others in (0, 400, 2000):
        assert implausible(fingerprint(f"{some_text(random.Random(1), others)} {words}", None, SMALL))
    assert not implausible(fingerprint(words, None, KEYED))


@pytest.mark.parametrize(("buckets", "detected"), [(200, True), (50, False)])
def test_a_third_of_512_buckets_must_be_won(buckets: int, detected: bool) -> None:
    """As documented; a tenth cannot be told from chance."""
    text = f"{some_text(random.Random(2), 1500)} {crafted_words(MinHash(), buckets)}"

    assert detected == implausible(fingerprint(text))


def test_a_short_text_is_never_accused() -> None:
    """Even if each shingle has the smallest value that exists."""
    fp = fingerprint(" ".join(map(str, range(47 + 4))))
    least = replace(fp.minima, val2=fp.minima.slots.astype(np.uint64) * np.uint64(MinHash().bucket_size << 32))

    assert 47 == fp.shingles
    assert -LIMIT < deviation(replace(fp, minima=least)) < -5


def test_crafted_documents_are_listed_by_id() -> None:
    words = crafted_words(SMALL)
    documents = [("a", words), ("b", some_text(random.Random(1), 300)), ("c", ""), ("d", f"once more {words}")]

    assert ["a", "d"] == list(crafted(iter(documents), Settings(minhash=SMALL)))
    assert [] == list(crafted([], Settings()))
