"""The words around a place of a text."""

from __future__ import annotations

import re

_CHARACTERS = 12  # of a word, on average, at most: of longer words fewer are taken, of what is not cut at all a part
_SIGNS = re.compile(r"[.,;:!?)\]}”’»…]+(?=\s|$)")


def words_before(text: str, start: int, end: int, count: int) -> str:
    """The last words before `end`, none before `start`, with the space after them; `…` stands for those left out."""
    begin = max(start, end - _CHARACTERS * count)
    words = re.split(r"(\s+)", text[begin:end])
    if begin > start and len(words) > 2:
        words = words[2:]  # the first is cut
    kept = words[-2 * count :]
    whole = begin == start and len(kept) == len(words)
    return "".join(kept) if whole else f"… {''.join(kept).lstrip()}"


def words_after(text: str, start: int, count: int) -> str:
    """The first words from `start` on, with the space before them; `…` stands for those left out."""
    end = start + _CHARACTERS * count
    words = re.split(r"(\s+)", text[start:end])
    if end < len(text) and len(words) > 2:
        words = words[:-2]  # the last is cut
    kept = "".join(words[: 2 * count])
    return kept if start + len(kept) >= len(text) else f"{kept.rstrip()} …"


def after_sign(text: str, at: int) -> int:
    """The place after the comma or full stop that ends a word, which is no part of it."""
    signs = _SIGNS.match(text, at)
    return signs.end() if signs else at
