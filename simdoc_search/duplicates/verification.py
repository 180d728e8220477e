"""Computes the overlaps of pairs. An overlap is estimated first, and computed from the texts if a result depends on it.

Texts are compared as sets of shingles. Shingles are compared by 64 bits of SipHash, with a random key per run. In about
one of 10**13 pairs of long texts, two different shingles have equal hashes. Because the key is random, nobody can
prepare texts whose hashes collide.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.ragged_arrays import slices_by_cost
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import ShingleBatch, shingles_of_texts
from simdoc_search.analysis.words import locate_words
from simdoc_search.batches import split_by_size
from simdoc_search.duplicates.arrays import AnyInts, Bools, Floats, Ints, Keys, slices, split_pair_keys
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import JoinedPairs
from simdoc_search.passages.ignored_words import find_ignored_words, remove_words_from_text
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.hash_functions import siphash_2_4_128
from simdoc_search.sketch.hashing import occurrence_hashes
from simdoc_search.sketch.long_text import MIN_LONG_TEXT_LENGTH, shingles_in_pieces
from simdoc_search.workers import ParallelMapper

ReadTexts = Callable[[Sequence[int]], Iterable[tuple[int, str | None]]]
"""Reads the texts of documents, given by index. A text that is not stored is None or omitted.

A text that changed after its fingerprint was computed is read as an empty text, which overlaps no other text.
"""

_CACHE_BYTES = 1 << 28
_CACHE_ENTRY_BYTES = 100
_CHARACTERS_AT_ONCE = 1 << 16
_SHINGLES_AT_ONCE = 1 << 20
_PAIRS_AT_ONCE = _TEXTS_AT_ONCE = 50
_MAX_CHUNKS_WITHOUT_WORKERS = 64  # up to 64 chunks of 65,536 characters, worker processes are not faster


class PairOverlaps:
    """Pairs of documents, sorted by both indices, and their overlaps. Without a verifier, all overlaps are estimates.

    The pairs are encoded by `pair_keys` and ascending; see `JoinedPairs`. `is_overlap_exact` says whether an overlap
    was computed from the texts.
    """

    def __init__(self, measure: Measure, verifier: Verifier | None) -> None:
        self._measure = measure
        self._verifier = verifier
        self.keys: Keys = np.zeros(0, np.uint64)
        self.overlaps: Floats = np.zeros(0)
        self.is_overlap_exact: Bools = np.zeros(0, bool)
        self._is_enough: Bools = np.zeros(0, bool)
        self._is_unverified: Bools = np.zeros(0, bool)

    def add(self, joined: JoinedPairs) -> None:
        """Add pairs that were not added before."""
        count, estimates = len(joined.keys), joined.estimates.astype(np.float64)
        is_enough = estimates >= float(self._measure.min_overlap)
        exact, is_unverified = np.zeros(count, bool), np.full(count, self._verifier is not None)
        place = np.searchsorted(self.keys, joined.keys) if len(self.keys) else None
        self.keys = joined.keys if place is None else np.insert(self.keys, place, joined.keys)
        self.overlaps = estimates if place is None else np.insert(self.overlaps, place, estimates)
        self.is_overlap_exact = exact if place is None else np.insert(self.is_overlap_exact, place, exact)
        self._is_enough = is_enough if place is None else np.insert(self._is_enough, place, is_enough)
        self._is_unverified = is_unverified if place is None else np.insert(self._is_unverified, place, is_unverified)

    def documents_of(self, pairs: Ints | slice) -> tuple[Ints, Ints]:
        """Return the first and the second document of the pairs at these positions."""
        return split_pair_keys(self.keys[pairs])

    def overlap_enough(self, pairs: Ints) -> Bools:
        """Return which of these pairs overlap enough, according to their texts if the texts are stored."""
        if self._verifier is not None and len(unverified := pairs[self._is_unverified[pairs]]):
            self._is_unverified[unverified] = False
            shared, first, second = self._verifier.count_shingles(*self.documents_of(unverified))
            has_texts = shared >= 0
            verified = unverified[has_texts]
            # The sizes are 0 if all words are ignored, and 0 cannot be a divisor.
            sizes = np.maximum(first[has_texts], 1), np.maximum(second[has_texts], 1)
            self.overlaps[verified] = self._measure.compute(shared[has_texts], *sizes)
            self._is_enough[verified] = self._measure.is_reached(shared[has_texts], *sizes)
            self.is_overlap_exact[verified] = True
        return self._is_enough[pairs]


class Verifier:
    """Counts the shingles that two texts share. Caches about `cache_bytes` bytes of hashes.

    The pairs that are compared together may exceed `cache_bytes`. Their number depends on `shingle_counts`, the number
    of distinct shingles of each document, if it is known. `workers` hash the shingles of texts; None to hash them in
    this process.
    """

    def __init__(
        self,
        read_texts: ReadTexts,
        analysis: Analysis,
        cache_bytes: int = _CACHE_BYTES,
        *,
        shingle_counts: AnyInts | None = None,
        workers: ParallelMapper | None = None,
    ) -> None:
        self._read_texts = read_texts
        self._analysis = analysis
        self._key = (secrets.randbits(64), secrets.randbits(64))
        self._cache: dict[int, Keys | None] = {}
        self._cache_bytes = cache_bytes
        self._free_bytes = cache_bytes
        self._shingle_counts = shingle_counts
        self._workers = workers or ParallelMapper()

    def count_shingles(self, first: Ints, second: Ints) -> tuple[Ints, Ints, Ints]:
        """Count the distinct shingles of each pair: in both documents, in the first one, and in the second one.

        All three counts are -1 if a text is not stored.
        """
        counts = np.full((3, len(first)), -1, np.int64)
        for part in self._split_pairs(first, second):
            pairs = list(zip(first[part].tolist(), second[part].tolist(), strict=True))
            hashes = self._get_hashes({number for pair in pairs for number in pair})
            for index, (a, b) in enumerate(pairs, part.start):
                left, right = hashes[a], hashes[b]
                if left is not None and right is not None:
                    smaller, larger = sorted((left, right), key=len)
                    counts[:, index] = count_common(larger, smaller), len(left), len(right)
        return counts[0], counts[1], counts[2]

    def _split_pairs(self, first: Ints, second: Ints) -> Iterator[slice]:
        """Yield slices of pairs that are compared together."""
        if self._shingle_counts is None:
            return slices(len(first), _PAIRS_AT_ONCE)
        costs = self._shingle_counts[first].astype(np.int64) + self._shingle_counts[second]
        return slices_by_cost(costs, _SHINGLES_AT_ONCE)

    def _get_hashes(self, documents: set[int]) -> Mapping[int, Keys | None]:
        missing = sorted(documents - self._cache.keys())
        if self._free_bytes < 0:
            self._cache = {number: self._cache[number] for number in documents & self._cache.keys()}
            self._free_bytes = self._cache_bytes
        new: dict[int, Keys | None] = dict.fromkeys(missing)
        new.update(self._read_hashes(missing) if missing else ())
        self._cache.update(new)
        self._free_bytes -= sum(
            _CACHE_ENTRY_BYTES + (0 if hashes is None else hashes.nbytes) for hashes in new.values()
        )
        return self._cache

    def _read_hashes(self, documents: Sequence[int]) -> Iterator[tuple[int, Keys]]:
        numbers: list[int] = []

        def read_existing_texts() -> Iterator[str]:
            for number, text in self._read_texts(documents):
                if text is not None:
                    numbers.append(number)
                    yield text

        chunks = split_by_size(read_existing_texts(), len, _CHARACTERS_AT_ONCE)
        hash_chunk = partial(shingle_hashes, analysis=self._analysis, key=self._key)
        done = 0
        for hashes in self._workers.map(hash_chunk, chunks, _MAX_CHUNKS_WITHOUT_WORKERS):
            yield from zip(numbers[done : done + len(hashes)], hashes, strict=True)
            done += len(hashes)


class TextsWithoutTemplates:
    """Reads texts without copies of templates, so that texts are not duplicates only because of a shared template.

    Slightly edited copies of a template are removed too.
    """

    def __init__(self, read_texts: ReadTexts, templates: Sequence[str], analysis: Analysis) -> None:
        self._read_texts = read_texts
        self._templates = [locate_words(template, analysis) for template in templates]
        self._analysis = analysis
        self.ignored_word_counts: dict[int, int] = {}

    def __call__(self, documents: Sequence[int]) -> Iterator[tuple[int, str | None]]:
        """Read the texts of documents, given by index, without copies of templates."""
        for number, text in self._read_texts(documents):
            if text is not None:
                words = locate_words(text, self._analysis)
                is_ignored = find_ignored_words(words, self._templates)
                self.ignored_word_counts[number] = int(is_ignored.sum())
                yield number, remove_words_from_text(text, words, is_ignored)

    def separate_templates(self, labels: Ints) -> Ints:
        """Return the labels, but with a unique label for each document that consists only of copies of templates.

        Documents with equal words have equal labels, so they become duplicates without a comparison. Documents that
        consist only of templates must not become duplicates.
        """
        numbers, first, counts = np.unique(labels, return_index=True, return_counts=True)
        repeated, representatives = numbers[counts > 1], first[counts > 1].tolist()
        separated = labels.copy()
        for part in slices(len(representatives), _TEXTS_AT_ONCE):
            texts = dict(self(representatives[part]))
            for label, representative in zip(repeated[part], representatives[part], strict=True):
                text = texts.get(representative)
                if text is not None and not locate_words(text, self._analysis).words:
                    is_template = labels == label
                    separated[is_template] = len(labels) + 1 + np.flatnonzero(is_template)
        return separated


def shingle_hashes(texts: Sequence[str], analysis: Analysis, key: tuple[int, int]) -> list[Keys]:
    """Return the hashes of the distinct shingles of each text, ascending; uint64."""
    if analysis.unit == "word" and analysis.is_plain and any(len(text) >= MIN_LONG_TEXT_LENGTH for text in texts):
        return [_hash_long_text(text, analysis, key) for text in texts]
    if not texts:
        return []
    _, batch = shingles_of_texts(texts, analysis)
    return [distinct(hashes) for hashes in np.split(_hash_shingles(batch, key), np.cumsum(batch.counts)[:-1])]


def _hash_long_text(text: str, analysis: Analysis, key: tuple[int, int]) -> Keys:
    pieces = [distinct(_hash_shingles(piece, key)) for piece in shingles_in_pieces(text, analysis)]
    return distinct(np.concatenate(pieces)) if pieces else np.zeros(0, np.uint64)


def _hash_shingles(batch: ShingleBatch, key: tuple[int, int]) -> Keys:
    if not len(batch.starts):
        return np.zeros(0, np.uint64)
    hashes = siphash_2_4_128(batch.units, batch.starts, batch.ends, key)[0]
    return occurrence_hashes(hashes, batch.counts) if batch.with_frequencies else hashes
