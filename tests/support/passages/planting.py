"""Plants passages of one text in another, and records their places."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from simdoc_search.analysis.words import locate_words
from tests.support.passages.rewording import Vocabulary

__all__ = ["Material", "Pair", "Span", "log_uniform", "plant", "word_places"]

Span = tuple[int, int]
_WORD = re.compile(r"\w+")
_RUN_WORDS = 6
"""Paragraphs that share a run of 6 words are not used together, so that texts share only planted passages."""
_RELATED = 20
"""A document is not used if earlier documents have more than 1 of 20 of its runs."""
_MIN_GAP_WORDS = 100
"""The minimum number of words between two passages, so that they are not found as one passage."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A suspicious text, its source, and the places of each planted passage in both, in characters."""

    suspicious: str
    source: str
    spans: tuple[tuple[Span, Span], ...]


class Material:
    """Documents in paragraphs, no two of which share a run of 6 words.

    Of related documents, such as versions, only the first is used. They would share text that nobody planted.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._documents: list[list[tuple[str, int]]] = []
        seen: set[tuple[str, ...]] = set()
        for text in texts:
            runs = set(_runs(text))
            if len(runs & seen) * _RELATED <= len(runs):
                document = [
                    (paragraph.strip("\r\n"), len(_WORD.findall(paragraph)))
                    for paragraph in re.split(r"\n\s*\n", text)
                    if _is_new(_runs(paragraph), seen)
                ]
                self._documents += [document] if document else []
            seen |= runs

    @property
    def words(self) -> int:
        """The number of words."""
        return sum(words for document in self._documents for _, words in document)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words, by frequency."""
        return Vocabulary.of(paragraph for document in self._documents for paragraph, _ in document)

    def halves(self, rng: random.Random) -> tuple[Material, Material]:
        """Two parts with about the same number of words. No document is in both."""
        halves = Material(()), Material(())
        for document in rng.sample(self._documents, len(self._documents)):
            min(halves, key=lambda half: half.words)._documents.append(document)
        return halves

    def text(self, rng: random.Random, words: int) -> str:
        """A text of at least `words` words, if the material has as many. It begins in a random document."""
        paragraphs: list[str] = []
        length = 0
        first, *others = rng.sample(self._documents, len(self._documents))
        begin = rng.randrange(len(first))
        for document in (first[begin:], *others, first[:begin]):
            for paragraph, count in document:
                if length >= words:
                    return "\n\n".join(paragraphs)
                paragraphs.append(paragraph)
                length += count
        return "\n\n".join(paragraphs)


def log_uniform(rng: random.Random, shortest: int, longest: int) -> int:
    """A random number whose logarithm is uniformly distributed."""
    return round(math.exp(rng.uniform(math.log(shortest), math.log(longest))))


def plant(rng: random.Random, host: str, source: str, lengths: Sequence[int], change: Callable[[str], str]) -> Pair:
    """Plant changed passages of the source in the host, in any order. `lengths` are their numbers of words.

    Raises:
        ValueError: A text is too short.
    """
    words, gaps = word_places(source), word_places(host)
    starts = _scattered(rng, len(words), lengths)
    passages = [(words[at][0], words[at + length - 1][1]) for at, length in zip(starts, lengths, strict=True)]
    rng.shuffle(passages)
    places = [gaps[at][0] for at in _scattered(rng, len(gaps) - 1, [0] * len(lengths))]
    parts: list[str] = []
    spans: list[tuple[Span, Span]] = []
    last = length = 0
    for place, b in zip(places, passages, strict=True):
        gap = rng.choice((" ", "\n\n"))
        before = host[last:place].rstrip() + gap
        text = change(source[b[0] : b[1]])
        start = length + len(before)
        spans.append(((start, start + len(text)), b))
        parts += [before, text, gap]
        last, length = place, start + len(text) + len(gap)
    return Pair("".join([*parts, host[last:]]), source, tuple(spans))


def _runs(text: str) -> list[tuple[str, ...]]:
    """The runs of 6 words. A shorter text is one run."""
    words = _WORD.findall(text.lower())
    return [tuple(words[at : at + _RUN_WORDS]) for at in range(max(1, len(words) - _RUN_WORDS + 1))] if words else []


def _is_new(runs: list[tuple[str, ...]], seen: set[tuple[str, ...]]) -> bool:
    """Whether there are runs, without repeats, none of them in `seen`. They are added to `seen`."""
    distinct = set(runs)
    is_new = bool(runs) and len(distinct) == len(runs) and seen.isdisjoint(distinct)
    seen |= distinct
    return is_new


def word_places(text: str) -> list[Span]:
    """The places of the words of a text, in characters."""
    placed = locate_words(text)
    return list(zip(placed.starts.tolist(), placed.ends.tolist(), strict=True))


def _scattered(rng: random.Random, total: int, lengths: Sequence[int]) -> list[int]:
    """Random starts, in ascending order, for passages of these lengths in `total` words."""
    free = total - sum(lengths) - _MIN_GAP_WORDS * max(0, len(lengths) - 1)
    if free < 0:
        raise ValueError(f"{total} words are too few for passages of {', '.join(map(str, lengths))} words")
    at, starts = 0, []
    for skipped, length in zip(sorted(rng.randint(0, free) for _ in lengths), lengths, strict=True):
        starts.append(skipped + at)
        at += length + _MIN_GAP_WORDS
    return starts
