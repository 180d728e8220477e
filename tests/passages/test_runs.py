"""Windows and runs of two texts, compared with their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.passages import windows as module
from simdoc_search.passages.runs import NO_RUNS, add_covering_runs, find_common_runs
from simdoc_search.passages.windows import Ints, Windows

few_words = st.lists(st.sampled_from("abcd"), max_size=24)
lengths = st.integers(1, 6)


@given(few_words, few_words, st.integers(1, 12))
def test_windows_of_one_class_are_equal(a: list[str], b: list[str], length: int) -> None:
    """Windows of different classes differ."""
    classes = np.concatenate(Windows(a, b).classes(length)).tolist()
    windows = [text[index : index + length] for text in (a, b) for index in range(len(text) - length + 1)]

    assert len(windows) == len(classes)
    assert [[one == other for one in windows] for other in windows] == [
        [one == other for one in classes] for other in classes
    ]


@given(few_words, few_words, st.integers(1, 12))
def test_windows_in_only_one_text_need_not_be_distinguished(a: list[str], b: list[str], length: int) -> None:
    of_a, of_b = (classes.tolist() for classes in Windows(a, b, only_shared=True).classes(length))

    assert [[a[i : i + length] == b[j : j + length] for j in range(len(of_b))] for i in range(len(of_a))] == [
        [one == other for other in of_b] for one in of_a
    ]


def test_only_windows_that_may_be_shared_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `only_shared`, 40,000 windows are numbered: 10,000 at each of four lengths."""
    sizes: list[int] = []
    number_pairs = module._number_pairs

    def count_pairs(first: Ints, second: Ints) -> Ints:
        sizes.append(len(first))
        return number_pairs(first, second)

    monkeypatch.setattr(module, "_number_pairs", count_pairs)
    draw = np.random.default_rng(1)
    long, short = (draw.integers(0, 500, size).tolist() for size in (10_000, 100))
    Windows(long, short, only_shared=True).classes(16)

    assert 2_000 > sum(sizes)


def equal_words(a: list[str], b: list[str], i: int, j: int, step: int) -> int:
    """How many words are equal, beginning with words i and j, in steps of 1 or -1."""
    count = 0
    while 0 <= i < len(a) and 0 <= j < len(b) and a[i] == b[j]:
        count, i, j = count + 1, i + step, j + step
    return count


@given(few_words, few_words)
def test_equal_words_are_counted_in_both_directions(a: list[str], b: list[str]) -> None:
    """The count may begin at any two words."""
    windows = Windows(a, b, only_shared=True)
    pairs = [(i, j) for i in range(len(a)) for j in range(len(b))]
    i, j = np.array(pairs, np.int64).reshape(-1, 2).T

    assert [equal_words(a, b, *pair, 1) for pair in pairs] == windows.count_equal_after(i, j).tolist()
    assert [equal_words(a, b, x - 1, y - 1, -1) for x, y in pairs] == windows.count_equal_before(i, j).tolist()


def all_runs(a: list[str], b: list[str], length: int) -> list[list[int]]:
    """All runs of at least `length` words, each as long as possible."""
    starts = [(i, j) for i in range(len(a)) for j in range(len(b)) if not (i and j and a[i - 1] == b[j - 1])]
    runs = [[i, j, equal_words(a, b, i, j, 1)] for i, j in starts]
    return [run for run in runs if run[2] >= length]


@given(few_words, few_words, lengths, st.sampled_from([1, 2, 4, 9, 1_000]))
def test_a_run_is_found_by_a_rare_window(a: list[str], b: list[str], length: int, max_pairs: int) -> None:
    """A rare window occurs in at most `max_pairs` pairs of places."""

    def times(text: list[str], window: list[str]) -> int:
        return sum(text[index : index + length] == window for index in range(len(text)))

    def has_rare_window(i: int, size: int) -> bool:
        windows = [a[index : index + length] for index in range(i, i + size - length + 1)]
        return any(times(a, window) * times(b, window) <= max_pairs for window in windows)

    expected = [run for run in all_runs(a, b, length) if has_rare_window(run[0], run[2])]

    assert expected == find_common_runs(Windows(a, b, only_shared=True), length, max_pairs).tolist()


def covered(runs: list[list[int]], side: int) -> set[int]:
    """The words of one text that are in runs."""
    return {word for run in runs for word in range(run[side], run[side] + run[2])}


@given(few_words, few_words, lengths)
def test_covering_runs_cover_all_words_of_all_runs(a: list[str], b: list[str], length: int) -> None:
    """Every covering run is one of these runs."""
    runs = add_covering_runs(Windows(a, b, only_shared=True), length, NO_RUNS).tolist()
    expected = all_runs(a, b, length)

    assert [] == [run for run in runs if run not in expected]
    assert [covered(expected, side) for side in (0, 1)] == [covered(runs, side) for side in (0, 1)]


def test_a_frequent_phrase_gives_few_runs() -> None:
    """A phrase that occurs 1,000 times in each text gives at most 2,000 runs."""
    phrase = ["all", "rights", "reserved", "by", "the", "owner", "of", "these", "words"]
    a, b = ([word for number in range(1_000) for word in (f"{side}{number}", *phrase)] for side in "ab")
    runs = add_covering_runs(Windows(a, b, only_shared=True), 5, NO_RUNS)

    assert 1_000 <= len(runs) <= 2_000
    assert 9_000 == len(covered(runs.tolist(), 0)) == len(covered(runs.tolist(), 1))
