"""Texts to fingerprints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import shingle_batch
from simdoc_search.analysis.words import word_batch
from simdoc_search.sketch.estimate import overlap_interval, shared_and_union
from simdoc_search.sketch.long_text import LONG, can_be_cut, long_text_minima
from simdoc_search.sketch.minhash import MinHash, Minima, minima, rotated
from simdoc_search.sketch.tokens import bucketed_codes, encode, hash_bits, lucene_terms

__all__ = ["Fingerprint", "fingerprint", "fingerprints"]

_BATCH_SIZE = 1 << 16  # characters and buckets handled together; larger batches leave the processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """The bucket minima of a text.

    Attributes:
        analysis: how the text became shingles.
        minhash: how the shingles became minima.
        shingles: number of distinct shingles.
        minima: what the buckets keep, rotated if `minhash` says so.
    """

    analysis: Analysis
    minhash: MinHash
    shingles: int
    minima: Minima

    def codes(self, length: int = 4) -> NDArray[np.uint32]:
        """The bucketed tokens as numbers: uint32, shape (tokens,), ascending.

        Raises:
            ValueError: these MinHash settings have no bucketed tokens.
        """
        return bucketed_codes(self.minima, self.minhash, length)

    def tokens(self, format: str = "bucketed", *, length: int = 4, repeats: bool = False) -> list[str]:
        """The terms to index, or to ask for.

        Args:
            format: `bucketed` (our fields) or `lucene` (fields that an engine's `min_hash` filter fills).
            length: characters of a bucketed token, 4 or 5.
            repeats: give a `lucene` term as often as the filter emits it.

        Raises:
            ValueError: another format, or settings that have no bucketed tokens.
        """
        if format == "bucketed":
            return encode(self.codes(length), length)
        if format == "lucene":
            return lucene_terms(self.minima, self.minhash, repeats=repeats)
        raise ValueError(f"format must be 'bucketed' or 'lucene', not {format!r}")

    def overlap(self, other: Fingerprint) -> float:
        """The estimated Jaccard similarity of the two texts' shingles, 0..1.

        The standard error for 512 buckets is at most sqrt(J (1 - J) / 512), that is 0.018 at J = 0.2 and 0.022 at
        J = 0.5, and smaller where texts have fewer than some thousand shingles.

        Raises:
            ValueError: the fingerprints were made with different settings, or have no bucketed tokens.
        """
        shared, union = self._compare(other)
        return shared / union if union else 0.0

    def interval(self, other: Fingerprint) -> tuple[float, float]:
        """The 95 % interval of `overlap`, fractions.

        Raises:
            ValueError: as for `overlap`.
        """
        return overlap_interval(*self._compare(other))

    def _compare(self, other: Fingerprint) -> tuple[int, int]:
        if (self.analysis, self.minhash) != (other.analysis, other.minhash):
            raise ValueError(
                "fingerprints made with different settings cannot be compared: "
                f"{self.analysis}, {self.minhash} and {other.analysis}, {other.minhash}"
            )
        return shared_and_union(self.codes(), other.codes(), hash_bits(self.minhash))


def fingerprint(text: str, analysis: Analysis | None = None, minhash: MinHash | None = None) -> Fingerprint:
    """The fingerprint of one text. A text without words has no minima and no tokens."""
    return next(fingerprints([text], analysis, minhash))


def fingerprints(
    texts: Iterable[str], analysis: Analysis | None = None, minhash: MinHash | None = None
) -> Iterator[Fingerprint]:
    """The fingerprints of many texts, in order, read as they are needed; several times faster than one by one."""
    analysis, minhash = analysis or Analysis(), minhash or MinHash()
    for batch in _batches(texts, minhash.bucket_count):
        for values, shingles in _minima(batch, analysis, minhash):
            if minhash.with_rotation and minhash.hash_set_size == 1:
                values = rotated(values, minhash)  # noqa: PLW2901 - the same thing, completed
            yield Fingerprint(analysis, minhash, shingles, values)


def _minima(batch: list[str], analysis: Analysis, minhash: MinHash) -> Iterable[tuple[Minima, int]]:
    if len(batch) == 1 and len(batch[0]) >= LONG and can_be_cut(analysis, minhash):
        return [long_text_minima(batch[0], analysis, minhash)]
    return zip(*minima(shingle_batch(word_batch(batch, analysis), analysis), minhash), strict=True)


def _batches(texts: Iterable[str], buckets: int) -> Iterator[list[str]]:
    """Texts in batches of a size that counts the buckets of each text too; a long text is one of its own."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and len(text) >= LONG:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text) + buckets
        if size >= _BATCH_SIZE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
