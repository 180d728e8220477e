"""Exact overlaps are those of the sets of shingles, for texts of any kind and length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from simdoc_search import Analysis
from simdoc_search.duplicates.verification import Verifier, shingle_hashes
from simdoc_search.passages.exact_overlap import shingle_set
from simdoc_search.sketch.long_text import MIN_LONG_TEXT_LENGTH
from tests.support.texts import text

KEY = (1, 2)


def verifier(texts: Sequence[str | None], read: list[int] | None = None, **options: Any) -> Verifier:
    """Return a verifier for texts. It appends the documents that it reads to `read`."""

    def read_texts(numbers: Sequence[int]) -> Iterator[tuple[int, str | None]]:
        if read is not None:
            read.extend(numbers)
        return ((number, texts[number]) for number in numbers)

    return Verifier(read_texts, Analysis(), **options)


def shared(made: Verifier, *pairs: tuple[int, int]) -> list[tuple[int, ...]]:
    first, second = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    return list(zip(*(counts.tolist() for counts in made.count_shingles(first, second)), strict=True))


def test_counts_of_shared_shingles_are_those_of_the_sets() -> None:
    whole = text(random.Random(1), 400)
    odd = ["", "...", "one two", "Füße 漢字 \U0001f600 \ud800 five six"]
    texts = [*odd, whole, whole[:900], whole.upper(), whole[300:]]
    sets = [shingle_set(each) for each in texts]
    pairs = [(a, b) for a in range(len(texts)) for b in range(len(texts))]

    assert [(len(sets[a] & sets[b]), len(sets[a]), len(sets[b])) for a, b in pairs] == shared(verifier(texts), *pairs)


@pytest.mark.parametrize("analysis", [Analysis(unit="character"), Analysis(shingle_size=2, profile="lowercase")])
def test_shingles_are_those_of_the_analysis(analysis: Analysis) -> None:
    texts = ["The quick brown fox", "the quick red fox jumps"]
    a, b = shingle_hashes(texts, analysis, KEY)
    sets = [shingle_set(each, analysis) for each in texts]

    assert [len(each) for each in sets] == [len(a), len(b)]
    assert len(sets[0] & sets[1]) == len(np.intersect1d(a, b))


def test_a_long_text_that_is_read_in_pieces_has_the_same_shingles(monkeypatch: pytest.MonkeyPatch) -> None:
    words = text(random.Random(2), 3000)
    (whole,) = shingle_hashes([words], Analysis(), KEY)
    monkeypatch.setattr("simdoc_search.duplicates.verification.MIN_LONG_TEXT_LENGTH", 1000)
    monkeypatch.setattr("simdoc_search.sketch.long_text._PIECE_LENGTH", 700)

    assert len(words) < MIN_LONG_TEXT_LENGTH
    assert whole.tolist() == shingle_hashes([words], Analysis(), KEY)[0].tolist()


def test_the_counts_of_a_pair_without_a_text_are_minus_one() -> None:
    texts = ["one two three", None, "one two three"]

    assert [(-1, -1, -1), (1, 1, 1)] == shared(verifier(texts), (0, 1), (0, 2))


@pytest.mark.parametrize(("cache_bytes", "reads"), [(1 << 20, 4), (0, 6)])
def test_a_text_is_read_once_while_it_is_in_the_cache(cache_bytes: int, reads: int) -> None:
    read: list[int] = []
    made = verifier(["a b c d e f", "a b c d e g"] * 2, read, cache_bytes=cache_bytes)

    assert [(1, 2, 2)] * 3 == [*shared(made, (0, 1)), *shared(made, (2, 3)), *shared(made, (0, 1))]
    assert reads == len(read)


@pytest.mark.parametrize("shingles_at_once", [1, 3, 1000])
def test_counts_do_not_depend_on_the_pairs_that_are_compared_together(
    shingles_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simdoc_search.duplicates.verification._SHINGLES_AT_ONCE", shingles_at_once)
    texts = ["a b c d e f", "a b c d e g", "", "a b c d e f g h"]
    pairs = [(a, b) for a in range(4) for b in range(4)]
    made = verifier(texts, shingle_counts=np.array([2, 2, 0, 4]))

    assert shared(verifier(texts), *pairs) == shared(made, *pairs)
