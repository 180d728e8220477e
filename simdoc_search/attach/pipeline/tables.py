"""Writes tables of characters and states as strings, which a script reads with `charAt`.

A table of all code points is split into pages of 256. It has two strings: the number of the page for each block of 256
code points, and the distinct pages one after the other.
"""

from __future__ import annotations

import functools

from simdoc_search.analysis.normalise import letter_map, may_compose, normaliser
from simdoc_search.analysis.settings import Profile
from simdoc_search.analysis.word_automaton import word_automaton
from simdoc_search.analysis.word_grammar import classes

_PAGE = 256
_ZERO = 0x30
"""The code point that stands for the number 0. It makes most numbers printable characters."""

_SAME, _COMPOSES, _LONGER = 0x21, 0xF8FF, 0xE000
"""Special results for a letter: it is unchanged; it is unchanged, and its word must be composed (NFC); and from this
number on, an offset into `targets`. No letter becomes an exclamation mark, and no word has private-use characters."""

_TO_COMPOSE = 64
"""Added to the length of a target if its word must be composed."""


@functools.cache
def word_tables() -> dict[str, str]:
    """Return `class_pages` and `classes` (code point -> symbol), and `states` (state and symbol -> state)."""
    automaton = word_automaton()
    pages, values = _paged([chr(_ZERO + automaton.symbols[number]) for number in classes().numbers.tolist()])
    states = "".join(chr(_ZERO + state) for row in automaton.next for state in row)
    return {"class_pages": pages, "classes": values, "states": states}


@functools.cache
def fold_tables(profile: Profile) -> dict[str, str]:
    """Return `fold_pages` and `folds` (code point -> normalised character), and `targets`.

    A target is its length, as one character, and its UTF-16 code units. A letter has a target if it becomes several
    letters, no letter, or a letter beyond the basic multilingual plane.
    """
    letters = classes().numbers.nonzero()[0]
    normalised = letter_map(profile)(letters)
    results = [chr(_SAME)] * len(classes().numbers)
    targets: dict[str, int] = {}
    length = 0
    for point, becomes in zip(letters.tolist(), normalised.tolist(), strict=True):
        if becomes == point:
            continue
        if becomes >= 0:
            results[point] = chr(becomes)
            continue
        target = normaliser(profile)(chr(point))
        composes = profile == "nfkc_cf" and may_compose(target)
        if target == chr(point):
            results[point] = chr(_COMPOSES if composes else _SAME)
            continue
        units = len(target.encode("utf-16-le")) // 2
        written = chr(_ZERO + units + (_TO_COMPOSE if composes else 0)) + target
        if written not in targets:
            targets[written] = length
            length += 1 + units
        results[point] = chr(_LONGER + targets[written])
    pages, values = _paged(results)
    return {"fold_pages": pages, "folds": values, "targets": "".join(targets)}


def _paged(values: list[str]) -> tuple[str, str]:
    pages: dict[str, int] = {}
    index = [
        chr(_ZERO + pages.setdefault("".join(values[start : start + _PAGE]), len(pages)))
        for start in range(0, len(values), _PAGE)
    ]
    return "".join(index), "".join(pages)
