"""Texts whose words were chosen to win buckets are detected, and honest texts are not."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from simdoc_search import Analysis, MinHash, fingerprint, fingerprints
from simdoc_search.sketch import is_implausible
from simdoc_search.sketch.adversarial_text import MAX_STANDARD_DEVIATIONS, adversarial_text_ids, compute_deviation
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.settings import Settings
from tests.support.adversarial_words import adversarial_words
from tests.support.texts import text as some_text
from tests.support.vectors import reference_texts

SMALL = MinHash(bucket_count=64)
KEYED = replace(SMALL, key=HashKey("a secret key of 30 characters."))


def honest_texts(count: int) -> Iterator[str]:
    """Texts of one to about 3,000 random words."""
    generator = random.Random(11)
    for _ in range(count):
        number = round(10 ** generator.uniform(0, 3.5))
        yield " ".join(f"w{generator.randrange(10**6)}" for _ in range(number))


@pytest.mark.slow
@pytest.mark.parametrize("minhash", [MinHash(), MinHash(with_rotation=True), SMALL, KEYED])
def test_minima_of_honest_texts_are_as_expected(minhash: MinHash) -> None:
    """The mean is 0, and the values vary less than a normal distribution, so six deviations do not occur."""
    found = np.array([compute_deviation(fp) for fp in fingerprints(honest_texts(200), None, minhash)])

    assert abs(found.mean()) < 4 / 200**0.5
    assert found.std() < 1.15
    assert found.min() > -5


def test_reference_texts_are_plausible() -> None:
    """They are real texts in many languages, with repeats and boilerplate. They are also split into characters."""
    texts = [*reference_texts().values(), "", "one", "one word " * 5000]
    for analysis in (Analysis(), Analysis(unit="character"), Analysis(shingle_size=1)):
        assert [] == [text for text, fp in zip(texts, fingerprints(texts, analysis), strict=True) if is_implausible(fp)]


def test_words_that_win_every_bucket_are_detected() -> None:
    """The words are detected alone and in a longer text. With a key that the attacker lacks, they are harmless."""
    words = adversarial_words(SMALL)

    for others in (0, 400, 2000):
        assert is_implausible(fingerprint(f"{some_text(random.Random(1), others)} {words}", None, SMALL))
    assert not is_implausible(fingerprint(words, None, KEYED))


@pytest.mark.parametrize(("buckets", "detected"), [(200, True), (50, False)])
def test_a_third_of_512_buckets_must_be_won(buckets: int, detected: bool) -> None:
    """A tenth of the buckets cannot be distinguished from chance."""
    text = f"{some_text(random.Random(2), 1500)} {adversarial_words(MinHash(), buckets)}"

    assert detected == is_implausible(fingerprint(text))


def test_a_short_text_is_never_reported() -> None:
    """This holds even if each shingle has the smallest possible value."""
    fp = fingerprint(" ".join(map(str, range(47 + 4))))
    smallest = replace(fp.minima, val2=fp.minima.slots.astype(np.uint64) * np.uint64(MinHash().bucket_size << 32))

    assert 47 == fp.shingle_count
    assert -MAX_STANDARD_DEVIATIONS < compute_deviation(replace(fp, minima=smallest)) < -5


def test_adversarial_documents_are_listed_by_id() -> None:
    words = adversarial_words(SMALL)
    documents = [("a", words), ("b", some_text(random.Random(1), 300)), ("c", ""), ("d", f"once more {words}")]

    assert ["a", "d"] == list(adversarial_text_ids(iter(documents), Settings(sketch=SMALL)))
    assert [] == list(adversarial_text_ids([], Settings()))
