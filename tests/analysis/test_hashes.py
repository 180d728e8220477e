"""Which texts are the same, and which have the same words."""

from __future__ import annotations

import hashlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.hashes import WordsHash, joined_words_of, text_hash, words_hashes
from simdoc_search.analysis.settings import Profile
from simdoc_search.analysis.words import word_batch, words
from simdoc_search.sketch import fingerprints, long_text
from simdoc_search.sketch.fingerprint import fingerprint
from tests.support.strategies import analyses, corpora, texts


def words_hash(text: str) -> str:
    """What a store keeps of a text."""
    return next(fingerprints([text], words_hash=True)).words_hash


def test_hashes_are_a_stored_format() -> None:
    """BLAKE2b with 16 bytes of the UTF-8; other programs find these very values in the index."""
    same_words = hashlib.blake2b("straße 漢 字".casefold().encode(), digest_size=16).hexdigest()

    assert hashlib.blake2b("Straße, 漢字!".encode(), digest_size=16).hexdigest() == text_hash("Straße, 漢字!")
    assert same_words == words_hash("Straße, 漢字!")
    assert "cae66941d9efbd404e4d88758ea67670" == text_hash("")


@given(corpora(), analyses())
def test_the_words_hash_is_that_of_the_words_joined_by_a_space(batch: list[str], analysis: Analysis) -> None:
    """However many texts are hashed together, of whatever characters."""
    expected = [text_hash(" ".join(words(text, analysis))) for text in batch]

    assert expected == words_hashes(joined_words_of(word_batch(batch, analysis)))
    assert expected == [fp.words_hash for fp in fingerprints(batch, analysis, words_hash=True)]


@given(st.lists(texts(), max_size=5), st.sampled_from(["nfkc_cf", "lowercase"]))
def test_words_can_come_in_pieces(pieces: list[str], profile: Profile) -> None:
    """As those of a text too long to be handled whole do; pieces without words change nothing."""
    analysis = Analysis(profile=profile)
    hashing = WordsHash()
    for piece in pieces:
        hashing.add(word_batch([piece], analysis))

    assert text_hash(" ".join(word for piece in pieces for word in words(piece, analysis))) == hashing.hexdigest()


@given(st.lists(texts(), min_size=1, max_size=8).map("".join))
def test_a_long_text_has_the_hash_of_its_words(text: str) -> None:
    """Wherever it is cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[fingerprints.__module__], "LONG", 1)
        patch.setattr(long_text, "_PIECE", 7)
        patch.setattr(long_text, "_LOOK", 3)
        cut = words_hash(text)

    assert words_hash(text) == cut


@pytest.mark.parametrize(
    "other", ["the quick, brown fox", "THE QUICK BROWN FOX", "\tThe…quick “brown” fox!\n", "The ｑuick brown fox"]
)
def test_case_and_punctuation_leave_the_words_hash_alone(other: str) -> None:
    """The text hash tells them apart."""
    assert words_hash("The quick brown fox") == words_hash(other)
    assert text_hash("The quick brown fox") != text_hash(other)


@pytest.mark.parametrize("other", ["brown quick the fox", "the quick brown fox fox", "the quick brownfox", ""])
def test_other_words_have_another_hash(other: str) -> None:
    """Their order, number and borders count."""
    assert words_hash("The quick brown fox") != words_hash(other)


def test_who_does_not_ask_gets_no_words_hash() -> None:
    """A query needs none."""
    assert "" == fingerprint("The quick brown fox").words_hash
