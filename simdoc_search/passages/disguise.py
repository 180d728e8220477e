"""Finds disguised words, and reads them as the words that they look like.

A disguised word contains characters that a reader does not notice, but that make it differ from the word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from simdoc_search.analysis.normalise import INVISIBLE_CHARACTERS, INVISIBLE_RANGES
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import WordPositions
from simdoc_search.display import format_count, printable
from simdoc_search.passages.passage import Span
from simdoc_search.passages.positions import TextPositions
from simdoc_search.passages.typography import locate_unified_words, unify_typography

_CYRILLIC, _LATIN = "АВЕКМНОРСТУХІЈаеорсухіјёїЁЇ", "ABEKMHOPCTYXIJaeopcyxijëïËÏ"
_RARE_CYRILLIC, _RARE_LATIN = "ЅӀԌѕһӏԁԛԝү", "SIGshldqwy"
"""A few languages use these letters. They replace Latin letters, but Latin letters do not replace them."""
_GREEK, _LATIN_FOR_GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo"
_TO_LATIN = str.maketrans(f"{_CYRILLIC}{_RARE_CYRILLIC}{_GREEK}", f"{_LATIN}{_RARE_LATIN}{_LATIN_FOR_GREEK}")
_TO_CYRILLIC = str.maketrans(_LATIN, _CYRILLIC)

_IS_INVISIBLE_UNIT = np.zeros(1 << 16, bool)
"""Whether each UTF-16 unit is an invisible character, or the first half of one."""
for _range in INVISIBLE_RANGES:
    _first, _last = (int.from_bytes(chr(point).encode("utf-16-le")[:2], "little") for point in _range)
    _IS_INVISIBLE_UNIT[_first : _last + 1] = True

_LATIN_LETTERS = "A-Za-zÀ-ɏ"
_CYRILLIC_LETTERS = "\u0400-\u052f"
_OTHER_LETTERS = f"{_CYRILLIC_LETTERS}{_GREEK}"
_ALPHABETS = f"{_LATIN_LETTERS}\u1e00-\u1fff\u0370-\u058f\u10a0-\u10ff"
"""The letters of the Latin, Greek, Cyrillic, Armenian and Georgian alphabets."""
_DISGUISED_CHARACTER = re.compile(
    rf"(?<=[{_LATIN_LETTERS}])[{_OTHER_LETTERS}]|(?<=[{_OTHER_LETTERS}])[{_LATIN_LETTERS}]"
    # In other scripts, invisible characters are normal: joiners in Persian and Hindi, zero-width spaces in Thai.
    rf"|(?<=[{_ALPHABETS}])[{INVISIBLE_CHARACTERS}]+(?=[{_ALPHABETS}])"
)
_WORD = re.compile(rf"(?:[^\W_]|[\u00ad\u0300-\u036f{INVISIBLE_CHARACTERS}])+")  # also soft hyphens and accents
_LATIN_LETTER = re.compile(f"[{_LATIN_LETTERS}]")
_CYRILLIC_LETTER = re.compile(f"[{_CYRILLIC_LETTERS}]")
_INVISIBLE = re.compile(f"[{INVISIBLE_CHARACTERS}]+")
_INVISIBLE_ENDS = re.compile(rf"\A[\u00ad{INVISIBLE_CHARACTERS}]+|[\u00ad{INVISIBLE_CHARACTERS}]+\Z")

_MAX_LISTED_LINES, _MAX_QUOTED_CHARACTERS = 20, 40
_MAX_REGEX_CHARACTERS = 500
"""For a longer text, numpy is faster than a regex."""
_MAX_LOOKALIKE_WORDS = 5
"""The maximum number of consecutive words that consist of look-alike letters only."""


class DisguisedWord(NamedTuple):
    """A word with invisible characters, or with letters that look like those of another alphabet.

    `looks_like` is the word that a reader sees. It is equal to `word` if not all letters have look-alikes. `place` is
    its line, and its page if the text has pages, such as `line 120`.
    """

    span: Span
    word: str
    looks_like: str
    place: str


def find_disguised_words(text: str) -> list[DisguisedWord]:
    """Return the disguised words of a text, in order."""
    found = _find(text)
    positions = TextPositions(text) if found else None
    return [
        DisguisedWord(span, text[slice(*span)], shown, positions.label(span[0])) for span, shown in found if positions
    ]


def find_disguising_characters(text: str) -> list[int]:
    """Return the positions of the invisible characters and of the look-alike letters in disguised words."""
    positions = []
    for (start, end), shown in _find(text):
        letters = iter(shown)
        for index in range(start, end):
            if _INVISIBLE.match(text[index]) or text[index] != next(letters):
                positions.append(index)
    return positions


def undo_disguise(text: str) -> str:
    """Return a text in which each disguised word is replaced by the word that it looks like."""
    return "".join(piece for _, piece in _undisguised_pieces(text))


def read_as_shown(text: str) -> str:
    """Return a text without disguise, in which apostrophes and narrow spaces are always the same character."""
    return unify_typography(undo_disguise(text))


def locate_shown_words(text: str, analysis: Analysis | None = None) -> WordPositions:
    """Return the words of `read_as_shown(text)`, with their positions in `text`; see `locate_words`."""
    pieces = list(_undisguised_pieces(text))
    words = locate_unified_words("".join(piece for _, piece in pieces), analysis)
    if len(pieces) == 1:
        return words
    indices = np.concatenate([np.arange(start, start + len(piece)) for start, piece in pieces])
    return WordPositions(words.words, indices[words.starts], indices[words.ends - 1] + 1)


def describe_disguised_words(words: Iterable[DisguisedWord]) -> str:
    """Return a sentence with the number of disguised words and their lines. It is empty if there are none."""
    words = list(words)
    if not words:
        return ""
    lines = [list(group) for _, group in groupby(words, key=lambda word: word.place)]
    listed = list(map(_describe_line, lines[:_MAX_LISTED_LINES]))
    if other_lines := lines[_MAX_LISTED_LINES:]:
        count = format_count(sum(map(len, other_lines)), "word")
        listed.append(f"and {count} in {format_count(len(other_lines), 'more line')}")
    words_contain = f"{format_count(len(words), 'word')} {'contains' if len(words) == 1 else 'contain'}"
    return f"{words_contain} invisible characters or look-alike letters of another alphabet: {', '.join(listed)}."


def _describe_line(words: list[DisguisedWord]) -> str:
    first = printable(_INVISIBLE_ENDS.sub("", words[0].word))
    shown = first if len(first) <= _MAX_QUOTED_CHARACTERS else f"{first[:_MAX_QUOTED_CHARACTERS]}…"
    return f"“{shown}”{f' and {len(words) - 1:,} more' if len(words) > 1 else ''} ({words[0].place})"


def _find(text: str) -> list[tuple[Span, str]]:
    """Return the spans of the disguised words, in order, and the words that they look like."""
    if text.isascii() or not _may_contain_disguise(text):
        return []
    spans: list[Span] = []
    end = 0
    for match in _DISGUISED_CHARACTER.finditer(text):
        if match.start() < end:
            continue  # it is in the same word as the character before it
        start = match.start()
        while start > end and _WORD.match(text, start - 1, start):
            start -= 1
        word = _WORD.match(text, start)
        end = word.end() if word else match.end()
        spans.append((start, end))
    if not spans:
        return []
    latin = len(_LATIN_LETTER.findall(text)) >= len(_CYRILLIC_LETTER.findall(text))
    found = [
        (span, _replace_lookalikes(text[slice(*span)], prefer_latin=latin))
        for span in sorted([*spans, *_find_lookalike_words(text)])
    ]
    disguised = set(spans)  # a word of look-alike letters only is disguised only if it is read differently
    return [(span, shown) for span, shown in found if span in disguised or shown != text[slice(*span)]]


def _may_contain_disguise(text: str) -> bool:
    """Whether a text has a letter before an invisible character or a letter of another alphabet."""
    if len(text) < _MAX_REGEX_CHARACTERS:
        return _DISGUISED_CHARACTER.search(text) is not None
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
    is_latin = (units < 0x250) & (((units | 0x20) - ord("a") < 26) | (units >= 0xC0))
    is_other = ((units >= 0x400) & (units < 0x530)) | ((units >= 0x391) & (units < 0x3A8)) | (units == 0x3BF)
    adjacent = (is_latin[:-1] & is_other[1:]) | (is_other[:-1] & is_latin[1:])
    if adjacent.any():
        return True
    invisible = np.flatnonzero(_IS_INVISIBLE_UNIT[units])
    before = units[invisible[invisible > 0] - 1]
    ranges = ("A", "\u0590"), ("\u10a0", "\u1100"), ("\u1e00", "\u2000")
    return any(((before >= ord(first)) & (before < ord(end))).any() for first, end in ranges)


def _find_lookalike_words(text: str) -> Iterator[Span]:
    """Yield the spans of words that consist of look-alike letters only, between words with Latin letters."""
    pending: list[Span] = []
    is_after_latin = True
    for match in _WORD.finditer(text):
        word = match.group()
        if _LATIN_LETTER.search(word) and _is_latin(word.translate(_TO_LATIN)):
            if is_after_latin and len(pending) <= _MAX_LOOKALIKE_WORDS:
                yield from pending
            is_after_latin, pending = True, []
        elif all(ord(letter) in _TO_LATIN for letter in word):
            pending.append(match.span())
        elif any(map(str.isalpha, word)):
            is_after_latin, pending = False, []


def _replace_lookalikes(word: str, *, prefer_latin: bool) -> str:
    """Return the word that a disguised word looks like. If not all letters have look-alikes, no letter is replaced.

    `prefer_latin` decides about words that can be read in both alphabets.
    """
    word = _INVISIBLE.sub("", word)
    as_latin, as_cyrillic = word.translate(_TO_LATIN), word.translate(_TO_CYRILLIC)
    is_latin, is_cyrillic = _is_latin(as_latin), all(map(_CYRILLIC_LETTER.match, filter(str.isalpha, as_cyrillic)))
    if is_latin and (prefer_latin or not is_cyrillic):
        return as_latin
    return as_cyrillic if is_cyrillic else word


def _is_latin(word: str) -> bool:
    return all(map(_LATIN_LETTER.match, filter(str.isalpha, word)))


def _undisguised_pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield the pieces of `undo_disguise(text)`, with their positions in `text`. Yield one piece without disguise."""
    end = 0
    for (start, next_end), word in _find(text):
        yield end, text[end:start]
        position, shown = start, 0
        for match in _INVISIBLE.finditer(text, start, next_end):
            length = match.start() - position
            yield position, word[shown : shown + length]
            position, shown = match.end(), shown + length
        yield position, word[shown:]
        end = next_end
    yield end, text[end:]
