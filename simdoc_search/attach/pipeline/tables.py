"""Encodes the character tables and the transitions of the word automaton as strings, for the ingest pipeline.

The script of the pipeline reads the strings with `charAt`.

A table of all code points is split into pages of 256 values. It consists of two strings. The first has the page number
for each block of 256 code points. The second has the distinct pages, one after another.
"""

from __future__ import annotations

import functools

from simdoc_search.analysis.normalise import letter_map, may_compose, normaliser
from simdoc_search.analysis.settings import Profile
from simdoc_search.analysis.word_automaton import word_automaton
from simdoc_search.analysis.word_grammar import character_classes

_PAGE_SIZE = 256
_ZERO_CODE_POINT = 0x30
"""The code point that stands for the number 0. With it, most numbers are printable characters."""

_SAME, _COMPOSES, _FIRST_REPLACEMENT = 0x21, 0xF8FF, 0xE000
"""Special values. `_SAME` marks a letter that does not change. `_COMPOSES` marks a letter that does not change, but its
word must be composed (NFC). Values from `_FIRST_REPLACEMENT` on are offsets into `replacements` (see
`build_fold_tables`). The special values are an exclamation mark and private-use characters. No letter becomes one of
them."""

_COMPOSE_FLAG = 64
"""Added to the length of a replacement text if the word that contains it must be composed (NFC)."""


@functools.cache
def build_word_tables() -> dict[str, str]:
    """Return the tables of the word automaton.

    `class_pages` and `classes` map a code point to its input symbol. `states` maps a state and an input symbol to the
    next state.
    """
    automaton = word_automaton()
    pages, values = _split_into_pages(
        [chr(_ZERO_CODE_POINT + automaton.symbols[number]) for number in character_classes().class_ids.tolist()]
    )
    states = "".join(chr(_ZERO_CODE_POINT + state) for row in automaton.transitions for state in row)
    return {"class_pages": pages, "classes": values, "states": states}


@functools.cache
def build_fold_tables(profile: Profile) -> dict[str, str]:
    """Return `fold_pages` and `folds` (code point -> normalised character), and `replacements`.

    A letter has a replacement text if its normalised form is empty, has several letters, or has a letter beyond the
    basic multilingual plane. `replacements` contains these texts. Before each text is its length in UTF-16 code units,
    as one character.
    """
    letters = character_classes().class_ids.nonzero()[0]
    normalised = letter_map(profile)(letters)
    results = [chr(_SAME)] * len(character_classes().class_ids)
    replacements: dict[str, int] = {}
    length = 0
    for point, result in zip(letters.tolist(), normalised.tolist(), strict=True):
        if result == point:
            continue
        if result >= 0:
            results[point] = chr(result)
            continue
        replacement = normaliser(profile)(chr(point))
        composes = profile == "nfkc_cf" and may_compose(replacement)
        if replacement == chr(point):
            results[point] = chr(_COMPOSES if composes else _SAME)
            continue
        units = len(replacement.encode("utf-16-le")) // 2
        entry = chr(_ZERO_CODE_POINT + units + (_COMPOSE_FLAG if composes else 0)) + replacement
        if entry not in replacements:
            replacements[entry] = length
            length += 1 + units
        results[point] = chr(_FIRST_REPLACEMENT + replacements[entry])
    pages, values = _split_into_pages(results)
    return {"fold_pages": pages, "folds": values, "replacements": "".join(replacements)}


def _split_into_pages(values: list[str]) -> tuple[str, str]:
    pages: dict[str, int] = {}
    index = [
        chr(_ZERO_CODE_POINT + pages.setdefault("".join(values[start : start + _PAGE_SIZE]), len(pages)))
        for start in range(0, len(values), _PAGE_SIZE)
    ]
    return "".join(index), "".join(pages)
