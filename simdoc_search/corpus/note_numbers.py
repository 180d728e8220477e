"""Separates the numbers of footnotes in a PDF from the words next to them."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise

_NOTE = re.compile(r"^(\d{1,3})([^\S\n]*)[“„\"«»‚‘(\[]?([^\W\d_]{2,})", re.MULTILINE)
"""The beginning of a line that may be a footnote: the number, spaces, and the first word."""
_REFERENCE = re.compile(r"(?<=[^\W\d_]|[.,;:!?)\]”“\"»«’'‘…])\d{1,3}(?!\w|[.,]\d)")
_MIN_WORD_CHARACTERS = 4
"""A shorter word before a number, such as `CO2` and `km2`, is one word with it."""
_MAX_ENDING_CHARACTERS = 2
"""So are letters that follow a number, such as `2nd` and `5km`."""


def separate_note_numbers(page: str) -> str:
    """Insert a space between the number of a footnote and the word before it, and between it and the note.

    A footnote is a line that begins with a number, below a number that directly follows a word or a punctuation mark.
    A line such as `2nd edition` is not a footnote. The number that refers to the footnote is only separated from a word
    if no other number may refer to it.
    """
    lines = list(_NOTE.finditer(page))
    if not lines:
        return page
    references: dict[str, list[int]] = defaultdict(list)
    for match in _REFERENCE.finditer(page):
        references[match[0]].append(match.start())
    notes: dict[str, list[re.Match[str]]] = defaultdict(list)
    for line in lines:
        if line[1] in references and references[line[1]][0] < line.start():
            notes[line[1]].append(line)
    cuts = {0, len(page)}
    for number, matches in notes.items():
        cuts.update(match.end(1) for match in matches if not match[2] and _is_first_word(match[3]))
        # The second number of `2.1` is not a reference.
        starts = [start for start in references[number] if not page[start - 2 : start - 1].isdigit()]
        if len(matches) == len(starts) == 1 and starts[0] < matches[0].start() and _ends_with_word(page, starts[0]):
            cuts.update(starts)
    return " ".join(page[start:end] for start, end in pairwise(sorted(cuts)))


def _is_first_word(word: str) -> bool:
    return len(word) > _MAX_ENDING_CHARACTERS or word[0].isupper()


def _ends_with_word(page: str, end: int) -> bool:
    letters = page[max(end - _MIN_WORD_CHARACTERS, 0) : end]
    return len(letters) == _MIN_WORD_CHARACTERS and letters.isalpha() and letters.islower()
