"""What is shared, by name: stored concepts are numbers, so the names are those of the source's text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from simdoc_search.concepts import Extractor, codes_of_names


class NamedConcepts:
    """The concepts of a text, by name and by number.

    Args:
        paragraphs: the concepts of each of its paragraphs, by name.
        extractor: what found them.

    Attributes:
        words: their words, by number.
        extractor: the same.
    """

    def __init__(self, paragraphs: Sequence[Counter[str]], extractor: Extractor) -> None:
        self.words: dict[int, NamedWord] = named_words(paragraphs, extractor)
        self.extractor: Extractor = extractor
        counts: Counter[str] = sum(paragraphs, Counter())
        names = [name for name, _ in counts.most_common()]
        parts = [name.split() for name in names]
        whole = _numbers(extractor, names)
        each = iter(_numbers(extractor, [word for words in parts for word in words]))
        self._names = [
            (name, codes, [(w, next(each)) for w in words])
            for name, codes, words in zip(names, whole, parts, strict=True)
        ]

    def shared(self, codes: Set[int], weights: Mapping[int, float]) -> tuple[str, ...]:
        """Those of which another document has all words, the most telling first; of others the parts of which it has.

        Args:
            codes: the concepts of the other document.
            weights: what each concept of the text weighs.
        """
        found = {name: its for name, its in self._shared(codes) if its}
        told = sorted(found, key=lambda name: (-sum(weights.get(each, 0.0) for each in found[name]), name))
        kept: list[str] = []
        said: list[frozenset[int]] = []
        for name in told:  # what is part of another comes after it
            if not any(found[name] <= each for each in said):
                kept.append(name)
                said.append(found[name])
        return tuple(kept)

    def _shared(self, codes: Set[int]) -> Iterator[tuple[str, frozenset[int]]]:
        for name, whole, parts in self._names:
            if whole and whole <= codes:
                yield name, whole
            else:
                yield from _runs(parts, codes)


def _runs(parts: Sequence[tuple[str, frozenset[int]]], codes: Set[int]) -> Iterator[tuple[str, frozenset[int]]]:
    """The longest runs of words that the other document has too; small words stand inside only."""
    run: list[tuple[str, frozenset[int]]] = []
    for word, its in (*parts, ("", frozenset({-1}))):
        if its <= codes and (its or run):
            run.append((word, its))
            continue
        while run and not run[-1][1]:
            run.pop()
        yield " ".join(each for each, _ in run), frozenset().union(*(each for _, each in run))
        run = []


def _numbers(extractor: Extractor, names: Sequence[str]) -> list[frozenset[int]]:
    """The numbers of the words of each name."""
    words = extractor.words(names)
    vocabulary = list(dict.fromkeys(word for each in words for word in each))
    numbers = dict(zip(vocabulary, codes_of_names(vocabulary).tolist(), strict=True))
    return [frozenset(map(numbers.__getitem__, each)) for each in words]


class NamedWord(NamedTuple):
    """A word of concepts, as it is stored.

    Attributes:
        word: the normalised word; a synonym is the word that it counts as.
        names: the concepts of the text that have it, the most frequent first.
        synonyms: the words of the text that count as it, and are others.
    """

    word: str
    names: tuple[str, ...]
    synonyms: tuple[str, ...]


UNNAMED = NamedWord("", (), ())
"""A word that cannot be named."""


def named_words(paragraphs: Sequence[Counter[str]], extractor: Extractor) -> dict[int, NamedWord]:
    """The words of the concepts of a text, by their numbers."""
    names = [name for name, _ in sum(paragraphs, Counter[str]()).most_common()]
    having: dict[str, dict[str, None]] = {}
    meant: dict[str, dict[str, None]] = {}
    for name, pairs in zip(names, extractor.words_and_synonyms(names), strict=True):
        for word, run in pairs:
            having.setdefault(word, {})[name] = None
            if run:
                meant.setdefault(word, {})[run] = None
    codes = codes_of_names(list(having)).tolist()
    return {
        code: NamedWord(word, tuple(its), tuple(meant.get(word, ())))
        for code, (word, its) in zip(codes, having.items(), strict=True)
    }
