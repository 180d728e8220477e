"""Which tokens must be equal for two documents to be compared.

Documents with many tokens are paired by bands (Rajaraman, Leskovec, Ullman, Mining of Massive Datasets, 3.4): in one of
the bands, all `rows` tokens must be equal. A short document has too few tokens for many rows. So there are several
passes, each for documents of some sizes and with its own number of rows. Two documents of overlap s differ in size by
at most 1/s; the sizes of passes overlap so far that two such documents meet in one pass. The shortest documents are
paired by single rare tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.duplicates.arrays import Ints, Keys, mixed, slices
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.query.curve import chance_of_matches
from simdoc_search.query.planner import parse_fraction, rows_and_bands_of_enough
from simdoc_search.sketch.fingerprint import Fingerprint
from simdoc_search.sketch.tokens import hash_bits

RECALL = Fraction(999, 1000)
"""Probability that two documents of exactly the least overlap are compared."""

MAX_SHORT_TOKENS = 32
"""Documents with at most this many tokens are not paired by bands."""

_DOCUMENTS_AT_ONCE = 1 << 14
_RARITY_BITS = 16
_HALF, _OWNER_SHIFT = np.uint64(32), np.uint64(32 + _RARITY_BITS)
_MAX_COUNTER_BITS = 22


@dataclass(frozen=True, slots=True)
class BandPass:
    """How documents of some sizes are paired."""

    rows: int  # tokens per band; 0: paired by single rare tokens
    bands: int  # number of bands
    min_shingles: float  # minimum number of distinct shingles of a document
    max_shingles: float  # maximum number

    def select(self, table: FingerprintTable, documents: Ints) -> Ints:
        """Return the documents that take part."""
        sizes = table.shingles[documents]
        fits = (table.counts[documents] > 0) & (sizes >= self.min_shingles) & (sizes <= self.max_shingles)
        return documents[fits]


def plan_passes(overlap: Fraction, recall: Fraction, buckets: int) -> list[BandPass]:
    """Plan passes that together find two documents of an overlap with a probability of at least `recall`.

    Example: an overlap of 50 % with 99 % in 512 buckets takes 72 bands of 4 for documents of 424 shingles or more, 35
    bands of 3 from 118 to 846 shingles, 17 of 2 from 36 to 235, and rare tokens up to 70.
    """
    passes: list[BandPass] = []
    tokens, most = buckets, math.inf
    while tokens > MAX_SHORT_TOKENS:
        rows, bands = rows_and_bands_of_enough(tokens, overlap, recall)
        if rows == 1:
            break
        least = shingles_that_fill(rows * bands, buckets)
        passes.append(BandPass(rows, bands, least, most))
        tokens, most = rows * bands // 2, least / float(overlap)
    return [*passes, BandPass(0, 0, 0, most)]


def shingles_that_fill(filled: int, buckets: int) -> float:
    """Return how many shingles fill this many buckets on average: buckets * (1 - exp(-n / buckets))."""
    return math.inf if filled >= buckets else -buckets * math.log1p(-filled / buckets)


def rare_tokens(
    table: FingerprintTable, documents: Ints, overlap: Fraction, recall: Fraction, *, by_frequency: bool = True
) -> tuple[Keys, Ints]:
    """Return the rarest tokens of each document, and the document of each token.

    Two documents of the overlap share one of these. Of n tokens, k are shared with the wanted probability. So any
    n - k + 1 tokens contain a shared one. If all documents choose tokens by the same order, both documents choose it
    (prefix filter: Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007). The rarest tokens come first, so tokens
    that are in every document pair nobody. Without frequencies, the order does not depend on the other documents.
    """
    frequencies = _token_frequencies(table, documents) if by_frequency else np.zeros(1, np.int64)
    sizes, size_of = np.unique(table.counts[documents], return_inverse=True)
    needed = np.array([_needed_tokens(int(size), float(overlap), float(recall)) for size in sizes], np.int64)[size_of]
    keys, owners = [], []
    for part in slices(len(documents), _DOCUMENTS_AT_ONCE):
        codes, owner = table.tokens_of(documents[part])
        hashes = mixed(codes.astype(np.uint64))
        rarity = np.minimum(frequencies[_counter_of(hashes, len(frequencies))], (1 << _RARITY_BITS) - 1)
        order = np.argsort(
            owner.astype(np.uint64) << _OWNER_SHIFT | rarity.astype(np.uint64) << _HALF | hashes >> _HALF
        )
        counts = table.counts[documents[part]]
        rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        chosen = order[rank < np.repeat(needed[part], counts)]
        keys.append(hashes[chosen])
        owners.append(documents[part][owner[chosen]])
    return (np.concatenate(keys), np.concatenate(owners)) if keys else (np.zeros(0, np.uint64), documents)


def band_keys(
    fingerprints: Sequence[Fingerprint], overlap: float | Fraction, *, recall: Fraction = RECALL
) -> list[Ints]:
    """Make keys for a join in a data frame or a database: two documents that overlap have a key in common.

    Short documents are joined by single tokens. A token that is in very many documents gives very many equal keys.

    Args:
        fingerprints: all of the same settings, with tokens of 4 characters.
        overlap: the least Jaccard similarity, over 0, up to 1.
        recall: probability that two documents of exactly that overlap have a key in common.

    Returns:
        The distinct keys of each document, int64; none for a document without words. They do not depend on the other
        documents.

    Raises:
        QuerySyntaxError: the overlap is not a fraction.
        FormatMismatchError: the tokens of these settings have no buckets.
    """
    if not fingerprints:
        return []
    share, minhash = parse_fraction(overlap, "overlap"), fingerprints[0].minhash
    codes = [fingerprint.codes() for fingerprint in fingerprints]
    shingles = np.array([fingerprint.shingles for fingerprint in fingerprints], np.int64)
    table = FingerprintTable.of(codes, shingles, hash_bits(minhash), minhash.places)
    everything = np.arange(len(codes))
    found: list[tuple[Keys, Ints]] = []
    for band_pass in plan_passes(share, recall, table.buckets):
        documents = band_pass.select(table, everything)
        if band_pass.rows:
            found += [(keys, documents) for keys in table.band_keys(documents, band_pass.rows, band_pass.bands)]
        else:
            found.append(rare_tokens(table, documents, share, recall, by_frequency=False))
    keys, owners = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return [distinct(keys[owners == document].view(np.int64)) for document in range(len(codes))]


def _token_frequencies(table: FingerprintTable, documents: Ints) -> Ints:
    """Count how many documents have each token. A few tokens share a counter."""
    tokens = int(table.counts[documents].sum())  # the number of counters is a power of two
    frequencies = np.zeros(1 << min(_MAX_COUNTER_BITS, tokens.bit_length() + 1), np.int64)
    for part in slices(len(documents), _DOCUMENTS_AT_ONCE):
        codes, _ = table.tokens_of(documents[part])
        counters = _counter_of(mixed(codes.astype(np.uint64)), len(frequencies))
        frequencies += np.bincount(counters, minlength=len(frequencies))
    return frequencies


def _counter_of(hashes: Keys, size: int) -> Ints:
    return (hashes & np.uint64(size - 1)).astype(np.int64)


def _needed_tokens(count: int, overlap: float, recall: float) -> int:
    shared = 1
    while shared < count and chance_of_matches(count, shared + 1, overlap) >= recall:
        shared += 1
    return count - shared + 1
