"""Hashes of texts and of their words."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.hashes import WordsHash, hash_joined_words, join_words, text_hash
from simdoc_search.analysis.words import word_batch, words
from simdoc_search.sketch import fingerprints
from tests.support.strategies import analyses, corpora


def words_hash(text: str) -> str:
    """The words hash that a store keeps."""
    return next(fingerprints([text], with_words_hash=True)).words_hash


def test_hashes_are_a_stored_format() -> None:
    """Both hashes are BLAKE2b of UTF-8 with 16 bytes. Other programs read these values in the index."""
    same_words = hashlib.blake2b("straße 漢 字".casefold().encode(), digest_size=16).hexdigest()

    assert hashlib.blake2b("Straße, 漢字!".encode(), digest_size=16).hexdigest() == text_hash("Straße, 漢字!")
    assert same_words == words_hash("Straße, 漢字!")
    assert "cae66941d9efbd404e4d88758ea67670" == text_hash("")
    assert "" == next(fingerprints(["computed only on request"])).words_hash


@given(corpora(), analyses())
def test_the_words_hash_is_that_of_the_words_joined_by_a_space(batch: list[str], analysis: Analysis) -> None:
    """This is checked for texts in one batch, and for one text in several pieces."""
    expected = [text_hash(" ".join(words(text, analysis))) for text in batch]
    hashing = WordsHash()
    for text in batch:
        hashing.add(word_batch([text], analysis))

    assert expected == hash_joined_words(join_words(word_batch(batch, analysis)))
    assert expected == [fp.words_hash for fp in fingerprints(batch, analysis, with_words_hash=True)]
    assert text_hash(" ".join(word for text in batch for word in words(text, analysis))) == hashing.hexdigest()


@pytest.mark.parametrize(
    "other", ["the quick, brown fox", "THE QUICK BROWN FOX", "\tThe…quick “brown” fox!\n", "The ｑuick brown fox"]
)
def test_only_the_text_hash_depends_on_case_and_punctuation(other: str) -> None:
    assert words_hash("The quick brown fox") == words_hash(other)
    assert text_hash("The quick brown fox") != text_hash(other)


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_distinct_values_are_sorted(values: list[int]) -> None:
    result = distinct(np.array(values, np.uint64))

    assert sorted(set(values)) == result.tolist()
    assert np.uint64 == result.dtype
