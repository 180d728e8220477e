"""Simhash: the numbers of the paper, majority of bits, and all near numbers found without comparing all with all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.sketch.near_bits import NearBits, masks, near_pairs
from simdoc_search.sketch.simhash import bits_by_table, distances, pair_simhashes, set_bits, simhashes

VERSIONS = [
    "Tiger Woods and his wife, Elin Nordegren, are reportedly divorced",
    "Tiger Woods has reportedly divorced his wife Elin Nordegren",
    "It is now 5 years since Tiger won his last major title.",
]
MEANINGS = [
    "a leading score of 270 the best in five years",
    "The winning score was a 10-under 270, four shots better than the lowest score in the five previous majors",
    "Woods finished well down the field",
]
texts = st.text(st.characters(exclude_categories=[]), max_size=40)


def hash_of_pair(first: int, second: int) -> int:
    """The hash of two bytes, as the paper describes it."""
    return first * second * 27644437 % 2**32


def one_by_one(chunk: str) -> int:
    """The simhash of a chunk, as the paper describes it, step by step."""
    letters = chunk.lower().encode("utf-8", "surrogatepass")
    votes = [0] * 32
    for first, second in set(itertools.pairwise(letters)):
        hashed = hash_of_pair(first, second)
        for bit in range(32):
            votes[bit] += 1 if hashed >> bit & 1 else -1
    return sum(1 << bit for bit in range(32) if votes[bit] > 0)


def brute_force(values: list[int], asked: list[int], most: int) -> list[tuple[int, int]]:
    return [(a, b) for a, x in enumerate(asked) for b, y in enumerate(values) if (x ^ y).bit_count() <= most]


# --- the paper ---


def test_the_hash_of_a_pair_is_that_of_the_paper() -> None:
    """Figure 12."""
    assert 1701793572 == hash_of_pair(ord("t"), ord("i"))
    assert [1701793572] == pair_simhashes(["ti"]).tolist()


def test_numbers_differ_in_as_many_bits_as_in_the_paper() -> None:
    """Figure 10: the two numbers differ in as many places as their binary forms."""
    a, b = 1537307734, 1218804829

    assert [(a ^ b).bit_count()] == distances(np.array([a], np.uint64), np.array([b], np.uint64)).tolist()


@pytest.mark.parametrize(("phrases", "expected"), [(VERSIONS, [2, 8, 8]), (MEANINGS, [5, 9, 12])])
def test_phrases_differ_as_the_docstring_says(phrases: list[str], expected: list[int]) -> None:
    """Versions are nearest to each other, as in figures 13 to 16."""
    made = pair_simhashes(phrases)
    pairs = [(0, 1), (0, 2), (1, 2)]

    assert expected == distances(*(made[[pair[side] for pair in pairs]] for side in (0, 1))).tolist()
    assert expected[0] == min(expected)


# --- any text ---


@given(st.lists(texts, max_size=6))
def test_many_chunks_are_as_one_by_one(chunks: list[str]) -> None:
    """In any script, and of what is no text; empty ones are 0."""
    assert [one_by_one(each) for each in chunks] == pair_simhashes(chunks).tolist()


def test_case_makes_no_difference_and_order_of_words_little() -> None:
    """In any script that has two cases."""
    a, b, c = pair_simhashes(["Слова и дела людей", "СЛОВА И ДЕЛА ЛЮДЕЙ", "людей слова и дела"])

    assert a == b
    assert distances(np.array([a]), np.array([c]))[0] <= 8


def test_a_sentence_of_a_megabyte_has_a_simhash() -> None:
    """It has as many pairs as there are at most."""
    assert [one_by_one("a long story " * 80_000)] == pair_simhashes(["a long story " * 80_000]).tolist()


def test_more_features_than_are_counted_at_once() -> None:
    """A chunk that is cut by a slice has the votes of both parts."""
    rng = np.random.default_rng(3)
    hashes = rng.integers(0, 2**63, 150_000, dtype=np.uint64)
    counts = np.array([0, 100_000, 0, 50_000])
    expected = [
        sum(1 << bit for bit in range(64) if int((part >> np.uint64(bit) & np.uint64(1)).sum()) * 2 > len(part))
        for part in np.split(hashes, np.cumsum(counts)[:-1])
    ]

    assert expected == simhashes(hashes, counts).tolist()


def test_weights_outvote() -> None:
    """A feature that counts more than two others decides alone; with a tie a bit is 0."""
    hashes = np.array([0b1100, 0b1010, 0b1001], np.uint64)

    assert [0b1000] == simhashes(hashes, np.array([3])).tolist()
    assert [0b1010] == simhashes(hashes, np.array([3]), np.array([1.0, 3.0, 1.0])).tolist()
    assert [0b1000] == simhashes(hashes[:2], np.array([2])).tolist()


# --- near ones ---


@given(st.data(), st.integers(1, 64))
def test_near_numbers_are_those_of_brute_force(data: st.DataObject, bits: int) -> None:
    """Whatever the bits, and however many may differ."""
    most = data.draw(st.integers(0, min(bits - 1, 7)))
    numbers = st.integers(0, 2**bits - 1)
    values = data.draw(st.lists(numbers, max_size=12))
    flips = st.builds(lambda n, at: n ^ 1 << at, st.sampled_from(values or [0]), st.integers(0, bits - 1))
    asked = data.draw(st.lists(numbers | flips, max_size=6))
    found = NearBits(np.array(values, np.uint64), bits, most).near(np.array(asked, np.uint64))

    assert brute_force(values, asked, most) == list(zip(*(each.tolist() for each in found), strict=True))


@pytest.mark.parametrize("most", [0, 1, 3, 6])
def test_all_that_are_near_among_many_are_found(most: int) -> None:
    """Of 3,000 numbers, with up to so many bits flipped anywhere."""
    rng = np.random.default_rng(most)
    values = rng.integers(0, 2**32, 3000, dtype=np.uint64)
    asked = values[:300].copy()
    for _ in range(most):
        asked ^= np.uint64(1) << rng.integers(0, 32, 300, dtype=np.uint64)
    who, at = NearBits(values, 32, most).near(asked)
    near = distances(asked[:, np.newaxis], values[np.newaxis, :]) <= most

    assert list(zip(*(each.tolist() for each in np.nonzero(near)), strict=True)) == list(
        zip(who.tolist(), at.tolist(), strict=True)
    )
    assert len(who) >= 300


@given(st.data(), st.sampled_from([(64, 7), (32, 3), (16, 4), (64, 0)]))
@pytest.mark.slow
def test_near_pairs_are_those_of_brute_force(data: st.DataObject, of: tuple[int, int]) -> None:
    """Each once, however often a number is there and however many blocks two have in common."""
    bits, most = of
    numbers = st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=6)
    flips = st.sets(st.integers(0, bits - 1), max_size=9).map(lambda places: sum(1 << each for each in places))
    values = [a ^ b for a in data.draw(numbers) for b in data.draw(st.lists(flips, max_size=4))]
    found = near_pairs(np.array(values, np.uint64), bits, most)
    expected = [(a, b) for a, b in brute_force(values, values, most) if a < b]

    assert expected == list(zip(*(each.tolist() for each in found), strict=True))


def test_all_near_pairs_of_many_are_found() -> None:
    """Of 3,000 numbers, a third of them within 7 bits of another one."""
    rng = np.random.default_rng(7)
    values = rng.integers(0, 2**64, 3000, dtype=np.uint64)
    for _ in range(7):
        values[2000:] = values[:1000] ^ (np.uint64(1) << rng.integers(0, 64, 1000, dtype=np.uint64))
    a, b = near_pairs(values, 64, 7)
    near = np.triu(distances(values[:, np.newaxis], values[np.newaxis, :]) <= 7, 1)

    assert np.argwhere(near).tolist() == np.stack((a, b), axis=1).tolist()
    assert len(a) >= 1000


def test_bits_are_counted_alike_with_any_numpy() -> None:
    """Older ones than 2 cannot count bits."""
    values = np.random.default_rng(1).integers(0, 2**64, (7, 100), dtype=np.uint64)
    expected = [[value.bit_count() for value in row] for row in values.tolist()]

    assert expected == bits_by_table(values).tolist() == set_bits(values).tolist()


@pytest.mark.parametrize("count", [1, 1000, 10**6, 10**9])
@pytest.mark.parametrize(("bits", "most"), [(1, 0), (5, 2), (32, 3), (64, 3), (64, 8), (64, 63)])
def test_whatever_bits_differ_a_part_is_equal(bits: int, most: int, count: int) -> None:
    """Parts have all bits between them, those of one number share none, and more numbers make them longer."""
    rng = np.random.default_rng(bits)
    parts = masks(bits, most, count)
    for _ in range(50):
        flipped = sum(1 << int(each) for each in rng.choice(bits, most, replace=False))
        assert any(not flipped & each for each in parts)
    assert sum(masks(bits, most)) == 2**bits - 1
    assert min(each.bit_count() for each in parts) >= min(each.bit_count() for each in masks(bits, most))


@pytest.mark.parametrize(("bits", "most"), [(32, 32), (32, -1), (65, 3), (0, 0)])
def test_what_cannot_be_asked_for_is_an_error(bits: int, most: int) -> None:
    """As many bits as there are, or more than a number has."""
    with pytest.raises(ValueError, match="bits must be"):
        NearBits(np.zeros(1, np.uint64), bits, most)
