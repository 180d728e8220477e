"""Escapes text for HTML, and replaces invisible characters with escape sequences."""

from __future__ import annotations

import re

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

    An invisible character becomes an escape sequence, such as `\u202e`, in a `<span class="escape">`. Every line ends
    with a line feed.
    """
    lines = _LINE_END.sub("\n", text).translate(_ESCAPES)
    return _INVISIBLE_CHARACTERS.sub(_escape_sequence, lines)


def _escape_sequence(match: re.Match[str]) -> str:
    return f'<span class="escape">{match.group().encode("unicode_escape").decode()}</span>'
