"""The words of a text are those of Lucene's StandardTokenizer, however many texts are read together."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.normalise import normaliser
from simdoc_search.analysis.settings import Profile
from simdoc_search.analysis.word_break import word_spans
from simdoc_search.analysis.word_grammar import character_classes, rules, rules_by_class
from simdoc_search.analysis.words import (
    joined_words,
    locate_words,
    without_surrogates,
    word_batch,
    words,
    words_of_texts,
)
from tests.support.strategies import analyses, ascii_texts, corpora, texts
from tests.support.vectors import first_difference, load, reference_texts

LOWERCASE = Analysis(profile="lowercase")


def raw_words(text: str) -> list[str]:
    """The words before normalisation."""
    starts, ends = word_spans(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32))
    return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def test_words_of_reference_texts_are_lucenes() -> None:
    """This is checked for each text alone, and for all texts in one batch."""
    vectors = load("words")["texts"]
    for vector in vectors:
        text = reference_texts()[vector["id"]]

        assert None is first_difference(vector["raw"], raw_words(text)), vector["id"]
        assert None is first_difference(vector["words"], words(text, LOWERCASE)), vector["id"]
    together = words_of_texts(list(reference_texts().values()), LOWERCASE)
    assert None is first_difference([vector["words"] for vector in vectors], together)


def test_words_of_random_texts_are_lucenes() -> None:
    """The texts are random mixtures of all kinds of characters. Words are compared before and after normalisation."""
    vectors = load("words_random")["texts"]
    profiles: tuple[Profile, ...] = ("lowercase", "nfkc_cf")

    assert 400 < len(vectors)
    assert [] == [vector for vector in vectors if vector["raw"] != raw_words(vector["text"])][:3]
    for profile in profiles:
        result = words_of_texts([vector["text"] for vector in vectors], Analysis(profile=profile))
        assert None is first_difference([vector[profile] for vector in vectors], result)


@pytest.mark.parametrize(
    ("text", "analysis", "expected"),
    [
        ("a" * 255, LOWERCASE, ["a" * 255]),
        ("a" * 600, LOWERCASE, ["a" * 255, "a" * 255, "a" * 90]),
        ("a" * 255 + "\u1039ก", LOWERCASE, ["a" * 255, "\u1039ก"]),  # the rest of a long word joins what follows
        ("a" * 254 + "𐐨", LOWERCASE, ["a" * 254, "𐐨"]),
        ("𐐨" * 200, LOWERCASE, ["𐐨" * 127, "𐐨" * 73]),
        ("ß" * 255, Analysis(profile="nfkc_cf"), ["ss" * 255]),  # the limit counts units before normalisation
        ("Straße", Analysis(), ["strasse"]),
        ("\ud801\udc00x", Analysis(), ["𐐨x"]),
    ],
)
def test_long_words_and_surrogate_pairs(text: str, analysis: Analysis, expected: list[str]) -> None:
    """A word over 255 UTF-16 units is cut into pieces, but not inside a pair. Two surrogates are one character."""
    assert expected == words(text, analysis)


@pytest.mark.parametrize("text", ["a" + "\u0301" * 50_000, "a" + "_" * 50_000 + "a", "👩" + "\u200d" * 50_000 + "👩"])
def test_the_grammar_skips_runs_of_marks_and_joiners(text: str) -> None:
    """Rules are not tried at every mark or joiner, because that would take quadratic time."""
    words(text)  # reads the tables
    matches = 0

    def count(_frame: FrameType, event: str, function: Any) -> None:
        nonlocal matches
        matches += event == "c_call" and function.__name__ == "match"

    sys.setprofile(count)
    try:
        result = words(text)
    finally:
        sys.setprofile(None)

    assert result
    assert 2_000 > matches


@given(st.lists(st.integers(0, len(character_classes().properties) - 1), min_size=1, max_size=6).map(bytes))
def test_every_rule_that_can_match_is_tried(class_ids: bytes) -> None:
    """The rules of a class include every rule that matches a text that begins with this class."""
    matching = [rule for rule in rules() if re.match(rule, class_ids, re.DOTALL)]

    assert set(matching) <= {pattern.pattern for pattern in rules_by_class()[class_ids[0]]}


@given(texts(), texts(), analyses())
def test_a_line_break_separates_words(first: str, second: str, analysis: Analysis) -> None:
    """The text on one side does not influence the words on the other."""
    assert words(first, analysis) + words(second, analysis) == words(first + "\n" + second, analysis)


@given(ascii_texts(), analyses())
def test_the_fast_path_for_ascii_finds_the_same_words(text: str, analysis: Analysis) -> None:
    """The same text with a letter outside ASCII takes the general path."""
    assert [*words(text, analysis), "é"] == words(text + "\né", analysis)


@given(corpora(), analyses())
def test_a_batch_has_the_words_of_each_text(batch: list[str], analysis: Analysis) -> None:
    """The words are in order. In the buffer, the words of a text are joined by one space."""
    words_of_batch = word_batch(batch, analysis)
    data = words_of_batch.units.tobytes()
    first = 0
    for text, count, its_words in zip(
        batch, words_of_batch.counts.tolist(), words_of_texts(batch, analysis), strict=True
    ):
        starts, ends = words_of_batch.starts[first : first + count], words_of_batch.ends[first : first + count]
        joined = data[2 * starts[0] : 2 * ends[-1]].decode("utf-16-le") if count else ""
        first += count

        assert words(text, analysis) == its_words
        assert " ".join(its_words) == joined == joined_words(text, analysis)


@pytest.mark.parametrize(
    ("batch", "expected"), [([], []), ([""], [[]]), (["", "a", "", "é", ""], [[], ["a"], [], ["é"], []])]
)
def test_empty_texts_have_no_words(batch: Sequence[str], expected: list[list[str]]) -> None:
    assert expected == words_of_texts(batch)


@given(texts(), analyses())
def test_words_have_their_positions_in_the_text(text: str, analysis: Analysis) -> None:
    """The normalised text at a position is the word. Positions are not empty and do not overlap."""
    placed = locate_words(text, analysis)
    places = list(zip(placed.starts.tolist(), placed.ends.tolist(), strict=True))
    normalise = normaliser(analysis.profile)

    assert words(text, analysis) == placed.words
    assert placed.words == [normalise(without_surrogates(text[start:end])) for start, end in places]
    assert all(start < end for start, end in places)
    assert all(one[1] <= other[0] for one, other in pairwise(places))


def test_positions_are_those_of_the_original_text() -> None:
    """A character outside the BMP counts as one, a surrogate pair as two. A ligature counts as one."""
    placed = locate_words("\ud801\udc00b \ud800 𐐀c \ufb01x \ufdfa, \udc00e")

    assert ["𐐨b", "𐐨c", "fix", "صلى الله عليه وسلم", "e"] == placed.words
    assert [0, 6, 9, 12, 16] == placed.starts.tolist()
    assert [3, 8, 11, 13, 17] == placed.ends.tolist()
