"""The table of states finds the words of the grammar, and the tables of letters give its normalised words."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.normalise import normaliser
from simdoc_search.analysis.settings import Profile
from simdoc_search.analysis.word_automaton import word_automaton
from simdoc_search.analysis.word_break import word_spans
from simdoc_search.analysis.word_grammar import classes
from simdoc_search.analysis.words import without_surrogates
from simdoc_search.attach.pipeline.tables import fold_tables, word_tables
from tests.support.pipeline import TRICKY, any_points, mixtures
from tests.support.strategies import texts
from tests.support.vectors import first_difference, load, reference_texts

LONGEST = 255


def looked_up(pages: str, values: str, point: int) -> str:
    """What a paged table has of a code point."""
    return values[(ord(pages[point >> 8]) - 0x30) * 256 + (point & 255)]


def spans_by_table(text: str) -> list[tuple[int, int]]:
    """The words of a text by the table alone, read as a script reads it."""
    automaton, tables = word_automaton(), word_tables()
    found = []
    here = 0
    while here < len(text):
        state, stop, at, units = 1, here, here, 0
        while at < len(text):
            units += 1 + (text[at] > "\uffff")
            symbol = ord(looked_up(tables["class_pages"], tables["classes"], ord(text[at]))) - 0x30
            state = ord(tables["states"][state * len(automaton.next[0]) + symbol]) - 0x30
            if not state or units > LONGEST:
                break
            at += 1
            stop = at if state >= automaton.accepting else stop
        if stop > here:
            found.append((here, stop))
        here = max(stop, here + 1)
    return found


def spans_of_ours(text: str) -> list[tuple[int, int]]:
    """The same by the grammar."""
    starts, ends = word_spans(np.array([ord(each) for each in text], np.intp))
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def folded(word: str, profile: Profile) -> str:
    """A word normalised by the tables, read as a script reads them."""
    tables = fold_tables(profile)
    result, composes = "", False
    for letter in word:
        becomes = looked_up(tables["fold_pages"], tables["folds"], ord(letter))
        if becomes in "!\uf8ff":
            result += letter
            composes |= becomes == "\uf8ff"
        elif "\ue000" <= becomes < "\uf8ff":
            units = tables["targets"].encode("utf-16-le")
            at = 2 * (ord(becomes) - 0xE000)
            size = int.from_bytes(units[at : at + 2], "little") - 0x30
            composes |= size >= 64
            result += units[at + 2 : at + 2 + 2 * (size % 64)].decode("utf-16-le")
        else:
            result += becomes
    return unicodedata.normalize("NFC", result) if composes else result


def unlike(some: list[str]) -> list[str]:
    """Texts of which the table finds other words."""
    whole = map(without_surrogates, some)
    return [each for each in whole if spans_by_table(each) != spans_of_ours(each)]


@given(texts())
def test_the_table_finds_the_words_of_any_text(text: str) -> None:
    """As the grammar finds them, all boundaries at once."""
    assert [] == unlike([text])


@given(st.lists(st.integers(1, len(classes().properties) - 1), max_size=40))
def test_the_table_finds_the_words_of_any_classes(numbers: list[int]) -> None:
    """Each class of characters after each other."""
    table = classes().numbers
    text = "".join(chr(int(np.flatnonzero(table == number)[-1])) for number in numbers)

    assert spans_of_ours(text) == spans_by_table(text)


def test_the_table_finds_the_words_that_lucene_finds() -> None:
    """The reference texts, random mixtures of all classes, hard texts of many scripts."""
    references = [*reference_texts().values(), *(each["text"] for each in load("words_random")["texts"])]

    assert [] == unlike(references)
    assert [] == unlike(list(TRICKY.values()))
    assert [] == unlike(mixtures("table", 300))


@pytest.mark.parametrize("profile", ["nfkc_cf", "lowercase"])
@pytest.mark.slow
def test_the_tables_normalise_every_letter(profile: Profile) -> None:
    """Each that can be in a word, alone, and before and after an accent."""
    normalise = normaliser(profile)
    letters = [chr(point) for point in np.flatnonzero(classes().numbers).tolist()]
    some = [*letters, *(f"{each}\u0301" for each in letters[::7]), *(f"a{each}" for each in letters[::7])]

    assert first_difference([normalise(each) for each in some], [folded(each, profile) for each in some]) is None


@pytest.mark.parametrize("profile", ["nfkc_cf", "lowercase"])
def test_the_tables_normalise_words_of_any_letters(profile: Profile) -> None:
    """Marks in any order, letters that compose with those before them."""
    normalise = normaliser(profile)
    some = [without_surrogates(each) for each in any_points("fold", 300, 30)]

    assert [normalise(each) for each in some] == [folded(each, profile) for each in some]


def test_the_tables_fit_into_a_pipeline() -> None:
    """Few states, one character for each number, no surrogate, which JSON could not hold alone."""
    tables = {**word_tables(), **fold_tables("nfkc_cf")}

    assert len(word_automaton().next) < 64
    assert all("".join(each).encode("utf-8") for each in tables.values())
    assert sum(map(len, tables.values())) < 100_000
