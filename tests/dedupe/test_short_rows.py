"""Many short rows are compared only with similar ones, although their 9-bit tokens are often equal by chance."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from simdoc_search import Analysis, MinHash
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import JoinedPairs, join
from simdoc_search.sketch.packed import packed_fingerprints

COUNT, WORDS = 12_000, 28


def join_rows(*, with_low_bits: bool) -> JoinedPairs:
    """Join rows of random words, of which each hundredth has an edited copy."""
    chance = random.Random(1)
    texts = [" ".join(f"w{chance.randrange(5000)}" for _ in range(WORDS)) for _ in range(COUNT)]
    texts += [f"{text} edited" for text in texts[::100]]
    token_ids, counts, shingle_counts, _, low_bits = packed_fingerprints(texts, Analysis(), MinHash())
    begins = np.cumsum(counts) - counts
    table = FingerprintTable(
        token_ids, begins, counts, shingle_counts, 512, (low_bits, begins) if with_low_bits else None
    )
    return join(table, np.arange(len(texts)), Measure("jaccard", Fraction(4, 5)))


def test_longer_hashes_give_the_same_pairs_with_few_comparisons() -> None:
    short, long = join_rows(with_low_bits=False), join_rows(with_low_bits=True)

    assert len(long.first) == COUNT // 100
    assert (short.first.tolist(), short.second.tolist()) == (long.first.tolist(), long.second.tolist())
    assert 100 * long.compared_count < short.compared_count
    assert 2 * COUNT // 100 > long.compared_count
