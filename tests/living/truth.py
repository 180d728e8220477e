"""What is to be found among some texts: each is compared with each other one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import combinations, pairwise

from simdoc_search import Document, Fingerprint, SimilaritySearch, compare, fingerprint, open_store
from simdoc_search.passages.exact import jaccard, shingle_set
from simdoc_search.sketch.settings import Settings

__all__ = ["Key", "Truth"]

Key = tuple[str, str]
"""Index and id of a document."""

_fingerprint = lru_cache(10_000)(fingerprint)
_shingles = lru_cache(10_000)(shingle_set)


class Truth:
    """What commands must answer about some documents.

    Args:
        texts: of all documents; None where a document has none.
    """

    def __init__(self, texts: Mapping[Key, str | None]) -> None:
        self.texts = {key: text for key, text in texts.items() if text}

    def estimated(self, key: Key, overlap: float) -> dict[Key, float]:
        """The others whose fingerprint reaches an overlap with that of one, and their overlaps."""
        return self.estimated_of(_fingerprint(self.texts[key]), overlap, key)

    def estimated_of(self, source: Fingerprint, overlap: float, key: Key | None = None) -> dict[Key, float]:
        """The same of a fingerprint."""
        found = {other: source.overlap(_fingerprint(text)) for other, text in self.texts.items() if other != key}
        return {other: each for other, each in found.items() if each >= overlap}

    def exact(self, key: Key, overlap: float) -> dict[Key, float]:
        """The others whose text reaches an overlap with that of one, and their overlaps."""
        own = _shingles(self.texts[key])
        found = {other: jaccard(own, _shingles(text)) for other, text in self.texts.items() if other != key}
        return {other: each for other, each in found.items() if each >= overlap}

    def passages(self, key: Key) -> dict[Key, int]:
        """The others that share a passage with one, and how many of its words are in them."""
        own = self.texts[key]
        found = {other: _shared_words(own, text) for other, text in self.texts.items() if other != key}
        return {other: words for other, words in found.items() if words}

    def groups(self, overlap: float) -> set[frozenset[Key]]:
        """The groups of duplicates."""
        near: dict[Key, set[Key]] = defaultdict(set)
        for a, b in self._pairs():
            if jaccard(_shingles(self.texts[a]), _shingles(self.texts[b])) >= overlap:
                near[a].add(b)
                near[b].add(a)
        found = {frozenset({key, *others}) for key, others in near.items()}
        assert len({key for each in found for key in each}) == sum(map(len, found)), "groups that overlap"
        return found

    def versions(self, key: Key) -> set[Key]:
        """The versions of one, as a store in memory finds them."""
        hits = self._search.versions(" ".join(key), size=1000).hits
        return {self._key(hit.id) for hit in hits}

    @cached_property
    def _search(self) -> SimilaritySearch:
        search = SimilaritySearch(open_store(":memory:", Settings(), create=True))
        search.index(Document(" ".join(key), text) for key, text in self.texts.items())
        return search

    def _pairs(self) -> Iterator[tuple[Key, Key]]:
        """All pairs that have a shingle in common."""
        having: dict[str, list[Key]] = defaultdict(list)
        for key, text in self.texts.items():
            for shingle in _shingles(text):
                having[shingle].append(key)
        yield from {pair for keys in having.values() for pair in combinations(keys, 2)}

    @staticmethod
    def _key(joined: str) -> Key:
        index, _, id = joined.partition(" ")
        return index, id


@lru_cache(100_000)
def _shared_words(a: str, b: str) -> int:
    return compare(a, b).matched[0] if _word_pairs(a) & _word_pairs(b) else 0


@lru_cache(10_000)
def _word_pairs(text: str) -> frozenset[tuple[str, str]]:
    words = re.findall(r"\w+", text.lower())
    return frozenset(pairwise(words))
