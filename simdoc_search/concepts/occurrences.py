"""Concepts at their places in a text, and counted for each of its paragraphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Found(NamedTuple):
    """A concept where a text has it.

    Attributes:
        begin: its first character.
        end: the one after its last.
        name: what it is called.
    """

    begin: int
    end: int
    name: str


def by_paragraph(spans: Sequence[tuple[int, int]], found: Iterable[Found]) -> list[Counter[str]]:
    """How often each paragraph of a text has which concepts, in the order in which it has them.

    Args:
        spans: where the paragraphs are, in order.
        found: concepts in any order; one belongs to the paragraph in which, or before which, it begins.
    """
    counts: list[Counter[str]] = [Counter() for _ in spans]
    at = 0
    for each in sorted(found):
        while each.begin >= spans[at][1] and at < len(spans) - 1:
            at += 1
        counts[at][each.name] += 1
    return counts
