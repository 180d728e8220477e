"""A text that is read in pieces has the same fingerprint as if it were read at once."""

from __future__ import annotations

import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.hashes import WordsHash
from simdoc_search.analysis.settings import Analysis, Profile
from simdoc_search.analysis.words import WordBatch, word_batch
from simdoc_search.sketch import long_text
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.long_text import long_text_minima
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.sketches import UniversalSketch, XorSketch
from simdoc_search.sketch.winnow import PassageSettings, Winnowing
from tests.support.strategies import texts
from tests.support.texts import text as some_text


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cuts texts into pieces of a few characters, so that every text has many pieces."""
    monkeypatch.setattr(long_text, "_PIECE_LENGTH", 7)
    monkeypatch.setattr(long_text, "_LOOKAHEAD_LENGTH", 3)


@pytest.mark.usefixtures("tiny_pieces")
@given(texts(), st.integers(1, 6), st.booleans(), st.sampled_from(["nfkc_cf", "lowercase"]), st.integers(1, 20))
def test_pieces_have_the_minima_and_passages_of_the_whole(
    text: str, shingle_size: int, short_texts: bool, profile: Profile, window: int
) -> None:
    """The number of distinct shingles and the hash of the words are also the same, wherever the text is cut."""
    analysis = Analysis(profile=profile, shingle_size=shingle_size, short_texts=short_texts)
    minhash, hashing, winnowing = MinHash(hash_count=2, bucket_count=16), WordsHash(), Winnowing(window)
    (whole,) = fingerprints([text], analysis, minhash, with_words_hash=True, passages=PassageSettings(window))
    found, count = long_text_minima(text, analysis, minhash, hashing, winnowing)

    assert whole.shingle_count == count
    assert whole.words_hash == hashing.hexdigest()
    assert whole.passages.tolist() == winnowing.token_ids().tolist()
    for name in ("slots", "val1", "val2"):
        assert getattr(whole.minima, name).tolist() == getattr(found, name).tolist()


@pytest.mark.parametrize("letter", ["x", "\ufdfa", "ก", "\u0301", "_", "漢", "\U0001f1e9"])
def test_no_piece_is_long(letter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces are limited even if no character ends a word."""
    monkeypatch.setattr(long_text, "_PIECE_LENGTH", 1000)
    pieces: list[str] = []

    def read(texts: list[str], analysis: Analysis) -> WordBatch:
        pieces.extend(texts)
        return word_batch(texts, analysis)

    monkeypatch.setattr(long_text, "word_batch", read)
    list(long_text.shingles_in_pieces(letter * 20_000, Analysis()))

    assert letter * 20_000 == "".join(pieces)
    assert 1300 > max(map(len, pieces))


@pytest.mark.parametrize(
    "minhash",
    [MinHash(), MinHash(with_rotation=True), MinHash(hash_set_size=2), XorSketch(8), UniversalSketch(8)],
    ids=str,
)
def test_the_limit_of_long_texts_makes_no_difference(minhash: Sketch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pieces of a text may have no words, and a text may have none at all."""
    batch = [some_text(random.Random(seed), 300) for seed in (1, 2, 3)]
    batch += ["- " * 800 + batch[0], batch[0] + " -" * 800, "- " * 800]

    def tokens() -> list[tuple[list[int], list[int], str]]:
        found = fingerprints(batch, None, minhash, passages=PassageSettings(), with_words_hash=True)
        return [(fp.minima.val1.tolist(), fp.passages.tolist(), fp.words_hash) for fp in found]

    before = tokens()
    assert [] == before[-1][0]
    monkeypatch.setattr(sys.modules[fingerprints.__module__], "MIN_LONG_TEXT_LENGTH", 1000)
    monkeypatch.setattr(long_text, "_PIECE_LENGTH", 500)

    assert before == tokens()
