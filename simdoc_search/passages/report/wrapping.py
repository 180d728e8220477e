"""Text in several styles, wrapped to the width of a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby

StyledText = tuple[str, str]
"""The name of a style, empty for none, and text in it."""


def wrapped(runs: Iterable[StyledText], width: int) -> Iterator[list[StyledText]]:
    """Lines of at most `width` columns, cut between words; a word that is longer is cut where the line ends.

    A space between two words has their style if it is the same, else none. Whitespace is one space.
    """
    line: list[StyledText] = []
    used = 0
    for word in _words(runs):
        size = sum(width_of(text) for _, text in word)
        if line and used + 1 + size > width:
            yield _merged(line)
            line, used = [], 0
        if line:
            style = word[0][0] if word[0][0] == line[-1][0] else ""
            line.append((style, " "))
            used += 1
        for style, text in word:
            for character in text:
                columns = width_of(character)
                if used + columns > width and used:
                    yield _merged(line)
                    line, used = [], 0
                line.append((style, character))
                used += columns
    if line:
        yield _merged(line)


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes: a wide East Asian character two, what is combined none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _words(runs: Iterable[StyledText]) -> Iterator[list[StyledText]]:
    """What stands between whitespace, each in its styles."""
    word: list[StyledText] = []
    for style, text in runs:
        for is_space, characters in groupby(text, str.isspace):
            if not is_space:
                word.append((style, "".join(characters)))
            elif word:
                yield word
                word = []
    if word:
        yield word


def _merged(line: list[StyledText]) -> list[StyledText]:
    return [(style, "".join(text for _, text in group)) for style, group in groupby(line, lambda run: run[0])]
