"""Defines the grammar of Lucene's StandardTokenizer: classes of characters, and rules over classes.

`word_break_12_1.txt` maps every code point to a class, which is a set of properties of Unicode 12.1. The table is part
of this package, so that words do not depend on the version of Python or of another package. A rule is a regular
expression over classes. The longest match of all rules within 255 UTF-16 units is a word.

Source: Lucene 10.3.1, `StandardTokenizerImpl.jflex`; UAX #29 revision 35; UTS #51.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from simdoc_search.cancellation import check_stopped

MAX_WORD_UNITS = 255
"""Maximum length of a word in UTF-16 units: Lucene's default `max_token_length`. Longer words are split."""

CONNECTOR_PROPERTIES = frozenset({"ExtendNumLet", "ZWJ"})
"""Properties of characters that can begin a word but are not a word by themselves."""


class CharacterClasses:
    """The class of each code point, and the properties of each class."""

    def __init__(self) -> None:
        # The class of each code point. Characters of class 0 are never part of a word.
        self.class_ids: NDArray[np.uint8] = np.zeros(0x110000, np.uint8)
        ids = {"": 0}
        data = resources.files(__package__).joinpath("word_break_12_1.txt").read_text("ascii")
        for line in data.splitlines():
            first, last, properties = line.split()
            self.class_ids[int(first, 16) : int(last, 16) + 1] = ids.setdefault(properties, len(ids))
        self.properties: list[frozenset[str]] = [frozenset(names.split("+")) for names in ids]

    def have_any(self, *names: str) -> NDArray[np.bool_]:
        """For each class, return whether it has at least one of the properties; shape (classes,)."""
        return np.array([not properties.isdisjoint(names) for properties in self.properties])


@functools.cache
def character_classes() -> CharacterClasses:
    """Return the classes. The first call reads the table."""
    return CharacterClasses()


