"""The tables of the pipeline find the same words as the grammar, and normalise them."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given

from simdoc_search.analysis.normalise import normaliser
from simdoc_search.analysis.settings import Profile
from simdoc_search.analysis.word_automaton import word_automaton
from simdoc_search.analysis.word_break import word_spans
from simdoc_search.analysis.word_grammar import character_classes
from simdoc_search.analysis.words import without_surrogates
from simdoc_search.attach.pipeline.tables import build_fold_tables, build_word_tables
from tests.support.pipeline import TRICKY, any_points, mixtures
from tests.support.strategies import texts
from tests.support.vectors import first_difference, load, reference_texts

LONGEST = 255


def lookup(pages: str, values: str, point: int) -> str:
    """Return the value of a code point in a paged table."""
    return values[(ord(pages[point >> 8]) - 0x30) * 256 + (point & 255)]


def spans_of_table(text: str) -> list[tuple[int, int]]:
    """Find the words of a text with the table, which is read as in the script."""
    automaton, tables = word_automaton(), build_word_tables()
    spans = []
    start = 0
    while start < len(text):
        state, stop, position, units = 1, start, start, 0
        while position < len(text):
            units += 1 + (text[position] > "\uffff")
            symbol = ord(lookup(tables["class_pages"], tables["classes"], ord(text[position]))) - 0x30
            state = ord(tables["states"][state * len(automaton.transitions[0]) + symbol]) - 0x30
            if not state or units > LONGEST:
                break
            position += 1
            stop = position if state >= automaton.first_accepting_state else stop
        if stop > start:
            spans.append((start, stop))
        start = max(stop, start + 1)
    return spans


def spans_of_grammar(text: str) -> list[tuple[int, int]]:
    """Find the words of a text with the grammar."""
    starts, ends = word_spans(np.array([ord(letter) for letter in text], np.intp))
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def folded(word: str, profile: Profile) -> str:
    """Normalise a word with the tables, which are read as in the script."""
    tables = build_fold_tables(profile)
    result, composes = "", False
    for letter in word:
        becomes = lookup(tables["fold_pages"], tables["folds"], ord(letter))
        if becomes in "!\uf8ff":
            result += letter
            composes |= becomes == "\uf8ff"
        elif "\ue000" <= becomes < "\uf8ff":
            units = tables["replacements"].encode("utf-16-le")
            place = 2 * (ord(becomes) - 0xE000)
            size = int.from_bytes(units[place : place + 2], "little") - 0x30
            composes |= size >= 64
            result += units[place + 2 : place + 2 + 2 * (size % 64)].decode("utf-16-le")
        else:
            result += becomes
    return unicodedata.normalize("NFC", result) if composes else result


@given(texts())
def test_the_table_finds_the_words_of_any_text(text: str) -> None:
    text = without_surrogates(text)

    assert spans_of_grammar(text) == spans_of_table(text)


def test_the_table_finds_the_words_of_all_scripts() -> None:
    """The texts are Lucene's reference texts and random texts, tricky texts, and mixtures of all classes."""
    random_texts = [example["text"] for example in load("words_random")["texts"]]
    for text in [*reference_texts().values(), *random_texts, *TRICKY.values(), *mixtures("table", 200)]:
        whole = without_surrogates(text)
        assert spans_of_grammar(whole) == spans_of_table(whole), ascii(text)


@pytest.mark.parametrize("profile", ["nfkc_cf", "lowercase"])
@pytest.mark.slow
def test_the_tables_normalise_every_letter(profile: Profile) -> None:
    """Letters are tested alone, before and after an accent, and in random words."""
    normalise = normaliser(profile)
    letters = [chr(point) for point in np.flatnonzero(character_classes().class_ids).tolist()]
    words = [*letters, *(f"{letter}\u0301" for letter in letters[::7]), *(f"a{letter}" for letter in letters[::7])]
    words += [without_surrogates(word) for word in any_points("fold", 300, 30)]

    assert first_difference([normalise(word) for word in words], [folded(word, profile) for word in words]) is None


@pytest.mark.slow
def test_the_tables_are_small_and_have_no_surrogates() -> None:
    """JSON cannot contain lone surrogates."""
    tables = {**build_word_tables(), **build_fold_tables("nfkc_cf")}

    assert len(word_automaton().transitions) < 64
    assert all("".join(table).encode("utf-8") for table in tables.values())
    assert sum(map(len, tables.values())) < 100_000
