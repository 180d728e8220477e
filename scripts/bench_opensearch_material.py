"""What bench_opensearch.py indexes and asks for: documents, some of them as sources, and what truly overlaps those."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from recall import Pairs, exact_overlaps

from simdoc_search import Document
from simdoc_search.passages.exact_overlap import shingle_set

SOURCES = 40
VOCABULARY, NEAR = 20_000, 2_000
OVERLAPS, COPIES = (0.2, 0.8), 5
LEAST = min(OVERLAPS)

T = TypeVar("T")


@dataclass(frozen=True)
class Material:
    """Documents, those that queries are asked for, and the exact overlap of each of those with any other document."""

    name: str
    documents: list[Document]
    sources: list[str] = field(default_factory=list)
    pairs: Pairs = field(default_factory=dict)


def synthetic(count: int, words: int) -> Material:
    """Synthetic documents of a length, without sources."""
    return Material(f"{words:,} words", list(_documents(count, words)))


def with_sources(material: Material) -> Material:
    """Synthetic documents, and copies of some, planted at overlaps around those that will be asked for."""
    near = min(NEAR, len(material.documents) // 5)
    usual = [each for each in material.documents[near:] if int(each.id[1:]) % 10 == 5]  # no copies, and not copied
    sources = _spread(usual)
    documents = [*material.documents, *_copies(sources, usual)]
    return Material(material.name, documents, [each.id for each in sources], _exact(sources, documents))


def real(corpus: Path) -> Material:
    """A corpus folder with `docs/` and `truth.tsv`; sources are documents that something overlaps."""
    files = sorted((corpus / "docs").iterdir())
    documents = [Document(each.name, each.read_text("utf-8", "replace")) for each in files]
    pairs = exact_overlaps({each.id: shingle_set(each.text) for each in documents}, corpus / "truth.tsv")
    sources = _spread(sorted({a for (a, _), exact in pairs.items() if exact >= LEAST}))
    return Material(corpus.name, documents, sources, {pair: pairs[pair] for pair in pairs if pair[0] in sources})


def _documents(count: int, word_count: int) -> Iterator[Document]:
    """Yield synthetic documents, the same on every machine.

    Their words are drawn from 20,000 words as in a language (Zipf). Every tenth document is a copy of the one before
    with up to 15 % of its words replaced. The first 2,000 are near-duplicates of one text.
    """
    generator = np.random.default_rng(1)
    letters = random.Random(1)
    vocabulary = np.array(["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=letters.randint(2, 10)))
                           for _ in range(VOCABULARY)])  # fmt: skip
    share = 1 / np.arange(1, VOCABULARY + 1)
    cumulative = np.cumsum(share / share.sum())

    def fresh(words: int) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
        return vocabulary[np.minimum(np.searchsorted(cumulative, generator.random(words)), VOCABULARY - 1)]

    base, last = fresh(word_count), fresh(word_count)
    for number in range(count):
        near = number < min(NEAR, count // 5)
        words = base.copy() if near else last.copy() if number % 10 == 0 else fresh(word_count)
        if near or number % 10 == 0:
            changed = generator.random(word_count) < generator.random() * (0.05 if near else 0.15)
            words[changed] = fresh(int(changed.sum()))
        last = words
        yield Document(f"d{number}", " ".join(words))


def _copies(sources: list[Document], others: list[Document]) -> Iterator[Document]:
    """Copies of the sources in which words are replaced by those of another document at the same place."""
    chance = random.Random(2)
    for source in sources:
        words, strange = source.text.split(), chance.choice(others).text.split()
        for number in range(COPIES * len(OVERLAPS)):
            overlap = OVERLAPS[number % len(OVERLAPS)] + chance.uniform(-0.01, 0.05)
            kept = (2 * overlap / (1 + overlap)) ** (1 / 5)  # of the words, so that this overlap of shingles remains
            mixed = (a if chance.random() < kept else b for a, b in zip(words, strange, strict=True))
            yield Document(f"{source.id}-copy{number}", " ".join(mixed))


def _exact(sources: list[Document], documents: Iterable[Document]) -> Pairs:
    """The exact overlap of each source with every document that reaches the least one."""
    sizes: dict[str, int] = {}
    owners: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        shingles = shingle_set(source.text)
        sizes[source.id] = len(shingles)
        for shingle in shingles:
            owners[shingle].append(source.id)
    pairs: Pairs = {}
    for document in documents:
        shingles = shingle_set(document.text)
        shared = Counter(owner for shingle in shingles if shingle in owners for owner in owners[shingle])
        for id, count in shared.items():
            exact = count / (sizes[id] + len(shingles) - count)
            if id != document.id and exact >= LEAST:
                pairs[id, document.id] = exact
    return pairs


def _spread(values: list[T]) -> list[T]:
    """Some of them, evenly apart."""
    return values[:: max(1, len(values) // SOURCES)][:SOURCES]
