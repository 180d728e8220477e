"""Finds the right answers by comparing all texts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import combinations, pairwise

from simdoc_search import Document, SimilaritySearch, compare, fingerprint, open_store
from simdoc_search.passages.exact_overlap import jaccard, shingle_set
from simdoc_search.sketch.settings import Settings

__all__ = ["Key", "Truth"]

Key = tuple[str, str]
"""Index and id of a document."""

_fingerprint = lru_cache(10_000)(fingerprint)
_shingles = lru_cache(10_000)(shingle_set)


class Truth:
    """The right answers for some documents.

    Args:
        texts: the text of each document; None if it has none.
    """

    def __init__(self, texts: Mapping[Key, str | None]) -> None:
        self.texts = {key: text for key, text in texts.items() if text}

    def estimated(self, key: Key, overlap: float) -> dict[Key, float]:
        """Return the other documents with at least this estimated overlap."""
        own = _fingerprint(self.texts[key])
        return self._others(key, overlap, lambda text: own.overlap(_fingerprint(text)))

    def exact(self, key: Key, overlap: float) -> dict[Key, float]:
        """Return the other documents with at least this exact overlap."""
        own = _shingles(self.texts[key])
        return self._others(key, overlap, lambda text: jaccard(own, _shingles(text)))

    def passages(self, key: Key) -> dict[Key, int]:
        """Return the other documents that share a passage, and the number of shared words."""
        own = self.texts[key]
        words = {other: _shared_words(own, text) for other, text in self.texts.items() if other != key}
        return {other: count for other, count in words.items() if count}

    def groups(self, overlap: float) -> set[frozenset[Key]]:
        """Return the groups of duplicates."""
        similar: dict[Key, set[Key]] = defaultdict(set)
        for a, b in self._pairs():
            if jaccard(_shingles(self.texts[a]), _shingles(self.texts[b])) >= overlap:
                similar[a].add(b)
                similar[b].add(a)
        groups = {frozenset({key, *others}) for key, others in similar.items()}
        assert len({key for group in groups for key in group}) == sum(map(len, groups)), "groups overlap"
        return groups

    def versions(self, key: Key) -> set[Key]:
        """Return the versions of a document, as a store in memory finds them."""
        hits = self._search.versions(" ".join(key), size=1000).hits
        return {self._key(hit.id) for hit in hits}

    def _others(self, key: Key, least: float, measure: Callable[[str], float]) -> dict[Key, float]:
        overlaps = {other: measure(text) for other, text in self.texts.items() if other != key}
        return {other: overlap for other, overlap in overlaps.items() if overlap >= least}

    @cached_property
    def _search(self) -> SimilaritySearch:
        search = SimilaritySearch(open_store(":memory:", Settings(), create=True))
        search.index(Document(" ".join(key), text) for key, text in self.texts.items())
        return search

    def _pairs(self) -> Iterator[tuple[Key, Key]]:
        """Yield all pairs that share a shingle."""
        by_shingle: dict[str, list[Key]] = defaultdict(list)
        for key, text in self.texts.items():
            for shingle in _shingles(text):
                by_shingle[shingle].append(key)
        yield from {pair for keys in by_shingle.values() for pair in combinations(keys, 2)}

    @staticmethod
    def _key(joined: str) -> Key:
        index, _, id = joined.partition(" ")
        return index, id


@lru_cache(100_000)
def _shared_words(a: str, b: str) -> int:
    return compare(a, b).matched_word_counts[0] if _word_pairs(a) & _word_pairs(b) else 0


@lru_cache(10_000)
def _word_pairs(text: str) -> frozenset[tuple[str, str]]:
    words = re.findall(r"\w+", text.lower())
    return frozenset(pairwise(words))
