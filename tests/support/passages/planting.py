"""Plants passages of one text in another, changed as people do, and records their places."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.support import texts

Span = tuple[int, int]
_WORD = re.compile(r"\w+")
_MIN_GAP_WORDS = 100
"""The minimum number of words between two passages, so that they are not found as one passage."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A suspicious text, its source, and the places of each planted passage in both, in characters."""

    suspicious: str
    source: str
    spans: tuple[tuple[Span, Span], ...]


@dataclass(frozen=True, slots=True)
class Change:
    """How a passage is changed."""

    replaced: float = 0.0  # The share of the words that are replaced
    dropped: float = 0.0  # The share of the words that are left out
    inserted: float = 0.0  # New words as a share of the old ones
    kept: float = 1.0  # The share of the sentences that are kept
    piece: float = 0.0  # The mean number of words of a shuffled piece. 0: nothing is shuffled.
    reach: int = 0  # The maximum number of pieces that a piece moves


def plant(rng: random.Random, host: str, source: str, lengths: Sequence[int], change: Change) -> Pair:
    """Plant changed passages of the source in the host, in any order. `lengths` are their numbers of words."""
    words, gaps = ([match.span() for match in _WORD.finditer(text)] for text in (source, host))
    starts = _scattered(rng, len(words), lengths)
    passages = [(words[at][0], words[at + length - 1][1]) for at, length in zip(starts, lengths, strict=True)]
    rng.shuffle(passages)
    places = [gaps[at][0] for at in _scattered(rng, len(gaps) - 1, [0] * len(lengths))]
    parts: list[str] = []
    spans: list[tuple[Span, Span]] = []
    last = length = 0
    for place, b in zip(places, passages, strict=True):
        before = host[last:place].rstrip() + "\n\n"
        text = changed(rng, source[b[0] : b[1]], change)
        start = length + len(before)
        spans.append(((start, start + len(text)), b))
        parts += [before, text, " "]
        last, length = place, start + len(text) + 1
    return Pair("".join([*parts, host[last:]]), source, tuple(spans))


def changed(rng: random.Random, passage: str, change: Change) -> str:
    """Return a passage with changes."""
    sentences = re.split(r"(?<=[.!?;])\s+", passage)
    kept = rng.sample(range(len(sentences)), math.ceil(change.kept * len(sentences)))
    words: list[str] = []
    for word in (word for number in sorted(kept) for word in sentences[number].split()):
        if rng.random() < change.inserted:
            words.append(_random_word(rng))
        if rng.random() >= change.dropped:
            words.append(_random_word(rng) if rng.random() < change.replaced else word)
    return " ".join(_shuffled(rng, words, change) if change.piece else words)


def _random_word(rng: random.Random) -> str:
    return texts.text(rng, 1).strip(".?!; \n").lower()


def _shuffled(rng: random.Random, words: list[str], change: Change) -> list[str]:
    """Return the words in pieces that change places with pieces near them."""
    pieces = []
    start = 0
    while start < len(words):
        end = start + 1 + round(rng.expovariate(1 / (change.piece - 1)))
        pieces.append(words[start:end])
        start = end
    places = [number + rng.uniform(0, change.reach) for number in range(len(pieces))]
    return [word for _, piece in sorted(zip(places, pieces, strict=True)) for word in piece]


def _scattered(rng: random.Random, total: int, lengths: Sequence[int]) -> list[int]:
    """Return random starts, in ascending order, for passages of these lengths in `total` words."""
    free = total - sum(lengths) - _MIN_GAP_WORDS * max(0, len(lengths) - 1)
    at, starts = 0, []
    for skipped, length in zip(sorted(rng.randint(0, free) for _ in lengths), lengths, strict=True):
        starts.append(skipped + at)
        at += length + _MIN_GAP_WORDS
    return starts
