"""Tables of characters and states as strings, which a script reads by `charAt`: parameters of the pipeline.

A table of all code points is an index of its pages, 256 code points each, and the distinct pages one after the other.
"""

from __future__ import annotations

import functools

from simdoc_search.analysis.normalise import letter_map, may_compose, normaliser
from simdoc_search.analysis.settings import Profile
from simdoc_search.analysis.word_grammar import classes
from simdoc_search.attach.pipeline.automaton import word_automaton

_PAGE = 256
_ZERO = 0x30
"""Numbers are written as characters from this one on, so that most are visible."""

_SAME, _COMPOSES, _LONGER = 0x21, 0xF8FF, 0xE000
"""What a letter becomes: itself; itself, in a word to compose; what stands in `targets`, from this number on.

No letter becomes an exclamation mark, and none of these private characters is in a word.
"""

_TO_COMPOSE = 64
"""Added to the length of a target that makes its word one to compose."""


@functools.cache
def word_tables() -> dict[str, str]:
    """What finds words: `class_pages` and `classes` (code point -> symbol), `states` (state and symbol -> state)."""
    automaton = word_automaton()
    pages, values = _paged([chr(_ZERO + automaton.symbols[each]) for each in classes().numbers.tolist()])
    states = "".join(chr(_ZERO + each) for row in automaton.next for each in row)
    return {"class_pages": pages, "classes": values, "states": states}


@functools.cache
def fold_tables(profile: Profile) -> dict[str, str]:
    """What normalises words: `fold_pages` and `folds` (code point -> what it becomes), and `targets`.

    A target is its length as a character, then its UTF-16 units; those of several letters, of none, and of letters
    beyond the basic plane stand there.
    """
    letters = classes().numbers.nonzero()[0]
    alone = letter_map(profile)(letters)
    kinds = [chr(_SAME)] * len(classes().numbers)
    targets: dict[str, int] = {}
    length = 0
    for point, becomes in zip(letters.tolist(), alone.tolist(), strict=True):
        if becomes == point:
            continue
        if becomes >= 0:
            kinds[point] = chr(becomes)
            continue
        target = normaliser(profile)(chr(point))
        composes = profile == "nfkc_cf" and may_compose(target)
        if target == chr(point):
            kinds[point] = chr(_COMPOSES if composes else _SAME)
            continue
        units = len(target.encode("utf-16-le")) // 2
        written = chr(_ZERO + units + (_TO_COMPOSE if composes else 0)) + target
        if written not in targets:
            targets[written] = length
            length += 1 + units
        kinds[point] = chr(_LONGER + targets[written])
    pages, values = _paged(kinds)
    return {"fold_pages": pages, "folds": values, "targets": "".join(targets)}


def _paged(values: list[str]) -> tuple[str, str]:
    pages: dict[str, int] = {}
    index = [
        chr(_ZERO + pages.setdefault("".join(values[start : start + _PAGE]), len(pages)))
        for start in range(0, len(values), _PAGE)
    ]
    return "".join(index), "".join(pages)