def scan_words(
    class_ids: bytes, points: NDArray[np.integer], stretches: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Find the words in some stretches of a text.

    Args:
        class_ids: class of each character of the text.
        points: code points of the text; uint32.
        stretches: start and end of each stretch, in code points. The text outside the stretches is not read.

    Yields:
        Start and end of each word, in code points.
    """
    limits = _max_word_ends(points)
    by_class, outside_words, connectors = rules_by_class(), _non_word_start_pattern(), _connector_pattern()
    for start, end in stretches:
        position = start
        while position < end:
            patterns = by_class[class_ids[position]]
            if not patterns:
                position = _end_of_run(outside_words, class_ids, position, end)
                continue
            limit = position + MAX_WORD_UNITS if limits is None else limits.item(position)
            stop = position
            for pattern in patterns:
                match = pattern.match(class_ids, position, limit if limit < end else end)
                if match and match.end() > stop:
                    stop = match.end()
            if stop > position:
                check_stopped()
                yield position, stop
                position = stop
            else:
                # A word that begins in this run of connectors must extend beyond it, because connectors alone are not a
                # word. So skip the positions that are more than MAX_WORD_UNITS before the end of the run.
                position = max(position + 1, _end_of_run(connectors, class_ids, position, end) - MAX_WORD_UNITS)


def _max_word_ends(points: NDArray[np.integer]) -> NDArray[np.int64] | None:
    """For each character, return the last possible end of a word that begins there.

    Return None if each character has one UTF-16 unit. Any word may then have `MAX_WORD_UNITS` characters.
    """
    is_pair = points > 0xFFFF  # outside the BMP, a code point has two units
    if not is_pair.any():
        return None
    units = np.cumsum(is_pair + np.int64(1))
    return np.searchsorted(units, units - is_pair - 1 + MAX_WORD_UNITS, side="right")


def _end_of_run(pattern: re.Pattern[bytes], class_ids: bytes, start: int, end: int) -> int:
    """Return the end of the run of matching characters that begins at `start`, or `start` if there is no such run."""
    match = pattern.match(class_ids, start, end)
    return match.end() if match else start


@functools.cache
def rules_by_class() -> tuple[tuple[re.Pattern[bytes], ...], ...]:
    """For each class, return the rules whose words can begin with a character of this class."""
    patterns = [(frozenset(first), re.compile(rule, re.DOTALL)) for first, rule in _rules()]
    return tuple(
        tuple(pattern for first, pattern in patterns if not first.isdisjoint(properties))
        for properties in character_classes().properties
    )


@functools.cache
def _non_word_start_pattern() -> re.Pattern[bytes]:
    """Return a pattern that matches characters that cannot begin a word."""
    class_ids = [number for number, patterns in enumerate(rules_by_class()) if not patterns]
    return re.compile(b"[" + re.escape(bytes(class_ids)) + b"]+")


@functools.cache
def _connector_pattern() -> re.Pattern[bytes]:
    """Return a pattern that matches characters that can begin a word but are not a word by themselves."""
    class_ids = [number for number, names in enumerate(character_classes().properties) if names & CONNECTOR_PROPERTIES]
    return re.compile(b"[" + re.escape(bytes(class_ids)) + b"]*")


def rules() -> list[bytes]:
    """Return the rules as patterns over class numbers."""
    return [rule for _, rule in _rules()]


def _rules() -> list[tuple[set[str], bytes]]:
    """Return the rules, each with the properties of the characters that can begin its words."""

    def any_of(*names: str) -> str:
        chosen = [
            re.escape(chr(number))
            for number, properties in enumerate(character_classes().properties)
            if not properties.isdisjoint(names)
        ]
        return "[" + "".join(chosen) + "]"

    def with_marks(*names: str) -> str:  # rule WB4 of UAX #29: marks belong to the character before them
        return f"(?:{any_of(*names)}{any_of('Extend')}*)"

    letter, hebrew, digit = with_marks("ALetter", "Hebrew"), with_marks("Hebrew"), with_marks("Numeric")
    katakana, connector = with_marks("Katakana"), with_marks("ExtendNumLet")
    mid_letter = with_marks("MidLetter", "MidNumLet", "SingleQuote")
    mid_number = with_marks("MidNum", "MidNumLet", "SingleQuote")
    unit = (
        f"(?:{hebrew}{with_marks('DoubleQuote')}{hebrew}|{hebrew}{with_marks('SingleQuote')}"
        f"|{digit}(?:{mid_number}{digit})*|{letter}(?:{mid_letter}{letter})*)"
    )
    group = f"(?:{katakana}+|{unit}+)"
    word = f"{connector}*{group}(?:{connector}+{group})*{connector}*"

    zwj, selector = any_of("ZWJ"), any_of("EmojiSelector")
    # Inside emoji, presentation selectors are not treated as marks.
    mark = f"(?:(?!{any_of('TextSelector', 'EmojiSelector')}){any_of('Extend')})"
    emoji, modifier = f"(?:{any_of('Emoji')}{mark}*)", f"(?:{any_of('EmojiModifier')}{mark}*)"
    joined = f"(?:{selector}{zwj}+|{selector}{zwj}{modifier}(?<={zwj})|(?<={zwj})){emoji}"
    chain = f"{emoji}(?:{joined})*(?:{selector}(?:{zwj}{modifier})?)?"
    tagged = f"{zwj}*{emoji}{selector}{any_of('Tag')}+{any_of('TagEnd')}"
    keycap = f"{any_of('KeycapBase')}{mark}*{selector}?{any_of('Keycap')}{mark}*"
    patterns = [
        ({"ExtendNumLet", "Katakana", "Hebrew", "Numeric", "ALetter"}, word),
        ({"ZWJ", "Emoji"}, f"{zwj}*{chain}"),
        ({"EmojiModifier"}, f"{modifier}(?:(?<={zwj}){chain})?"),
        ({"ZWJ", "Emoji"}, tagged),
        ({"KeycapBase"}, keycap),
        ({"RegionalIndicator"}, with_marks("RegionalIndicator") * 2),
        ({"ComplexContext"}, with_marks("ComplexContext") + "+"),
        ({"Han"}, with_marks("Han")),
        ({"Hiragana"}, with_marks("Hiragana")),
    ]
    return [(first, pattern.encode("latin-1")) for first, pattern in patterns]
