"""A text with its lines ended as Unix ends them: where it was saved shall make no difference."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

_END = re.compile(r"\r\n?")
_LEFT_OUT = re.compile(r"\r(?=\n)")


def with_newlines(text: str) -> str:
    r"""The text with `\n` in place of each `\r\n` and of each other `\r`."""
    return _END.sub("\n", text) if "\r" in text else text


def places_before(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where stretches of `with_newlines(text)` are in the text itself.

    Args:
        text: the text as it was.
        spans: their first characters and those after their last, without line ends around them.
    """
    left_out = [found.start() - number for number, found in enumerate(_LEFT_OUT.finditer(text))]
    return [(begin + bisect_left(left_out, begin), end + bisect_left(left_out, end)) for begin, end in spans]
