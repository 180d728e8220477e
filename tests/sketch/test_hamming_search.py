"""The search for numbers that differ in few bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.sketch import hamming_search
from simdoc_search.sketch.hamming_search import HammingIndex, find_near_pairs, make_block_masks, sample_near_pairs
from simdoc_search.sketch.simhash import hamming_distances
from tests.support.slow_cases import slow_after


def brute_force(values: list[int], queries: list[int], most: int) -> list[tuple[int, int]]:
    return [(a, b) for a, x in enumerate(queries) for b, y in enumerate(values) if (x ^ y).bit_count() <= most]


def as_pairs(found: tuple[np.ndarray, np.ndarray]) -> list[tuple[int, int]]:
    return list(zip(*(indices.tolist() for indices in found), strict=True))


@given(st.data(), st.integers(1, 64))
def test_near_numbers_are_those_of_brute_force(data: st.DataObject, bits: int) -> None:
    """The numbers differ only in their lowest bits. Each pair is found once."""
    most = data.draw(st.integers(0, min(bits - 1, 7)))
    numbers = st.integers(0, 2**bits - 1)
    values = data.draw(st.lists(numbers, max_size=12))
    flips = st.builds(lambda n, at: n ^ 1 << at, st.sampled_from(values or [0]), st.integers(0, bits - 1))
    values += data.draw(st.lists(flips, max_size=4))
    queries = data.draw(st.lists(numbers | flips, max_size=6))
    index = np.array(values, np.uint64)

    assert brute_force(values, queries, most) == as_pairs(
        HammingIndex(index, most).find_near(np.array(queries, np.uint64))
    )
    expected = [(a, b) for a, b in brute_force(values, values, most) if a < b]
    assert expected == as_pairs(find_near_pairs(index, most))


@pytest.mark.parametrize("bits_and_most", slow_after(1, [(64, 7), (32, 0), (32, 3)]))
def test_all_near_numbers_among_many_are_found(bits_and_most: tuple[int, int]) -> None:
    """A third of the 3,000 numbers differ from another number in a few bits."""
    bits, most = bits_and_most
    rng = np.random.default_rng(most)
    values = rng.integers(0, 2**bits, 3000, dtype=np.uint64)
    values[2000:] = values[:1000]
    for _ in range(most):
        values[2000:] ^= np.uint64(1) << rng.integers(0, bits, 1000, dtype=np.uint64)
    near = hamming_distances(values[:, np.newaxis], values[np.newaxis, :]) <= most

    assert np.argwhere(near).tolist() == np.stack(HammingIndex(values, most).find_near(values), axis=1).tolist()
    assert np.argwhere(np.triu(near, 1)).tolist() == np.stack(find_near_pairs(values, most), axis=1).tolist()


@pytest.mark.parametrize("count", [0, 1, 2, 600])
def test_samples_find_most_near_pairs_and_no_others(count: int) -> None:
    """Each number has a near one, which differs in 3 of 64 bits. With 16 samples, almost none is missed."""
    rng = np.random.default_rng(count)
    values = np.repeat(rng.integers(0, 2**64, count // 2 + 1, dtype=np.uint64), 2)[:count]
    for pair in range(count // 2):
        values[2 * pair] ^= np.uint64(1 << pair % 64 | 1 << (pair + 7) % 64 | 1 << (pair + 40) % 64)
    expected = as_pairs(find_near_pairs(values, 3))
    found = as_pairs(sample_near_pairs(values, 3, 16))

    assert count // 2 == len(expected)
    assert found == [pair for pair in expected if pair in found]
    assert len(found) >= 0.97 * len(expected)
    assert [] == as_pairs(sample_near_pairs(values, 2, 16))


def test_samples_find_all_pairs_of_equal_numbers() -> None:
    """If many numbers are equal, a sample has all bits, because fewer bits would lead to too many comparisons."""
    some, equal = np.array([3, 1, 3, 2, 3], np.uint64), np.full(5, 3, np.uint64)

    assert [(0, 2), (0, 4), (2, 4)] == as_pairs(sample_near_pairs(some, 0, 1))
    assert [(a, b) for a in range(5) for b in range(a + 1, 5)] == as_pairs(sample_near_pairs(equal, 0, 1))


def test_more_pairs_than_are_compared_at_once_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hamming_search, "_PAIRS_PER_BATCH", 10)
    values = np.zeros(30, np.uint64)

    assert [(a, b) for a in range(30) for b in range(a + 1, 30)] == as_pairs(find_near_pairs(values, 3))
    assert [(a, b) for a in range(2) for b in range(30)] == as_pairs(
        HammingIndex(values, 3).find_near(np.zeros(2, np.uint64))
    )


@pytest.mark.parametrize("count", [1, 1000, 10**9])
@pytest.mark.parametrize("most", [0, 3, 8, 63])
def test_numbers_are_equal_in_a_mask_whichever_bits_differ(most: int, count: int) -> None:
    """The masks for one number are disjoint and cover all bits. The masks for more numbers are not shorter."""
    rng = np.random.default_rng(most)
    found, for_one = ([mask for mask, _ in make_block_masks(most, number)] for number in (count, 1))
    for _ in range(50):
        flipped = sum(1 << int(bit) for bit in rng.choice(64, most, replace=False))
        assert any(not flipped & mask for mask in found)
    assert sum(for_one) == 2**64 - 1
    assert min(mask.bit_count() for mask in found) >= min(mask.bit_count() for mask in for_one)
