"""The runs of words that two texts share, against all pairs of places."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.passages.runs import common_runs, covering_runs
from simdoc_search.passages.windows import Windows

few_words = st.lists(st.sampled_from("abcd"), max_size=24)
lengths = st.integers(1, 6)
NONE = np.zeros((0, 3), np.int64)


def all_runs(a: list[str], b: list[str], length: int) -> list[list[int]]:
    """All runs of at least so many words that are as long as they can be."""
    found = []
    for i in range(len(a)):
        for j in range(len(b)):
            if i and j and a[i - 1] == b[j - 1]:
                continue
            size = 0
            while i + size < len(a) and j + size < len(b) and a[i + size] == b[j + size]:
                size += 1
            if size >= length:
                found.append([i, j, size])
    return found


@given(few_words, few_words, lengths)
def test_all_common_runs_are_found_if_none_is_too_often(a: list[str], b: list[str], length: int) -> None:
    """Each once, and as long as it can be."""
    assert all_runs(a, b, length) == common_runs(Windows(a, b), length, 1_000).tolist()


@given(few_words, few_words, lengths, st.integers(1, 9))
def test_a_run_is_found_by_a_window_that_is_not_too_often(a: list[str], b: list[str], length: int, most: int) -> None:
    """The product of how often the texts have it decides; the rest of the run may be as often as it likes."""

    def times(text: list[str], window: list[str]) -> int:
        return sum(text[at : at + length] == window for at in range(len(text)))

    def found(i: int, size: int) -> bool:
        windows = [a[at : at + length] for at in range(i, i + size - length + 1)]
        return any(times(a, window) * times(b, window) <= most for window in windows)

    expected = [run for run in all_runs(a, b, length) if found(run[0], run[2])]

    assert expected == common_runs(Windows(a, b), length, most).tolist()


@given(few_words, few_words, lengths)
def test_covering_runs_cover_what_all_runs_cover(a: list[str], b: list[str], length: int) -> None:
    """The same words of both texts, with some of the runs."""
    runs = covering_runs(Windows(a, b), length, NONE).tolist()
    every = all_runs(a, b, length)

    assert [] == [run for run in runs if run not in every]
    for side in (0, 1):
        assert covered(every, side) == covered(runs, side)


def covered(runs: list[list[int]], side: int) -> set[int]:
    """The words of one text in runs."""
    return {word for run in runs for word in range(run[side], run[side] + run[2])}


def test_a_phrase_that_is_often_in_both_texts_has_few_runs() -> None:
    """A thousand places of a phrase in each text are a thousand runs or two, not a million."""
    phrase = ["all", "rights", "reserved", "by", "the", "owner", "of", "these", "words"]
    a = [word for number in range(1_000) for word in (f"a{number}", *phrase)]
    b = [word for number in range(1_000) for word in (f"b{number}", *phrase)]
    runs = covering_runs(Windows(a, b), 5, NONE)

    assert 1_000 <= len(runs) <= 2_000
    assert 9_000 == len(covered(runs.tolist(), 0)) == len(covered(runs.tolist(), 1))
