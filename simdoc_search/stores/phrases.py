"""Which documents have a phrase, word for word: the question and the answer, the same in every store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simdoc_search.documents import Place


@dataclass(frozen=True, slots=True)
class Phrase:
    """A run of words.

    Attributes:
        words: its words, normalised.
        text: the same run as it stands in its text; an engine finds words in it by its own rules.
    """

    words: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class PhraseMatches:
    """The documents that have some of the phrases.

    Attributes:
        documents: place to the numbers of the phrases that the document there has, ascending.
        incomplete: the numbers of phrases that further documents may have: the words of these phrases are in too many
            documents to read them all.
    """

    documents: Mapping[Place, tuple[int, ...]]
    incomplete: tuple[int, ...] = ()
