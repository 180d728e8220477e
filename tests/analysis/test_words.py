"""The words of a text are those of Lucene's StandardTokenizer, however many texts are read together."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.normalise import normaliser
from simdoc_search.analysis.settings import Profile
from simdoc_search.analysis.word_break import word_spans
from simdoc_search.analysis.words import placed_words, without_surrogates, word_batch, words
from tests.support.strategies import analyses, ascii_texts, corpora, texts
from tests.support.vectors import first_difference, load, reference_texts

LOWERCASE = Analysis(profile="lowercase")
NFKC_CF = Analysis(profile="nfkc_cf")


def raw_words(text: str) -> list[str]:
    starts, ends = word_spans(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32))
    return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def batch_words(batch: Sequence[str], analysis: Analysis) -> list[list[str]]:
    """The words of several texts, read back from the buffer they share."""
    found = word_batch(batch, analysis)
    data = found.units.tobytes()
    spans = iter(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
    per_text = [[next(spans) for _ in range(count)] for count in found.counts.tolist()]

    assert [] == list(spans)
    return [[data[2 * a : 2 * b].decode("utf-16-le") for a, b in each] for each in per_text]


@pytest.mark.parametrize("vector", load("words")["texts"], ids=lambda vector: vector["id"])
def test_words_of_reference_texts_are_lucenes(vector: dict[str, Any]) -> None:
    """Boundaries and lower-cased words of each reference text are those of Lucene's standard analysis."""
    text = reference_texts()[vector["id"]]

    assert None is first_difference(vector["raw"], raw_words(text))
    assert None is first_difference(vector["words"], words(text, LOWERCASE))


def test_word_boundaries_of_random_texts_are_lucenes() -> None:
    """Lucene's tokenizer finds the same words in random mixtures of all kinds of characters."""
    wrong = [each for each in load("words_random")["texts"] if each["raw"] != raw_words(each["text"])]

    assert [] == wrong[:3]


@pytest.mark.parametrize("profile", ["lowercase", "nfkc_cf"])
def test_normalised_words_of_random_texts_are_lucenes(profile: Profile) -> None:
    """Each profile gives the words of its Lucene filter for random mixtures of characters."""
    vectors = load("words_random")["texts"]
    wrong = [each for each in vectors if each[profile] != words(each["text"], Analysis(profile=profile))]

    assert 400 < len(vectors)
    assert [] == wrong[:3]


def test_long_words_are_cut_at_255_units() -> None:
    """A word over 255 UTF-16 units becomes pieces of 255 and a rest."""
    assert ["a" * 255] == words("a" * 255)
    assert ["a" * 255, "a"] == words("a" * 256)
    assert ["a" * 255, "a" * 255, "a" * 90] == words("a" * 600)


def test_what_is_cut_off_a_long_word_joins_what_follows() -> None:
    """Characters of a Thai or Burmese run are one word, though the long word before it would have its first sign."""
    assert ["a" * 255, "\u1039ก"] == words("a" * 255 + "\u1039ก", LOWERCASE)


@pytest.mark.parametrize(
    "text",
    ["a" + "\u0301" * 50_000, "a" + "_" * 50_000 + "a", "👩" + "\u200d" * 50_000 + "👩"],
    ids=("marks", "underscores", "joiners"),
)
def test_the_grammar_is_not_asked_at_each_mark(text: str) -> None:
    """Where no word can begin it passes over all of a run of marks or joiners."""
    words(text)  # reads the tables
    asked = 0

    def count(_frame: FrameType, event: str, function: Any) -> None:
        nonlocal asked
        asked += event == "c_call" and function.__name__ == "match"

    sys.setprofile(count)
    try:
        found = words(text)
    finally:
        sys.setprofile(None)

    assert found
    assert 2_000 > asked


def test_a_surrogate_pair_is_not_cut() -> None:
    """A piece ends before a code point of two units that would pass the limit."""
    assert ["a" * 254, "𐐨"] == words("a" * 254 + "𐐨")
    assert ["𐐨" * 127, "𐐨" * 73] == words("𐐨" * 200)


