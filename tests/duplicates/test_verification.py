"""Exact overlaps: those of sets of shingles, for texts of any kind and length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from simdoc_search import Analysis
from simdoc_search.duplicates.verification import Verifier, shingle_numbers
from simdoc_search.passages.exact import shingle_set
from simdoc_search.sketch.long_text import LONG
from tests.support.texts import text

KEY = (1, 2)


def verifier(texts: Sequence[str | None], asked: list[int] | None = None, **options: int) -> Verifier:
    """A verifier of these texts, which notes who was asked for."""

    def of(who: Sequence[int]) -> Iterator[tuple[int, str | None]]:
        if asked is not None:
            asked.extend(who)
        return ((each, texts[each]) for each in who)

    return Verifier(of, Analysis(), **options)


def shared(made: Verifier, *pairs: tuple[int, int]) -> list[tuple[int, ...]]:
    first, second = (np.array([each[side] for each in pairs], np.int64) for side in (0, 1))
    return list(zip(*(each.tolist() for each in made.shared(first, second)), strict=True))


def test_shared_shingles_are_those_of_the_sets() -> None:
    """Of texts of none to hundreds of words, each with each."""
    rng = random.Random(1)
    whole = text(rng, 400)
    texts = [
        "",
        "...",
        "one two",
        "Füße 漢字 \U0001f600 \ud800 five six",
        whole,
        whole[:900],
        whole.upper(),
        whole[300:],
    ]
    sets = [shingle_set(each) for each in texts]
    pairs = [(a, b) for a in range(len(texts)) for b in range(len(texts))]

    assert [(len(sets[a] & sets[b]), len(sets[a]), len(sets[b])) for a, b in pairs] == shared(verifier(texts), *pairs)


@pytest.mark.parametrize("analysis", [Analysis(unit="character"), Analysis(shingle_size=2, profile="lowercase")])
def test_shingles_are_those_of_the_analysis(analysis: Analysis) -> None:
    """As many as the set has, and as many in common."""
    texts = ["The quick brown fox", "the quick red fox jumps"]
    a, b = shingle_numbers(texts, analysis, KEY)
    sets = [shingle_set(each, analysis) for each in texts]

    assert [len(each) for each in sets] == [len(a), len(b)]
    assert len(sets[0] & sets[1]) == len(np.intersect1d(a, b))


def test_a_long_text_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the shingles that it has as a whole."""
    words = text(random.Random(2), 3000)
    (whole,) = shingle_numbers([words], Analysis(), KEY)
    monkeypatch.setattr("simdoc_search.duplicates.verification.LONG", 1000)
    monkeypatch.setattr("simdoc_search.sketch.long_text._PIECE", 700)

    assert len(words) < LONG
    assert whole.tolist() == shingle_numbers([words], Analysis(), KEY)[0].tolist()


def test_a_text_that_is_not_to_be_had_is_said() -> None:
    """Its pairs have -1, the others are as they are."""
    texts = ["one two three", None, "one two three"]

    assert [(-1, -1, -1), (1, 1, 1)] == shared(verifier(texts), (0, 1), (0, 2))


def test_a_text_is_asked_for_once_while_it_is_remembered() -> None:
    """All that fit are; of no room at all, each pair asks again, with the same result."""
    texts = ["a b c d e f", "a b c d e g"]
    for room, times in ((1 << 20, 2), (0, 4)):
        asked: list[int] = []
        made = verifier(texts, asked, kept_bytes=room)

        assert [(1, 2, 2)] == shared(made, (0, 1)) == shared(made, (0, 1))
        assert times == len(asked)


def test_numbers_differ_from_run_to_run() -> None:
    """The key is drawn anew: nobody can prepare two shingles of one number."""
    assert verifier([])._key != verifier([])._key
