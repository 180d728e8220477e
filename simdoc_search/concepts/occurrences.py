"""Concepts at their positions in a text, counted by paragraph, and the words that are no part of a concept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_COMMON = """
    a about above after again all also although always an and another any are as at back be because been before being
    below between both but by can could de del der des did do does du each either every few first for from had has have
    having he her here hers him his how however i if in indeed instead into is it its just la last later le least less
    let like many may maybe me meanwhile might more moreover most much must my never nevertheless next no nor not
    nothing now of often on once one only or other our out over perhaps please same second see shall she should since so
    some still such than that the their them then there therefore these they third this those though through thus to
    today too two under unless until up upon us van very von was we well were what when where whether which while who
    whom whose why will with within without would yes yesterday yet you your
    monday tuesday wednesday thursday friday saturday sunday
    january february march april june july august september october november december
"""

COMMON_WORDS = frozenset(_COMMON.split())


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
