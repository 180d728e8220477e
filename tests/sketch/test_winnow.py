"""Passage tokens: whatever two texts share that is long enough, they share a token of it."""

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
from simdoc_search.sketch import HashKey, Passages, long_text, shingle_codes
from simdoc_search.sketch.murmur3 import murmur3_x64_128
from simdoc_search.sketch.tokens import encode
from simdoc_search.sketch.winnow import Winnowing, winnowed
from tests.support.strategies import corpora, texts

TEXT = " ".join(f"word{number}" for number in range(120))


def passages(text: str, window: int = 32, analysis: Analysis | None = None, minhash: MinHash | None = None) -> set[int]:
    """The passage tokens of a text as numbers."""
    return set(fingerprint(text, analysis, minhash, passages=Passages(window)).passages.tolist())


def codes_of(strings: Sequence[str]) -> list[int]:
    """The code of each shingle, from its plain hash: 37 times that, and the hash of the number 0 to it."""
    encoded = [each.encode("utf-16-le") for each in strings]
    ends = np.cumsum([len(each) // 2 for each in encoded], dtype=np.int64)
    starts = np.concatenate(([0], ends[:-1])).astype(np.int64)
    if not encoded:
        return []
    plain, _ = murmur3_x64_128(np.frombuffer(b"".join(encoded), np.uint16), starts, ends)
    zero = np.zeros(1, np.int64)
    (added,), _ = murmur3_x64_128(np.zeros(2, np.uint16), zero, zero + 2)
    return [(int(each) * 37 + int(added)) % 2**64 >> 34 for each in plain.tolist()]


def by_hand(codes: Sequence[int], window: int) -> list[int]:
    """The definition, window by window."""
    windows = [codes[at : at + window] for at in range(max(1, len(codes) - window + 1))]
    return sorted({min(each) for each in windows if each})


# --- the stored format ---


def test_passage_tokens_are_a_stored_format() -> None:
    """A change here needs a new PASSAGES_VERSION."""
    found = fingerprint(TEXT, passages=Passages()).passages

    assert np.uint32 == found.dtype
    assert GOLDEN == encode(found, 5)
    assert GOLDEN_16 == encode(fingerprint(TEXT, passages=Passages(16)).passages, 5)


GOLDEN = ["#>S47", "$/7{F", "$6,=D", "$B+3+"]
GOLDEN_16 = [*GOLDEN, "%'JJX", "%QH,E", "'2PK4", "'Z1YA", "'~%R]", "(A%5D", "(J{*=", ")%'R[", ").;OF", ")3ST1"]


def test_a_code_is_the_top_of_the_first_value_of_a_shingle() -> None:
    """The very hash that MinHash orders and names: 37 times the plain one, and that of the number 0 to it."""
    shingle = "one two three four five"

    assert codes_of([shingle]) == [int(value) >> 34 for value in fingerprint(shingle).minima.val1]
    assert codes_of([shingle]) == [*passages(shingle)]


# --- the promise ---


WORDS = st.lists(st.integers(0, 40), max_size=90)


@given(st.data(), st.sampled_from([32, 16, 5, 1]), st.sampled_from([1, 3, 5]))
def test_a_shared_run_shares_a_token(data: st.DataObject, window: int, shingle_size: int) -> None:
    """Of w + n - 1 words, whatever stands before and after it in either text."""
    length = Passages(window).run(shingle_size)
    run = data.draw(st.lists(st.integers(0, 60), min_size=length, max_size=length))
    a, b = (
        " ".join(map(str, [*before, *run, *after]))
        for before, after in data.draw(st.tuples(st.tuples(WORDS, WORDS), st.tuples(WORDS, WORDS)))
    )
    analysis = Analysis(shingle_size=shingle_size)
    (kept,) = passages(" ".join(map(str, run)), window, analysis)

    assert kept in passages(a, window, analysis) & passages(b, window, analysis)


@pytest.mark.parametrize("run", [36, 20])
@pytest.mark.parametrize("seed", range(10))
def test_every_run_that_edits_left_whole_shares_a_token(run: int, seed: int) -> None:
    """Words replaced, taken out, put in and moved at random: all runs that are in both texts are found."""
    choose = random.Random(seed)
    before = [str(choose.randrange(300)) for _ in range(1500)]
    after = list(before)
    for _ in range(40):
        at, kind = choose.randrange(len(after)), choose.randrange(4)
        if kind == 0:
            after[at] = "new"
        elif kind == 1:
            del after[at]
        elif kind == 2:
            after.insert(at, "more")
        else:
            after[:0] = after[at : at + 50]
    settings = Passages.of_run(run, 5)
    runs = {tuple(words[at : at + run]) for words in (before,) for at in range(len(words) - run + 1)}
    runs &= {tuple(after[at : at + run]) for at in range(len(after) - run + 1)}
    whole, edited, *each = (
        set(fp.passages.tolist())
        for fp in fingerprints([" ".join(words) for words in (before, after, *runs)], passages=settings)
    )

    assert len(runs) > 100
    assert {1} == {len(codes) for codes in each}
    assert set().union(*each) <= whole & edited


def test_a_text_keeps_few_of_its_shingles() -> None:
    """About 2 of w + 1."""
    choose = random.Random(1)
    text = " ".join(str(choose.randrange(10**6)) for _ in range(20_000))

    assert 2 / 33 == pytest.approx(len(passages(text)) / 20_000, rel=0.06)
    assert 2 / 17 == pytest.approx(len(passages(text, 16)) / 20_000, rel=0.06)


# --- all at once, one by one, piece by piece ---


@given(corpora(), st.integers(1, 40), st.integers(1, 6), st.booleans())
def test_many_texts_at_once_keep_what_the_definition_says(
    corpus: list[str], window: int, shingle_size: int, short_texts: bool
) -> None:
    """For texts of any characters and lengths side by side."""
    analysis = Analysis(shingle_size=shingle_size, short_texts=short_texts)
    found = [fp.passages.tolist() for fp in fingerprints(corpus, analysis, passages=Passages(window))]
    codes = [codes_of(shingles(text, analysis)) for text in corpus]

    assert [by_hand(each, window) for each in codes] == found


CODES = st.lists(st.integers(0, 2**30 - 1) | st.integers(0, 3), max_size=60)


@given(st.lists(CODES, max_size=8), st.integers(1, 40))
def test_batches_are_what_counting_by_hand_finds(batch: list[list[int]], window: int) -> None:
    """Equal codes, texts of none, and texts as long as a window among them."""
    counts = np.array([len(each) for each in batch], np.int64)
    found = winnowed(np.array([*chain(*batch)], np.uint32), counts, window)

    assert [by_hand(each, window) for each in batch] == [each.tolist() for each in found]


@given(st.lists(CODES, max_size=8), st.integers(1, 40))
def test_pieces_are_the_whole(pieces: list[list[int]], window: int) -> None:
    """However the shingles of a text are cut, into pieces of none and of less than a window too."""
    winnowing = Winnowing(window)
    for each in pieces:
        winnowing.add(np.array(each, np.uint32))

    assert by_hand([*chain(*pieces)], window) == winnowing.codes().tolist()


@given(texts(), st.integers(1, 20), st.integers(1, 6))
def test_a_long_text_has_the_passages_of_the_whole(text: str, window: int, shingle_size: int) -> None:
    """Wherever it is cut."""
    analysis, winnowing = Analysis(shingle_size=shingle_size), Winnowing(window)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_text, "_PIECE", 7)
        patch.setattr(long_text, "_LOOK", 3)
        long_text.long_text_minima(text, analysis, MinHash(), None, winnowing)

    assert passages(text, window, analysis) == set(winnowing.codes().tolist())


# --- asking, and keys ---


@given(texts(), st.integers(1, 40))
def test_the_codes_of_all_shingles_have_the_passages_among_them(text: str, window: int) -> None:
    """Ascending, none twice, as many as there are distinct shingles, but for chance."""
    every = shingle_codes(text)

    assert passages(text, window) <= set(every.tolist())
    assert sorted(set(every.tolist())) == every.tolist()
    assert fingerprint(text).shingles == len(every)


def test_shorter_runs_are_found_as_often_as_is_said() -> None:
    """Of 5 to 35 words, asked with all their shingles: by their share of all places in a long text."""
    choose = random.Random(3)
    words = [str(choose.randrange(10**6)) for _ in range(10_000)]
    kept = passages(" ".join(words))
    codes = codes_of(shingles(" ".join(words)))
    at = np.flatnonzero([code in kept for code in codes])

    for run in (5, 8, 12, 20, 30, 35):
        starts = np.arange(len(codes) - 35)
        found = np.searchsorted(at, starts + run - 4) > np.searchsorted(at, starts)
        assert Passages().chance(run, 5) == pytest.approx(found.mean(), abs=0.02)


def test_what_is_certain_and_what_cannot_be() -> None:
    """From the promised run on it is certain; less than a shingle shares nothing."""
    assert (1.0, 1.0, 0.0, 0.0) == tuple(Passages().chance(words, 5) for words in (36, 99, 4, 0))
    assert 2 / 33 == pytest.approx(Passages().chance(5, 5))
    assert (36, 20) == (Passages().run(5), Passages(16).run(5))
    assert Passages(16) == Passages.of_run(20, 5)


def test_a_key_makes_other_passages() -> None:
    """Who does not have it cannot tell them."""
    one, other = (MinHash(key=HashKey(secret * 16)) for secret in "ab")

    assert passages(TEXT, minhash=one) == passages(TEXT, minhash=one)
    assert not passages(TEXT) & passages(TEXT, minhash=one)
    assert not passages(TEXT, minhash=other) & passages(TEXT, minhash=one)
    assert passages(TEXT, minhash=one) <= set(shingle_codes(TEXT, minhash=one).tolist())


def test_passages_are_made_only_where_they_are_asked_for() -> None:
    """A fingerprint of others is as it was."""
    assert [] == fingerprint(TEXT).passages.tolist()


@pytest.mark.parametrize("window", [0, -1, 10_001, True, 3.0, "32"])
def test_a_window_is_a_number_of_shingles(window: object) -> None:
    """Anything else is refused."""
    with pytest.raises(ValueError, match="window must be a whole number from 1 to 10,000"):
        Passages(window)  # type: ignore[arg-type]
