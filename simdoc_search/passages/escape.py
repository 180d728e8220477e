"""Escapes text for HTML, and marks invisible characters and look-alike letters."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from simdoc_search.passages.disguise import find_lookalike_letters

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_LINE_END = re.compile(r"\r\n|[\r\v\f\x85\u2028\u2029]")
# Control, zero-width, direction and tag characters, lone surrogates and noncharacters. Many scripts need joiners, so
# they are not included.
_INVISIBLE_CHARACTERS = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]"
)


def escape_html(text: str) -> str:
    r"""Escape a text for use as the content of an HTML element.

    An invisible character becomes an escape sequence, such as `\u202e`, in a `<span class="escape">`. So does a letter
    that looks like one of another alphabet, but as itself, with its Unicode name. Every line ends with a line feed.
    """
    lookalikes = find_lookalike_letters(text)
    if not lookalikes:
        return _escape(text)
    parts = [_escape(text[: lookalikes[0]])]
    for position, following in pairwise([*lookalikes, len(text)]):
        letter = text[position]
        title = unicodedata.name(letter).title()
        parts += [f'<span class="escape" title="{title}">{letter}</span>', _escape(text[position + 1 : following])]
    return "".join(parts)


def _escape(text: str) -> str:
    lines = _LINE_END.sub("\n", text).translate(_ESCAPES)
    return _INVISIBLE_CHARACTERS.sub(_escape_sequence, lines)


def _escape_sequence(match: re.Match[str]) -> str:
    return f'<span class="escape">{match.group().encode("unicode_escape").decode()}</span>'
