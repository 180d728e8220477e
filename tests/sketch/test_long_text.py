"""Texts too long to be handled whole."""

from __future__ import annotations

import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.settings import Analysis, Profile
from simdoc_search.analysis.shingles import shingle_batch
from simdoc_search.analysis.words import WordBatch, word_batch
from simdoc_search.sketch import long_text
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.hashing import minima
from simdoc_search.sketch.long_text import long_text_minima
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.winnow import Passages
from tests.support.strategies import texts
from tests.support.texts import text as some_text


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a few characters, so that every text has many."""
    monkeypatch.setattr(long_text, "_PIECE", 7)
    monkeypatch.setattr(long_text, "_LOOK", 3)


@pytest.mark.usefixtures("tiny_pieces")
@given(texts(), st.integers(1, 6), st.booleans(), st.sampled_from(["nfkc_cf", "lowercase"]), st.integers(1, 3))
def test_pieces_give_what_the_whole_gives(
    text: str, shingle_size: int, short_texts: bool, profile: Profile, hash_count: int
) -> None:
    """Same values in the same buckets, and the same number of distinct shingles, wherever the text is cut."""
    analysis = Analysis(profile=profile, shingle_size=shingle_size, short_texts=short_texts)
    settings = MinHash(hash_count=hash_count, bucket_count=16)
    (whole,), (count,), _ = minima(shingle_batch(word_batch([text], analysis), analysis), settings)
    found, distinct = long_text_minima(text, analysis, settings)

    assert count == distinct
    assert whole.slots.tolist() == found.slots.tolist()
    assert whole.val1.tolist() == found.val1.tolist()
    assert whole.val2.tolist() == found.val2.tolist()


@pytest.mark.parametrize("letter", ["x", "\ufdfa", "ก", "\u0301", "_", "漢", "\U0001f1e9"])
def test_no_piece_is_long(letter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no character ends a word: a text of one character is cut as one of many words."""
    monkeypatch.setattr(long_text, "_PIECE", 1000)
    pieces: list[str] = []

    def read(texts: list[str], analysis: Analysis) -> WordBatch:
        pieces.extend(texts)
        return word_batch(texts, analysis)

    monkeypatch.setattr(long_text, "word_batch", read)
    list(long_text.shingles_in_pieces(letter * 20_000, Analysis()))

    assert letter * 20_000 == "".join(pieces)
    assert 1300 > max(map(len, pieces))


@pytest.mark.parametrize("settings", [MinHash(), MinHash(with_rotation=True), MinHash(hash_set_size=2)])
def test_a_long_text_has_the_fingerprint_of_its_words(settings: MinHash, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where long begins makes no difference, nor what stands before and after it."""
    texts = [some_text(random.Random(seed), 300) for seed in (1, 2, 3)]

    def made() -> list[tuple[list[str], list[int]]]:
        found = fingerprints(texts, None, settings, passages=Passages())
        return [(fp.tokens("lucene"), fp.passages.tolist()) for fp in found]

    before = made()
    monkeypatch.setattr(sys.modules[fingerprints.__module__], "LONG", 1000)
    monkeypatch.setattr(long_text, "_PIECE", 500)

    assert before == made()
