"""Which tokens must be equal for two documents to be compared? Planned so that few pairs of an overlap are missed.

Documents of many tokens are paired by bands (Rajaraman, Leskovec, Ullman, Mining of Massive Datasets, 3.4): all `rows`
tokens of one of some bands are equal. A short document has no tokens for many rows, so sizes are cut into classes, each
with a plan of its own; two documents of overlap s differ in size by at most 1/s, and classes reach so far over each
other that any such two meet in one. The shortest are paired by single rare tokens, see `rare_tokens`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from simdoc_search.duplicates.table import Ints, Keys, Table, distinct, mixed, slices
from simdoc_search.query.curve import chance_of_matches
from simdoc_search.query.planner import parse_fraction, rows_and_bands_of_enough
from simdoc_search.sketch.fingerprint import Fingerprint
from simdoc_search.sketch.tokens import hash_bits

RECALL = Fraction(999, 1000)
"""How likely two documents of just the overlap asked for are compared."""

SHORT = 32
"""Tokens for which bands are no more planned."""

_DOCUMENTS_AT_ONCE = 1 << 14
_RARITY_BITS = 16
_HALF, _OWNER = np.uint64(32), np.uint64(32 + _RARITY_BITS)
_MOST_COUNTERS = 22  # bits


@dataclass(frozen=True, slots=True)
class BandPass:
    """How the documents of some sizes are paired.

    Attributes:
        rows: tokens in a band; 0: by single rare tokens.
        bands: how many bands.
        least: the fewest distinct shingles of a document that takes part.
        most: the most of them.
    """

    rows: int
    bands: int
    least: float
    most: float


def passes(overlap: Fraction, recall: Fraction, buckets: int) -> list[BandPass]:
    """The passes that together find two documents of an overlap with a probability of at least `recall`.

    Worked example: 50 % with 99 % in 512 buckets is 72 bands of 4 for documents of 424 shingles or more, 35 of 3 from
    118 to 846, 17 of 2 from 36 to 235, and rare tokens up to 70.
    """
    found: list[BandPass] = []
    tokens, most = buckets, math.inf
    while tokens > SHORT:
        rows, bands = rows_and_bands_of_enough(tokens, overlap, recall)
        if rows == 1:
            break
        least = shingles_that_fill(rows * bands, buckets)
        found.append(BandPass(rows, bands, least, most))
        tokens, most = rows * bands // 2, least / float(overlap)
    return [*found, BandPass(0, 0, 0, most)]


def shingles_that_fill(filled: int, buckets: int) -> float:
    """How many shingles fill so many buckets on average: the inverse of buckets * (1 - exp(-shingles / buckets))."""
    return math.inf if filled >= buckets else -buckets * math.log1p(-filled / buckets)


def rare_tokens(table: Table, who: Ints, overlap: Fraction, recall: Fraction) -> tuple[Keys, Ints]:
    """Tokens, the rarest of each document, of which two documents of the overlap share one; and whose each is.

    Of n tokens, k are shared with the wanted probability; so one of any n - k + 1 is, and if all documents choose by
    one order, it is among those that both chose (prefix filter: Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant
    2007). The rarest come first: what stands in every document pairs nobody.
    """
    return _first_tokens(table, who, overlap, recall, _how_often(table, who))


def band_keys(made: Sequence[Fingerprint], overlap: float | Fraction, *, recall: Fraction = RECALL) -> list[Ints]:
    """Keys for a join of documents by somebody else, as a data frame or a database: two of the overlap have one alike.

    Short ones are joined by some of their tokens, so what stands in very many of them makes long runs of equal keys.

    Args:
        made: the fingerprints, all of the same settings, with tokens of 4 characters.
        overlap: the least Jaccard similarity, over 0, up to 1.
        recall: with which probability documents of just that overlap have a key in common.

    Returns:
        For each document its keys, none twice, int64; none for one without words. They are the same in any batch.

    Raises:
        QuerySyntaxError: the overlap is no fraction.
        ValueError: the settings have no bucketed tokens.
    """
    if not made:
        return []
    share, minhash = parse_fraction(overlap, "overlap"), made[0].minhash
    codes, bits = [each.codes() for each in made], hash_bits(minhash, 4)
    table = Table.of(codes, np.array([each.shingles for each in made], np.int64), bits, minhash.places)
    found: list[tuple[Keys, Ints]] = []
    for each in passes(share, recall, table.buckets):
        sizes = table.shingles
        who = np.flatnonzero((table.counts > 0) & (sizes >= each.least) & (sizes <= each.most))
        if each.rows:
            found += [(keys, who) for keys in table.windows(who, each.rows, each.bands)]
        else:
            found.append(_first_tokens(table, who, share, recall, np.zeros(1, np.int64)))
    keys, owners = (np.concatenate(each) for each in zip(*found, strict=True))
    return [distinct(keys[owners == number].view(np.int64)) for number in range(len(made))]


def _first_tokens(table: Table, who: Ints, overlap: Fraction, recall: Fraction, often: Ints) -> tuple[Keys, Ints]:
    """So many tokens of each document as are enough, in the order of how often they are, by counter."""
    sizes, which = np.unique(table.counts[who], return_inverse=True)
    chosen = np.array([_enough(int(size), float(overlap), float(recall)) for size in sizes], np.int64)[which]
    keys, owners = [], []
    for some in slices(len(who), _DOCUMENTS_AT_ONCE):
        codes, owner = table.tokens_of(who[some])
        mixes = mixed(codes.astype(np.uint64))
        rarity = np.minimum(often[_counter(mixes, len(often))], (1 << _RARITY_BITS) - 1).astype(np.uint64)
        order = np.argsort(owner.astype(np.uint64) << _OWNER | rarity << _HALF | mixes >> _HALF)
        counts = table.counts[who[some]]
        rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        kept = order[rank < np.repeat(chosen[some], counts)]
        keys.append(mixes[kept])
        owners.append(who[some][owner[kept]])
    return (np.concatenate(keys), np.concatenate(owners)) if keys else (np.zeros(0, np.uint64), who)


def _counter(mixes: Keys, size: int) -> Ints:
    """The counter of each token; few share one."""
    return (mixes & np.uint64(size - 1)).astype(np.int64)


def _how_often(table: Table, who: Ints) -> Ints:
    """In how many documents tokens are, by their counter; shape (counters,), a power of two."""
    tokens = int(table.counts[who].sum())
    often = np.zeros(1 << min(_MOST_COUNTERS, tokens.bit_length() + 1), np.int64)
    for some in slices(len(who), _DOCUMENTS_AT_ONCE):
        codes, _ = table.tokens_of(who[some])
        often += np.bincount(_counter(mixed(codes.astype(np.uint64)), len(often)), minlength=len(often))
    return often


def _enough(count: int, overlap: float, recall: float) -> int:
    """How many of `count` tokens are enough."""
    sure = 1
    while sure < count and chance_of_matches(count, sure + 1, overlap) >= recall:
        sure += 1
    return count - sure + 1
