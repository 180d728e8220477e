"""Texts that were made to win buckets are told from honest ones."""

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


@pytest.mark.parametrize("minhash", [MinHash(), MinHash(with_rotation=True), SMALL, KEYED], ids=repr)
@pytest.mark.slow
def test_minima_of_honest_texts_are_as_expected(minhash: MinHash) -> None:
    """The mean of many is 0, and they vary less than a normal distribution: six deviations are out of reach."""
    found = np.array([deviation(fp) for fp in fingerprints(honest_texts(400), None, minhash)])

    assert abs(found.mean()) < 4 / 400**0.5
    assert found.std() < 1.1
    assert found.min() > -5


def test_reference_texts_are_plausible() -> None:
    """Real texts of many languages, with repeats and boilerplate; also by characters, and one without words."""
    texts = [*reference_texts().values(), "", "one", "one word " * 5000]
    for analysis in (Analysis(), Analysis(unit="character"), Analysis(shingle_size=1)):
        assert [] == [each for each, fp in zip(texts, fingerprints(texts, analysis), strict=True) if implausible(fp)]


@pytest.mark.parametrize("around", [0, 400, 2000])
def test_words_that_win_every_bucket_are_seen(around: int) -> None:
    """Alone, and within a text of others' words."""
    text = f"{some_text(random.Random(1), around)} {crafted_words(SMALL)}"

    assert implausible(fingerprint(text, None, SMALL))


@pytest.mark.parametrize(("buckets", "seen"), [(512, True), (200, True), (50, False)])
def test_how_many_buckets_must_be_won_to_be_seen(buckets: int, seen: bool) -> None:
    """A third of 512, as the docstring says; a tenth is not told from chance."""
    words = crafted_words(MinHash(), buckets)
    text = f"{some_text(random.Random(2), 1500)} {words}"

    assert seen == implausible(fingerprint(text))


def test_a_short_text_is_never_accused() -> None:
    """Even one whose every shingle has the smallest value that there is."""
    fp = fingerprint(" ".join(map(str, range(47 + 4))))
    least = replace(fp.minima, val2=fp.minima.slots.astype(np.uint64) * np.uint64(MinHash().bucket_size << 32))

    assert 47 == fp.shingles
    assert -LIMIT < deviation(replace(fp, minima=least)) < -5


def test_with_a_key_nothing_can_be_made_to_win() -> None:
    """Words that win without the key are honest words with it, and so they look."""
    assert not implausible(fingerprint(crafted_words(SMALL), None, KEYED))


def test_crafted_documents_are_named_by_their_ids() -> None:
    """Of many texts, those that are to be looked at, in their order."""
    words = crafted_words(SMALL)
    documents = [("a", words), ("b", some_text(random.Random(1), 300)), ("c", ""), ("d", f"once more {words}")]

    assert ["a", "d"] == list(crafted(iter(documents), Settings(minhash=SMALL)))
    assert [] == list(crafted([], Settings()))
