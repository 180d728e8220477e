"""Defines the interface of a finder of concepts, and code that all finders share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from simdoc_search.errors import SimdocError

_COMMON_WORD_LIST = """
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

COMMON_WORDS = frozenset(_COMMON_WORD_LIST.split())
"""Words that are not counted as parts of concepts."""


IDEOGRAPHS = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
"""Matches Chinese characters, each of which is a word for `locate_words`."""


class ConceptsError(SimdocError, ValueError):
    """A file of synonyms or a spaCy model cannot be used."""


class Finder(Protocol):
    """Finds concepts in a text. A finder must be picklable, because it is sent to worker processes."""

    @property
    def name(self) -> str:
        """The name that an index stores; see `ConceptSettings.extractor`."""

    def find(self, text: str) -> list[Counter[str]]:
        """Return the concepts of each paragraph, in readable form, with their frequencies.

        If this raises MissingExtraError, indexing stops. If it raises a different exception, the document gets no
        concepts, and indexing continues.
        """


class Occurrence(NamedTuple):
    """A concept at a position in a text."""

    begin: int
    end: int
    concept: str


def count_by_paragraph(spans: Sequence[tuple[int, int]], occurrences: Iterable[Occurrence]) -> list[Counter[str]]:
    """For each paragraph, return its concepts with their frequencies, in order of occurrence.

    A concept between two paragraphs belongs to the second one.
    """
    counts: list[Counter[str]] = [Counter() for _ in spans]
    number = 0
    for occurrence in sorted(occurrences):
        while occurrence.begin >= spans[number][1] and number < len(spans) - 1:
            number += 1
        counts[number][occurrence.concept] += 1
    return counts