def test_the_limit_counts_units_before_normalisation() -> None:
    """Normalisation may make a word longer than the limit; it is not cut again."""
    assert ["ss" * 255] == words("ß" * 255, NFKC_CF)


def test_the_default_profile_is_nfkc_cf() -> None:
    """Without settings the words are NFKC_Casefold'ed."""
    assert ["strasse"] == words("Straße")


def test_surrogate_escapes_of_one_character_are_that_character() -> None:
    """Two surrogates side by side are read as the one letter they stand for."""
    assert ["𐐨x"] == words("\ud801\udc00x")


@given(texts(), texts(), analyses())
def test_a_line_break_separates_words(first: str, second: str, analysis: Analysis) -> None:
    """What stands before a line break has no influence on the words after it, and the reverse."""
    assert words(first, analysis) + words(second, analysis) == words(first + "\n" + second, analysis)


@given(ascii_texts(), analyses())
def test_ascii_words_are_those_of_the_general_way(text: str, analysis: Analysis) -> None:
    """The byte table for ASCII gives the words that the same text has beside a letter outside ASCII."""
    (fast,) = batch_words([text], analysis)
    (general,) = batch_words([text + "\né"], analysis)

    assert [*fast, "é"] == general
    assert words(text, analysis) == fast


@given(corpora(), analyses())
def test_words_of_many_texts_are_those_of_each(batch: list[str], analysis: Analysis) -> None:
    """A batch has the words of its texts, in order, whatever stands beside them."""
    assert [words(text, analysis) for text in batch] == batch_words(batch, analysis)


@given(corpora(), analyses())
def test_words_of_a_text_are_one_space_apart(batch: list[str], analysis: Analysis) -> None:
    """The buffer holds a text as its words joined by one space, so that slices of it are shingles."""
    found = word_batch(batch, analysis)
    first = 0
    for text, count in zip(batch, found.counts.tolist(), strict=True):
        starts, ends = found.starts[first : first + count], found.ends[first : first + count]
        slices = [found.units[starts[0] : ends[-1]].tobytes().decode("utf-16-le")] if count else []
        first += count

        assert [" ".join(words(text, analysis))][: len(slices)] == slices


def test_all_reference_texts_in_one_batch() -> None:
    """The reference texts of all scripts and lengths do not disturb each other in one batch."""
    expected = [each["words"] for each in load("words")["texts"]]

    assert None is first_difference(expected, batch_words(list(reference_texts().values()), LOWERCASE))


@pytest.mark.parametrize(
    ("batch", "expected"), [([], []), ([""], [[]]), (["", "a", "", "é", ""], [[], ["a"], [], ["é"], []])]
)
def test_empty_texts_have_no_words(batch: list[str], expected: list[list[str]]) -> None:
    """No texts give no lists; an empty text has an empty list at its place."""
    assert expected == batch_words(batch, NFKC_CF)


@given(texts(), analyses())
def test_words_have_their_places_in_the_text(text: str, analysis: Analysis) -> None:
    """What stands there, normalised, is the word: no place is empty, and none begins before the last one ends."""
    placed = placed_words(text, analysis)
    places = list(zip(placed.starts.tolist(), placed.ends.tolist(), strict=True))
    normalise = normaliser(analysis.profile)

    assert words(text, analysis) == placed.words
    assert placed.words == [normalise(without_surrogates(text[start:end])) for start, end in places]
    assert all(start < end for start, end in places)
    assert all(one[1] <= other[0] for one, other in pairwise(places))


def test_places_are_those_of_the_text_as_it_is() -> None:
    """Characters beyond the BMP count one, a pair of surrogates two, and one that becomes several counts one."""
    text = "\ud801\udc00b \ud800 𐐀c \ufb01x \ufdfa, \udc00e"
    placed = placed_words(text)

    assert ["𐐨b", "𐐨c", "fix", "صلى الله عليه وسلم", "e"] == placed.words
    assert [(0, 3), (6, 8), (9, 11), (12, 13), (16, 17)] == list(
        zip(placed.starts.tolist(), placed.ends.tolist(), strict=True)
    )
