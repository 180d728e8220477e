"""Joins words that are hyphenated at the end of a line."""

from __future__ import annotations

import re

HYPHEN_MARK = "\x02"
"""The character that kreuzberg returns in a page of a PDF for a hyphen and the end of the line after it."""

_MARKED_WORD = re.compile(r"([^\W_]+(?:\x02[^\W_]+)+)([^\s\x02]*)(?: |(\r?\n))?")
_HYPHEN_AT_LINE_END = re.compile(r"(?<=[^\W\d_])-\r?\n(?=[^\W\d_])")
_COMPOUND = re.compile(r"(?=\b([^\W_]+)-([^\W_]+))")
_CONJUNCTIONS = frozenset({"and", "or", "und", "oder"})


def join_hyphenated_words(text: str) -> str:
    """Join the parts of words at each `HYPHEN_MARK`. The line then ends after the whole word.

    A hyphen is kept if it may belong to the word: next to a digit or a single letter (`N-methyl`), and before an upper
    case letter (`Open-Source`) or a conjunction (`pre- and postwar`). It is also kept if the text contains the word
    with the hyphen elsewhere.
    """
    if HYPHEN_MARK not in text:
        return text
    compounds = {(first.casefold(), second.casefold()) for first, second in _COMPOUND.findall(text)}

    def join(match: re.Match[str]) -> str:
        word, *parts = match[1].split(HYPHEN_MARK)
        last = word
        for part in parts:
            word += part if _is_one_word(last, part, compounds) else f"-{part}"
            last = part
        return word + match[2] + (match[3] or "\n")

    return _MARKED_WORD.sub(join, text).replace(HYPHEN_MARK, "-\n")


def mark_hyphens(text: str) -> str:
    """Replace each hyphen and line break between two letters with `HYPHEN_MARK`."""
    return _HYPHEN_AT_LINE_END.sub(HYPHEN_MARK, text)


def _is_one_word(first: str, second: str, compounds: set[tuple[str, str]]) -> bool:
    """Return whether a word was only hyphenated because the line ends."""
    if len(first) == 1 or len(second) == 1 or first[-1].isdigit() or second[0].isdigit():
        return False
    if second[0].isupper() and not first[-1].isupper():
        return False
    return second.casefold() not in _CONJUNCTIONS and (first.casefold(), second.casefold()) not in compounds
