"""Band keys: two documents that have a key in common are compared.

A document with many tokens has one key per band. A band consists of a number of tokens, called rows. Two keys are equal
if all tokens of the band are equal (Rajaraman, Leskovec, Ullman, Mining of Massive Datasets, 3.4). A short document has
too few tokens for many rows. So there are several passes. Each pass has its own number of rows and its own range of
document sizes. If two documents have overlap s, one is at most 1/s times as large as the other. The ranges overlap, so
at least one range contains both documents. The shortest documents are paired by single rare tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.ragged_arrays import positions_in_runs
from simdoc_search.duplicates.arrays import AnyInts, Ints, Keys, is_run_start, slices
from simdoc_search.duplicates.fingerprint_table import MAX_TOKENS_WITH_LOW_BITS, FingerprintTable
from simdoc_search.query.planner import choose_banding, parse_fraction
from simdoc_search.query.s_curve import probability_of_matches
from simdoc_search.sketch.fingerprint import Fingerprint

RECALL = Fraction(999, 1000)
"""Probability that two documents with exactly the minimum overlap are compared."""

MAX_SHORT_DOCUMENT_TOKENS = 32
"""A document with at most this many tokens is paired by rare tokens, not by bands."""

_DOCUMENTS_AT_ONCE = 1 << 14
_RARITY_BITS = 16
_HASH_BITS, _DOCUMENT_SHIFT = np.uint64(32), np.uint64(32 + _RARITY_BITS)
_MAX_COUNTER_BITS = 22


@dataclass(frozen=True, slots=True)
class BandingPass:
    """A pass that pairs documents in a range of sizes."""

    rows_per_band: int  # number of tokens per band; 0 if documents are paired by single rare tokens
    band_count: int
    min_shingles: float  # minimum number of distinct shingles of a document
    max_shingles: float  # maximum number of distinct shingles of a document

    def select(self, table: FingerprintTable, documents: AnyInts) -> AnyInts:
        """Return the documents whose size is in the range of this pass."""
        fits = np.empty(len(documents), bool)
        for part in slices(len(documents), _DOCUMENTS_AT_ONCE):
            sizes = table.shingle_counts_of(documents[part])
            is_in_range = (sizes >= self.min_shingles) & (sizes <= self.max_shingles)
            fits[part] = is_in_range & (table.token_counts[documents[part]] > 0)
        return documents if fits.all() else documents[fits]


def plan_passes(overlap: Fraction, bucket_count: int) -> list[BandingPass]:
    """Plan passes that together find a pair with this overlap with a probability of at least `RECALL`.

    For example, an overlap of 50 % and 512 buckets give these passes:

    | Shingles of a document | Bands | Rows |
    |---|---|---|
    | 951 or more | 108 | 4 |
    | 187 to 1,900 | 52 | 3 |
    | 53 to 372 | 25 | 2 |
    | up to 105 | rare tokens | |
    """
    passes: list[BandingPass] = []
    tokens, max_shingles = bucket_count, math.inf
    while tokens > MAX_SHORT_DOCUMENT_TOKENS:
        rows, bands = choose_banding(tokens, overlap, RECALL)
        if rows == 1:
            break
        min_shingles = expected_shingle_count(rows * bands, bucket_count)
        passes.append(BandingPass(rows, bands, min_shingles, max_shingles))
        tokens, max_shingles = rows * bands // 2, min_shingles / float(overlap)
    return [*passes, BandingPass(0, 0, 0, max_shingles)]


def expected_shingle_count(filled_count: int, bucket_count: int) -> float:
    """Return the number of shingles that fill `filled_count` of the buckets on average; infinity for all buckets.

    On average, n shingles fill bucket_count * (1 - exp(-n / bucket_count)) buckets.
    """
    return math.inf if filled_count >= bucket_count else -bucket_count * math.log1p(-filled_count / bucket_count)


def choose_rare_tokens(
    table: FingerprintTable,
    documents: AnyInts,
    overlap: Fraction,
    frequency_of: Callable[[Keys], Ints],
    *,
    with_low_bits: bool,
) -> Iterator[tuple[Keys, Ints]]:
    """For each batch of documents, yield the rarest tokens of each document, and the document of each token.

    The probability that two documents with this overlap share one of these tokens is `RECALL`. Suppose that the
    documents share at least k of n tokens. Then any n - k + 1 of these tokens include a shared one. All documents
    choose their tokens in the same order, so both documents choose the same shared token (prefix filter: Chaudhuri,
    Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007). Rare tokens come first, so a token that is in every document pairs
    no documents. `frequency_of` returns how frequent the tokens with these hashes are. `with_low_bits` is that of
    `FingerprintTable.token_hashes`.
    """
    needed = _count_needed_tokens(np.bincount(table.token_counts[documents]), float(overlap))
    for part in slices(len(documents), _DOCUMENTS_AT_ONCE):
        hashes, owner = table.token_hashes(documents[part], with_low_bits=with_low_bits)
        rarity = np.minimum(frequency_of(hashes), (1 << _RARITY_BITS) - 1)
        order = np.argsort(
            owner.astype(np.uint64) << _DOCUMENT_SHIFT | rarity.astype(np.uint64) << _HASH_BITS | hashes >> _HASH_BITS
        )
        counts = table.token_counts_of(documents[part])
        chosen = order[positions_in_runs(0, counts) < np.repeat(needed[counts], counts)]
        yield hashes[chosen], documents[part][owner[chosen]].astype(np.int64)


def choose_rarest_tokens(table: FingerprintTable, documents: AnyInts, overlap: Fraction) -> Iterator[tuple[Keys, Ints]]:
    """Yield the tokens that are rarest among these documents; see `choose_rare_tokens`."""
    # Equal tokens must have equal hashes. So the low hash bits are used either for all documents, or for none.
    with_low_bits = (
        table.low_hash_bits is not None and table.token_counts[documents].max(initial=0) <= MAX_TOKENS_WITH_LOW_BITS
    )
    frequencies = _count_token_frequencies(table, documents, with_low_bits=with_low_bits)

    def frequency_of(hashes: Keys) -> Ints:
        return frequencies[_choose_counters(hashes, len(frequencies))].astype(np.int64)

    return choose_rare_tokens(table, documents, overlap, frequency_of, with_low_bits=with_low_bits)


def band_keys(fingerprints: Sequence[Fingerprint], overlap: float | Fraction) -> list[Ints]:
    """Return keys by which a data frame or a database can join documents that overlap.

    Two documents with exactly this overlap share a key with the probability `RECALL`. The keys of a short document are
    single tokens. If very many short documents have the same token, all of them may share a key.

    Args:
        fingerprints: fingerprints with the same settings.
        overlap: the minimum Jaccard similarity, greater than 0 and at most 1.

    Returns:
        The distinct keys of each document, int64. A document without words has no keys. The keys of a document do not
        depend on the other documents.

    Raises:
        QuerySyntaxError: the overlap is out of range.
        ValueError: the fingerprints have no bucketed tokens; see `Fingerprint.token_ids`.
    """
    if not fingerprints:
        return []
    min_overlap, sketch = parse_fraction(overlap, "overlap"), fingerprints[0].sketch
    token_ids = [fingerprint.token_ids() for fingerprint in fingerprints]
    shingles = np.array([fingerprint.shingle_count for fingerprint in fingerprints], np.int64)
    keys, owners = table_band_keys(
        FingerprintTable.from_token_ids(token_ids, shingles, sketch.slot_count), min_overlap, np.zeros_like
    )
    return np.split(keys.view(np.int64), np.searchsorted(owners, np.arange(1, len(token_ids))))


def table_band_keys(
    table: FingerprintTable, overlap: Fraction, frequency_of: Callable[[Keys], Ints]
) -> tuple[Keys, Ints]:
    """Return the distinct keys of all documents of a table, and the document of each key.

    The keys are sorted by document, and within a document by key. They depend on the other documents only through
    `frequency_of`; see `choose_rare_tokens`.
    """
    all_documents = np.arange(len(table.token_counts))
    keys_and_owners: list[tuple[Keys, AnyInts]] = []
    for banding_pass in plan_passes(overlap, table.bucket_count):
        documents = banding_pass.select(table, all_documents)
        if banding_pass.rows_per_band:
            all_keys = table.band_keys(
                documents,
                banding_pass.rows_per_band,
                banding_pass.band_count,
                with_low_bits=uses_low_bits(table, banding_pass),
            )
            keys_and_owners += [(keys, documents) for keys in all_keys]
        else:
            with_low_bits = uses_low_bits(table, banding_pass)
            keys_and_owners.extend(
                choose_rare_tokens(table, documents, overlap, frequency_of, with_low_bits=with_low_bits)
            )
    keys, owners = (np.concatenate(parts) for parts in zip(*keys_and_owners, strict=True))
    order = np.lexsort((keys.view(np.int64), owners))
    keys, owners = keys[order], owners[order]
    is_new = is_run_start(keys, owners)
    return keys[is_new], owners[is_new]


def token_hashes_of_short_documents(table: FingerprintTable, overlap: Fraction) -> Keys:
    """Return the hashes of all tokens of the documents that are paired by rare tokens."""
    banding_pass = plan_passes(overlap, table.bucket_count)[-1]
    documents = banding_pass.select(table, np.arange(len(table.token_counts)))
    return table.token_hashes(documents, with_low_bits=uses_low_bits(table, banding_pass))[0]


def uses_low_bits(table: FingerprintTable, banding_pass: BandingPass) -> bool:
    """Return whether a pass uses the low hash bits of tokens; see `FingerprintTable.token_hashes`.

    It does if all documents of the pass have these bits. Without them, millions of short documents would have keys that
    are equal by chance.
    """
    return table.low_hash_bits is not None and banding_pass.max_shingles <= MAX_TOKENS_WITH_LOW_BITS


def _count_token_frequencies(table: FingerprintTable, documents: AnyInts, *, with_low_bits: bool) -> NDArray[np.int32]:
    """Count the documents with each token. The hash of a token selects its counter, so some tokens share a counter."""
    tokens = int(table.token_counts[documents].sum())
    counter_bits = min(_MAX_COUNTER_BITS, tokens.bit_length() + 1)
    frequencies = np.zeros(1 << counter_bits, np.int32)
    for part in slices(len(documents), _DOCUMENTS_AT_ONCE):
        counters = _choose_counters(
            table.token_hashes(documents[part], with_low_bits=with_low_bits)[0], len(frequencies)
        )
        np.add.at(frequencies, counters, np.int32(1))  # without int32, this takes 20 times as long
    return frequencies


def _choose_counters(hashes: Keys, size: int) -> Ints:
    return (hashes & np.uint64(size - 1)).astype(np.int64)


def _count_needed_tokens(frequencies: Ints, overlap: float) -> Ints:
    """Return how many of its tokens a document needs, by its number of tokens.

    Only numbers of tokens whose frequency is positive are computed.
    """
    needed = np.zeros(len(frequencies), np.int64)
    shared = 1
    for count in np.flatnonzero(frequencies).tolist():
        while shared < count and probability_of_matches(count, shared + 1, overlap) >= float(RECALL):
            shared += 1
        needed[count] = count - shared + 1
    return needed
