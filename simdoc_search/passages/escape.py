"""Escapes text for HTML, and marks invisible characters and look-alike letters."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from simdoc_search.analysis.normalise import INVISIBLE_CHARACTERS
from simdoc_search.passages.disguise import find_disguising_characters

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_LINE_END = re.compile(r"\r\n|[\r\v\f\x85\u2028\u2029]")
_INVISIBLE_CHARACTER = re.compile(f"[{INVISIBLE_CHARACTERS}]")
# Control, zero-width, direction and tag characters, lone surrogates and noncharacters. Many scripts need joiners, and
# symbols need variation selectors, so they are marked only in disguised words.
_ALWAYS_MARKED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]"
)


def escape_html(text: str) -> str:
    r"""Escape a text for use as the content of an HTML element.

    An invisible character becomes an escape sequence, such as `\u202e`, in a `<span class="escape">`. So does a letter
    that looks like one of another alphabet, but as itself, with its Unicode name. Every line ends with a line feed.
    """
    disguising = find_disguising_characters(text)
    if not disguising:
        return _escape(text)
    parts = [_escape(text[: disguising[0]])]
    for position, following in pairwise([*disguising, len(text)]):
        parts += [_mark(text[position]), _escape(text[position + 1 : following])]
    return "".join(parts)


def _mark(character: str) -> str:
    if _INVISIBLE_CHARACTER.match(character):
        return _escape_sequence(character)
    return f'<span class="escape" title="{unicodedata.name(character).title()}">{character}</span>'


def _escape(text: str) -> str:
    lines = _LINE_END.sub("\n", text).translate(_ESCAPES)
    return _ALWAYS_MARKED.sub(lambda match: _escape_sequence(match.group()), lines)


def _escape_sequence(character: str) -> str:
    return f'<span class="escape">{character.encode("unicode_escape").decode()}</span>'
