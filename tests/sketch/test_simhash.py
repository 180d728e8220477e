"""The simhash of a chunk is the majority of the bits of its features."""

from __future__ import annotations

import numpy as np
import pytest

from simdoc_search.sketch import simhash
from simdoc_search.sketch.simhash import count_set_bits, count_set_bits_by_table, simhashes


@pytest.mark.parametrize("features_per_batch", [100, 1 << 16])
def test_each_bit_is_the_majority_of_the_features(features_per_batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks may have no features, or more than fit into the sum of a byte."""
    monkeypatch.setattr(simhash, "_FEATURES_PER_BATCH", features_per_batch)
    rng = np.random.default_rng(1)
    counts = np.array([0, 1, 2, 255, 256, 0, 511, 1000, 3, 0])
    hashes = rng.integers(0, 1 << 63, int(counts.sum()), dtype=np.uint64) | np.uint64(1 << 63)
    chunks = np.split(hashes, np.cumsum(counts)[:-1])
    expected = [
        sum(1 << bit for bit in range(64) if 2 * sum(int(each) >> bit & 1 for each in chunk) > len(chunk))
        for chunk in chunks
    ]

    assert expected == simhashes(hashes, counts).tolist()
    assert expected == simhashes(hashes, counts, np.ones(len(hashes))).tolist()


def test_a_feature_with_a_large_weight_decides_alone() -> None:
    """If there is a tie, the bit is 0."""
    hashes = np.array([0b1100, 0b1010, 0b1001], np.uint64)

    assert [0b1000] == simhashes(hashes, np.array([3])).tolist()
    assert [0b1010] == simhashes(hashes, np.array([3]), np.array([1.0, 3.0, 1.0])).tolist()
    assert [0b1000] == simhashes(hashes[:2], np.array([2])).tolist()


def test_every_version_of_numpy_counts_the_same_bits() -> None:
    """numpy before version 2 has no function for this."""
    values = np.random.default_rng(1).integers(0, 2**64, (7, 100), dtype=np.uint64)
    expected = [[value.bit_count() for value in row] for row in values.tolist()]

    assert expected == count_set_bits_by_table(values).tolist() == count_set_bits(values).tolist()
