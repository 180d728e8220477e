"""Passage tokens: if two texts share a long enough run of words, they share a token of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, MinHash, fingerprint, fingerprints
from simdoc_search.analysis.shingles import shingles
from simdoc_search.sketch import HashKey, PassageSettings, shingle_token_ids
from simdoc_search.sketch.tokens import encode
from simdoc_search.sketch.winnow import Winnowing, winnow_texts
from tests.support.strategies import corpora, texts
from tests.support.vectors import plain_value

TEXT = " ".join(f"word{number}" for number in range(120))


def passages(text: str, window: int = 32, analysis: Analysis | None = None, sketch: MinHash | None = None) -> set[int]:
    return set(fingerprint(text, analysis, sketch, passages=PassageSettings(window)).passages.tolist())


def token_ids_of(strings: Sequence[str]) -> list[int]:
    """The code of each shingle: the top 30 bits of its first value, which MinHash also uses."""
    return [plain_value(string)[1] >> 34 for string in strings]


def by_hand(token_ids: Sequence[int], window: int) -> list[int]:
    """The passage tokens by their definition, window by window."""
    windows = [token_ids[start : start + window] for start in range(max(1, len(token_ids) - window + 1))]
    return sorted({min(token_ids_of_window) for token_ids_of_window in windows if token_ids_of_window})


def test_passage_tokens_are_a_stored_format() -> None:
    """If these tokens change, the sketch `passages` needs a new version. They are computed only on request."""
    found = fingerprint(TEXT, passages=PassageSettings()).passages

    assert np.uint32 == found.dtype
    assert GOLDEN == encode(found, 5)
    assert GOLDEN_16 == encode(fingerprint(TEXT, passages=PassageSettings(16)).passages, 5)
    assert [] == fingerprint(TEXT).passages.tolist()


GOLDEN = ["#>S47", "$/7{F", "$6,=D", "$B+3+"]
GOLDEN_16 = [*GOLDEN, "%'JJX", "%QH,E", "'2PK4", "'Z1YA", "'~%R]", "(A%5D", "(J{*=", ")%'R[", ").;OF", ")3ST1"]

WORDS = st.lists(st.integers(0, 40), max_size=90)


@given(st.data(), st.sampled_from([32, 16, 5, 1]), st.sampled_from([1, 3, 5]))
def test_a_shared_run_shares_a_token(data: st.DataObject, window: int, shingle_size: int) -> None:
    """The run has w + n - 1 words. It does not matter what surrounds it in either text."""
    length = PassageSettings(window).guaranteed_run_length(shingle_size)
    run = data.draw(st.lists(st.integers(0, 60), min_size=length, max_size=length))
    a, b = (" ".join(map(str, [*data.draw(WORDS), *run, *data.draw(WORDS)])) for _ in "ab")
    analysis = Analysis(shingle_size=shingle_size)
    (kept,) = passages(" ".join(map(str, run)), window, analysis)

    assert kept in passages(a, window, analysis) & passages(b, window, analysis)


@given(corpora(), st.integers(1, 40), st.integers(1, 6), st.booleans())
def test_texts_in_one_batch_keep_what_the_definition_says(
    corpus: list[str], window: int, shingle_size: int, short_texts: bool
) -> None:
    analysis = Analysis(shingle_size=shingle_size, short_texts=short_texts)
    found = [fp.passages.tolist() for fp in fingerprints(corpus, analysis, passages=PassageSettings(window))]

    assert [by_hand(token_ids_of(shingles(text, analysis)), window) for text in corpus] == found


TOKEN_IDS = st.lists(st.integers(0, 2**30 - 1) | st.integers(0, 3), max_size=60)


@given(st.lists(TOKEN_IDS, max_size=8), st.integers(1, 40))
def test_batches_and_pieces_follow_the_definition(parts: list[list[int]], window: int) -> None:
    """The parts are treated as several texts, and as the pieces of one text."""
    counts = np.array([len(part) for part in parts], np.int64)
    batch = winnow_texts(np.array([*chain(*parts)], np.uint32), counts, window)
    winnowing = Winnowing(window)
    for part in parts:
        winnowing.add(np.array(part, np.uint32))

    assert [by_hand(part, window) for part in parts] == [token_ids.tolist() for token_ids in batch]
    assert by_hand([*chain(*parts)], window) == winnowing.token_ids().tolist()


@given(texts(), st.integers(1, 40))
def test_the_token_ids_of_all_shingles_include_the_passages(text: str, window: int) -> None:
    token_ids = shingle_token_ids(text).tolist()

    assert passages(text, window) <= set(token_ids)
    assert sorted(set(token_ids)) == token_ids
    assert fingerprint(text).shingle_count == len(token_ids)


def test_the_documented_share_of_shingles_is_kept() -> None:
    """The share is 2 / (w + 1). It determines the probability that a shorter run is found."""
    generator = random.Random(3)
    text = " ".join(str(generator.randrange(10**6)) for _ in range(10_000))
    kept = passages(text)
    kept_places = np.flatnonzero([code in kept for code in token_ids_of(shingles(text))])

    assert 2 / 33 == pytest.approx(len(kept) / 10_000, rel=0.06)
    for run in (5, 8, 12, 20, 30, 35):
        starts = np.arange(9_900)
        found = np.searchsorted(kept_places, starts + run - 4) > np.searchsorted(kept_places, starts)
        assert PassageSettings().probability_of_finding(run, 5) == pytest.approx(found.mean(), abs=0.02)


def test_the_guaranteed_run_is_found_with_certainty() -> None:
    """A run that is shorter than a shingle is never found."""
    assert (1.0, 1.0, 0.0, 0.0) == tuple(PassageSettings().probability_of_finding(words, 5) for words in (36, 99, 4, 0))
    assert 2 / 33 == pytest.approx(PassageSettings().probability_of_finding(5, 5))
    assert (36, 20) == (PassageSettings().guaranteed_run_length(5), PassageSettings(16).guaranteed_run_length(5))
    assert PassageSettings(16) == PassageSettings.for_run(20, 5)


def test_another_key_gives_other_passages() -> None:
    one, other = (MinHash(key=HashKey(secret * 16)) for secret in "ab")

    assert not passages(TEXT) & passages(TEXT, sketch=one)
    assert not passages(TEXT, sketch=other) & passages(TEXT, sketch=one)
    assert passages(TEXT, sketch=one) <= set(shingle_token_ids(TEXT, sketch=one).tolist())


@pytest.mark.parametrize("window", [0, 10_001, True, 3.0, "32"])
def test_bad_windows_are_refused(window: object) -> None:
    with pytest.raises(ValueError, match="window must be a whole number from 1 to 10,000"):
        PassageSettings(window)  # type: ignore[arg-type]
