"""Which windows of two texts are equal, against comparing them word by word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.passages.windows import Windows

few_words = st.lists(st.sampled_from("abc"), max_size=24)
lengths = st.integers(1, 12)


@given(few_words, few_words, lengths)
def test_windows_of_one_class_have_the_same_words(a: list[str], b: list[str], length: int) -> None:
    """In one text and in both, and only they; a text has a window for each word that so many words follow."""
    classes = np.concatenate(Windows(a, b).classes(length)).tolist()
    windows = [text[at : at + length] for text in (a, b) for at in range(len(text) - length + 1)]

    assert len(windows) == len(classes)
    assert [[one == other for one in windows] for other in windows] == [
        [one == other for one in classes] for other in classes
    ]


def equal(a: list[str], b: list[str], i: int, j: int, step: int) -> int:
    """How many words are equal from i and j on, in steps of 1 or -1."""
    found = 0
    while 0 <= i < len(a) and 0 <= j < len(b) and a[i] == b[j]:
        found, i, j = found + 1, i + step, j + step
    return found


@given(few_words, few_words)
def test_equal_words_are_counted_to_both_sides(a: list[str], b: list[str]) -> None:
    """From any word of the one and any word of the other text, to the end of what is equal and no further."""
    windows = Windows(a, b)
    pairs = [(i, j) for i in range(len(a)) for j in range(len(b))]
    i, j = np.array(pairs, np.int64).reshape(-1, 2).T

    assert [equal(a, b, *pair, 1) for pair in pairs] == windows.after(i, j).tolist()
    assert [equal(a, b, x - 1, y - 1, -1) for x, y in pairs] == windows.before(i, j).tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 500])
def test_a_text_equals_itself_to_its_end(size: int) -> None:
    """Whether its length is a power of two or not."""
    text = [str(number) for number in range(size)]
    begin = np.zeros(1, np.int64)

    assert [size] == Windows(text, text).after(begin, begin).tolist()
    assert [size] == Windows(text, text).before(begin + size, begin + size).tolist()
