"""A text to its concepts, and these to the numbers that are stored.

What finds concepts is a `Finder`, of which there can be any; all else, synonyms and the stored form, is the same for
all of them. What is stored are the *words* of concepts, one by one and without small ones, so that `Oak Hill` meets
`Oak Hill Country Club` and `golf title` meets `golf trophy`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import slices, word_batch
from simdoc_search.chunks.line_endings import with_newlines
from simdoc_search.concepts.occurrences import COMMON_WORDS
from simdoc_search.concepts.synonyms import Synonyms
from simdoc_search.errors import MissingExtraError
from simdoc_search.sketch.concepts import PARAGRAPH_END, Concepts
from simdoc_search.sketch.murmur3 import murmur3_x64_128

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

        Whatever it raises costs the concepts of that document alone; but for MissingExtraError.
        """


@dataclass(frozen=True, slots=True)
class Extractor:
    """Finds the concepts of texts.

    Attributes:
        finder: what finds them.
        synonyms: words that count as others; None: all count as themselves.
    """

    finder: Finder
    synonyms: Synonyms | None = None

    @property
    def settings(self) -> Concepts:
        """What an index remembers of it."""
        return Concepts(self.finder.name, self.synonyms.check if self.synonyms else "")

    def codes(self, texts: Sequence[str]) -> list[Codes | None]:
        """The concepts of each text in the form that is stored; None of a text on which the finder failed.

        Returns:
            For each text uint32, numbers of 30 bits: of each paragraph that has concepts a number for each of their
            words, as often as it has it, and 0. Of a text without concepts it is one 0, so all texts that were looked
            at have that.

        Raises:
            MissingExtraError: what the finder needs is not installed.
        """
        every = map(self.found, texts)
        return [None if found is None else self.codes_of(found) for found in every]

    def concepts(self, text: str) -> list[Counter[str]]:
        """The concepts of each paragraph that has any, by name, with how often it has each."""
        return [each for each in self.finder.find(with_newlines(text)) if each]

    def words(self, names: Sequence[str]) -> list[list[str]]:
        """The words of concepts: normalised, synonyms as the word that they count as, without small ones."""
        return [[word for word, _ in each] for each in self.counted(names)]

    def counted(self, names: Sequence[str]) -> list[list[tuple[str, str]]]:
        """The same words, each with the words of the concept that count as it; empty if no synonym is applied."""
        batch = word_batch(names, _ANALYSIS)
        every = iter(slices(batch.units, batch.starts, batch.ends))
        found = [[next(every) for _ in range(count)] for count in batch.counts.tolist()]
        every_word = (self._pairs(each) for each in found)
        return [[pair for pair in each if pair[0] not in COMMON_WORDS] for each in every_word]

    def _pairs(self, words: Sequence[str]) -> Iterator[tuple[str, str]]:
        for run, meant in self.synonyms.runs(words) if self.synonyms else (((each,), (each,)) for each in words):
            yield from ((word, "" if run == meant else " ".join(run)) for word in meant)

    def found(self, text: str) -> list[Counter[str]] | None:
        """The same; None of a text on which the finder failed.

        Raises:
            MissingExtraError: what the finder needs is not installed.
        """
        try:
            return self.concepts(text)
        except MissingExtraError:
            raise
        except Exception:  # other people's code, and one text is not all
            return None

    def codes_of(self, paragraphs: Sequence[Counter[str]]) -> Codes:
        """The concepts of the paragraphs of a text in the form that is stored; see `codes`."""
        names = list(dict.fromkeys(name for each in paragraphs for name in each))
        words = dict(zip(names, self.words(names), strict=True))
        counted = [_counted(each, words) for each in paragraphs]
        vocabulary = list(dict.fromkeys(word for each in counted for word in each))
        numbers = dict(zip(vocabulary, codes_of_names(vocabulary).tolist(), strict=True))
        codes: list[int] = []
        for each in filter(None, counted):
            codes += [numbers[word] for word, times in each.items() for _ in range(times)]
            codes.append(PARAGRAPH_END)
        return np.array(codes or [PARAGRAPH_END], np.uint32)


def _counted(paragraph: Counter[str], words: dict[str, list[str]]) -> Counter[str]:
    """How often a paragraph has each word of its concepts."""
    counts: Counter[str] = Counter()
    for name, times in paragraph.items():
        for word in words[name]:
            counts[word] += times
    return counts


def codes_of_names(names: Iterable[str]) -> Codes:
    """The number of each word, or of a name of several: the top bits of the MurmurHash3 of what it is normalised.

    Returns:
        uint32, shape (names,), of 30 bits, never 0; a name without words has that of none.
    """
    words = word_batch(list(names), _ANALYSIS)
    ends = np.cumsum(words.counts)
    starts = np.append(words.starts, 0)[ends - words.counts]
    stops = np.append(words.ends, 0)[np.maximum(ends - 1, 0)]
    stops = np.where(words.counts > 0, stops, starts)
    high, _ = murmur3_x64_128(words.units, starts, stops)
    codes: Codes = np.maximum(high >> np.uint64(64 - _CODE_BITS), 1).astype(np.uint32)
    return codes
