"""Phrase search, word for word: the query and the answer, the same in every store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simdoc_search.documents import Place


@dataclass(frozen=True, slots=True)
class Phrase:
    """A run of words.

    Attributes:
        words: its normalised words.
        text: the run as it is in its text; an engine finds words in it by its own rules.
    """

    words: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class PhraseMatches:
    """The documents that contain some of the phrases.

    Attributes:
        documents: place to the ascending numbers of the phrases in that document.
        incomplete: numbers of phrases that further documents may contain, because their words are in too many documents
            to read them all.
    """

    documents: Mapping[Place, tuple[int, ...]]
    incomplete: tuple[int, ...] = ()
