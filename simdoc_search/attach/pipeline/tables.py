"""Writes tables of characters and states as strings, which a script reads with `charAt`.

A table of all code points is split into pages of 256 values. It consists of two strings. The first has the page number
for each block of 256 code points. The second has the distinct pages, one after another.
"""

from __future__ import annotations

import functools

from simdoc_search.analysis.normalise import letter_map, may_compose, normaliser
from simdoc_search.analysis.settings import Profile
from simdoc_search.analysis.word_automaton import word_automaton
from simdoc_search.analysis.word_grammar import classes

_PAGE_SIZE = 256
_ZERO_CODE_POINT = 0x30
"""The code point that stands for the number 0. With it, most numbers are printable characters."""

_SAME, _COMPOSES, _FIRST_TARGET = 0x21, 0xF8FF, 0xE000
"""Special values. `_SAME` marks a letter that does not change. `_COMPOSES` marks a letter that does not change, but its
word must be composed (NFC). Values from `_FIRST_TARGET` on are offsets into `targets` (see `build_fold_tables`). The
special values are an exclamation mark and private-use characters. No letter becomes one of them."""

_COMPOSE_FLAG = 64
"""This number is added to the length of a target if its word must be composed."""


@functools.cache
def build_word_tables() -> dict[str, str]:
    """Return `class_pages` and `classes` (code point -> symbol), and `states` (state and symbol -> state)."""
    automaton = word_automaton()
    pages, values = _split_into_pages(
        [chr(_ZERO_CODE_POINT + automaton.symbols[number]) for number in classes().numbers.tolist()]
    )
    states = "".join(chr(_ZERO_CODE_POINT + state) for row in automaton.transitions for state in row)
    return {"class_pages": pages, "classes": values, "states": states}


@functools.cache
def build_fold_tables(profile: Profile) -> dict[str, str]:
    """Return `fold_pages` and `folds` (code point -> normalised character), and `targets`.

    A target consists of its length, as one character, and its UTF-16 code units. A letter has a target if its
    normalised form is empty, has several letters, or has a letter beyond the basic multilingual plane.
    """
    letters = classes().numbers.nonzero()[0]
    normalised = letter_map(profile)(letters)
    results = [chr(_SAME)] * len(classes().numbers)
    targets: dict[str, int] = {}
    length = 0
    for point, result in zip(letters.tolist(), normalised.tolist(), strict=True):
        if result == point:
            continue
        if result >= 0:
            results[point] = chr(result)
            continue
        target = normaliser(profile)(chr(point))
        composes = profile == "nfkc_cf" and may_compose(target)
        if target == chr(point):
            results[point] = chr(_COMPOSES if composes else _SAME)
            continue
        units = len(target.encode("utf-16-le")) // 2
        entry = chr(_ZERO_CODE_POINT + units + (_COMPOSE_FLAG if composes else 0)) + target
        if entry not in targets:
            targets[entry] = length
            length += 1 + units
        results[point] = chr(_FIRST_TARGET + targets[entry])
    pages, values = _split_into_pages(results)
    return {"fold_pages": pages, "folds": values, "targets": "".join(targets)}


def _split_into_pages(values: list[str]) -> tuple[str, str]:
    pages: dict[str, int] = {}
    index = [
        chr(_ZERO_CODE_POINT + pages.setdefault("".join(values[start : start + _PAGE_SIZE]), len(pages)))
        for start in range(0, len(values), _PAGE_SIZE)
    ]
    return "".join(index), "".join(pages)
