"""What others wrote as HTML that shows it and does nothing else."""

from __future__ import annotations

import re

from simdoc_search.display import printable

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_LINE_END = re.compile(r"\r\n|[\r\v\f\x85\u2028\u2029]")
# Control characters, those that turn the direction of a text or are not seen, tags, lone surrogates, no characters.
# Joiners stay: many scripts cannot be written without them.
_SIGNS = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]"
)


def content(text: str) -> str:
    r"""A text as the content of an element; what would not be seen is shown as `\u202e`, marked as a sign."""
    lines = _LINE_END.sub("\n", text).translate(_ESCAPES)
    return _SIGNS.sub(lambda found: f'<span class="sign">{_written(found.group())}</span>', lines)


def attribute(text: str) -> str:
    """A text as the value of an attribute, or as a title: in one line."""
    return printable(" ".join(text.split())).translate(_ESCAPES)


def _written(character: str) -> str:
    return character.encode("unicode_escape").decode()
