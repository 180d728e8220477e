"""Families of documents that share known numbers of sentences."""

from __future__ import annotations

import random

from simdoc_search import Settings
from simdoc_search.analysis import Analysis
from simdoc_search.chunks import sentence_spans
from simdoc_search.sketch.sentences import SentenceSettings, sentence_simhashes
from simdoc_search.sketch.simhash import Simhashes

SETTINGS = Settings(sentences=SentenceSettings())
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def prose(count: int, seed: int) -> list[str]:
    """Return random sentences of 8 to 15 words."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(count * 12)]
    return [" ".join(rng.sample(words, rng.randint(8, 15))).capitalize() + "." for _ in range(count)]


def edited(sentences: list[str], seed: int, *, kept: float, added: int) -> list[str]:
    """Make a version: remove, change and add sentences, and swap two parts."""
    rng = random.Random(seed)
    version = [sentence for sentence in sentences if rng.random() < kept]
    for number in rng.sample(range(len(version)), len(version) // 4):
        words = version[number].split()
        words[rng.randrange(len(words))] = "otherwise"
        version[number] = " ".join(words)
    middle = rng.randrange(len(version)) if version else 0
    return version[middle:] + prose(added, seed + 1_000) + version[:middle]


def library() -> dict[str, str]:
    """Return families of documents that share different numbers of sentences, and documents that share none."""
    texts = {}
    for family, count in enumerate((20, 40, 60, 150)):
        first = prose(count, family)
        texts[f"{family}/first.txt"] = " ".join(first)
        for number in range(4):
            version = edited(first, 10 * family + number, kept=0.95 - 0.3 * number, added=number * 30)
            texts[f"{family}/other{number}.txt"] = " ".join(version)
    return texts | {f"alone/{number}.txt": " ".join(prose(40, 100 + number)) for number in range(3)}


def simhashes_of(text: str) -> Simhashes:
    """Return the simhashes of all sentences."""
    return sentence_simhashes([text[begin:end] for begin, end in sentence_spans(text)], Analysis())[0]
