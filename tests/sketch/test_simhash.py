"""The simhash of a chunk is the majority of the bits of its features."""

from __future__ import annotations

import numpy as np
import pytest

from simdoc_search.sketch import simhash
from simdoc_search.sketch.simhash import simhashes


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
