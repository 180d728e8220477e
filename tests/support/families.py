"""Families of documents of which it is known how much they share."""

from __future__ import annotations

import random

from simdoc_search import Settings
from simdoc_search.analysis import Analysis
from simdoc_search.chunks import sentence_spans
from simdoc_search.sketch.sentences import Sentences, sentence_simhashes
from simdoc_search.sketch.simhash import Simhashes

SETTINGS = Settings(sentences=Sentences())
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def prose(count: int, seed: int) -> list[str]:
    """Sentences of 8 to 15 words that nobody wrote."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(count * 12)]
    return [" ".join(rng.sample(words, rng.randint(8, 15))).capitalize() + "." for _ in range(count)]


def edited(sentences: list[str], seed: int, *, kept: float, added: int) -> list[str]:
    """A version: some sentences gone, a word of some changed, others added, two paragraphs in another order."""
    rng = random.Random(seed)
    found = [each for each in sentences if rng.random() < kept]
    for at in rng.sample(range(len(found)), len(found) // 4):
        words = found[at].split()
        words[rng.randrange(len(words))] = "otherwise"
        found[at] = " ".join(words)
    middle = rng.randrange(len(found)) if found else 0
    return found[middle:] + prose(added, seed + 1_000) + found[:middle]


def library() -> dict[str, str]:
    """Families of documents that have more and less in common, and what has nothing in common with any."""
    texts = {}
    for family, count in enumerate((20, 40, 60, 150)):
        first = prose(count, family)
        texts[f"{family}/first.txt"] = " ".join(first)
        for number in range(4):
            other = edited(first, 10 * family + number, kept=0.95 - 0.3 * number, added=number * 30)
            texts[f"{family}/other{number}.txt"] = " ".join(other)
    return texts | {f"alone/{number}.txt": " ".join(prose(40, 100 + number)) for number in range(3)}


def simhashes_of(text: str) -> Simhashes:
    """Those of all its sentences."""
    return sentence_simhashes([text[begin:end] for begin, end in sentence_spans(text)], Analysis())[0]
