"""A text to its concepts, and these to the numbers that are stored.

What finds concepts is a `Finder`, of which there can be any; all else, synonyms and the stored form, is the same for
all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import word_batch
from simdoc_search.sketch.concepts import PARAGRAPH_END, Concepts
from simdoc_search.sketch.murmur3 import murmur3_x64_128

__all__ = ["Extractor", "Finder", "codes_of_names"]

Codes = NDArray[np.uint32]

_CODE_BITS = 30
_ANALYSIS = Analysis()


class Finder(Protocol):
    """What finds concepts in a text; it is sent to worker processes, so it can be pickled."""

    @property
    def name(self) -> str:
        """What an index remembers of it; see `Concepts.extractor`."""

    def find(self, text: str) -> list[Counter[str]]:
        """The concepts of each paragraph, as they are to be shown, with how often it has each.

        Whatever it raises costs the concepts of that document alone.
        """


@dataclass(frozen=True, slots=True)
class Extractor:
    """Finds the concepts of texts.

    Attributes:
        finder: what finds them.
    """

    finder: Finder

    @property
    def settings(self) -> Concepts:
        """What an index remembers of it."""
        return Concepts(self.finder.name)

    def codes(self, texts: Sequence[str]) -> list[Codes | None]:
        """The concepts of each text in the form that is stored; None of a text on which the finder failed.

        Returns:
            For each text uint32, numbers of 30 bits: of each paragraph that has concepts a number for each, as often as
            it has it, and 0. Of a text without concepts it is one 0, so all texts that were looked at have that.
        """
        return [self._codes(text) for text in texts]

    def concepts(self, text: str) -> list[Counter[str]]:
        """The concepts of each paragraph that has any, by name, with how often it has each."""
        return [each for each in self.finder.find(text) if each]

    def _codes(self, text: str) -> Codes | None:
        try:
            paragraphs = self.concepts(text)
        except Exception:  # other people's code, and one text is not all
            return None
        end = np.full(1, PARAGRAPH_END, np.uint32)
        parts = [np.repeat(codes_of_names(list(each)), list(each.values())) for each in paragraphs]
        return np.concatenate([each for part in parts for each in (part, end)] or [end])


def codes_of_names(names: Sequence[str]) -> Codes:
    """The number of each concept: the top bits of the MurmurHash3 of its words, normalised as by default.

    Returns:
        uint32, shape (names,), of 30 bits, never 0; a name without words has that of none.
    """
    words = word_batch(names, _ANALYSIS)
    ends = np.cumsum(words.counts)
    starts = np.append(words.starts, 0)[ends - words.counts]
    stops = np.append(words.ends, 0)[np.maximum(ends - 1, 0)]
    stops = np.where(words.counts > 0, stops, starts)
    high, _ = murmur3_x64_128(words.units, starts, stops)
    codes: Codes = np.maximum(high >> np.uint64(64 - _CODE_BITS), 1).astype(np.uint32)
    return codes
