"""MurmurHash3 and SipHash of many strings at once are the same as for each string alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.hash_functions import murmur3_x64_128, siphash_2_4_128
from simdoc_search.sketch.hashing import compute_minima, count_distinct_shingles, hash_shingles
from simdoc_search.sketch.minhash import MinHash
from tests.support.vectors import first_difference, load, plain_murmur3

_MASK = 2**64 - 1
Key = tuple[int, int]
Pairs = list[tuple[int, int]]

KEY = (0x0706050403020100, 0x0F0E0D0C0B0A0908)
# SipHash of the bytes 0, 1, 2, ... with KEY, by length (github.com/veorq/SipHash, vectors.h, CC0).
PUBLISHED = {
    0: "a3817f04ba25a8e66df67214c7550293",
    2: "8177228da4a45dc7fca38bdef60affe4",
    6: "14eeca338b208613485ea0308fd7a15e",
    8: "3b62a9ba6258f5610f83e264f31497b4",
    14: "31fcefac66d7de9c7ec7485fe4494902",
    16: "6ee2a4ca67b054bbfd3315bf85230577",
    62: "5853542321f567a005d547a4f04759bd",
}


def hashes(strings: Sequence[bytes], key: Key | None = None) -> Pairs:
    """The hashes of strings that are next to each other in one buffer."""
    ends = np.cumsum([len(string) // 2 for string in strings], dtype=np.int64)
    starts = ends - np.array([len(string) // 2 for string in strings], np.int64)
    units = np.frombuffer(b"".join(strings), "<u2")
    h1, h2 = siphash_2_4_128(units, starts, ends, key) if key else murmur3_x64_128(units, starts, ends)
    return list(zip(h1.tolist(), h2.tolist(), strict=True))


def as_java(text: str) -> bytes:
    """UTF-16LE with U+FFFD for each surrogate without a partner."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-16-le")


def plain_siphash(data: bytes, key: Key = KEY) -> tuple[int, int]:
    """SipHash by its definition, for one string, with Python's integers."""
    a, b, c, d = (key[0] ^ 0x736F6D6570736575, key[1] ^ 0x646F72616E646F6D ^ 0xEE,
                  key[0] ^ 0x6C7967656E657261, key[1] ^ 0x7465646279746573)  # fmt: skip

    def rotated(value: int, bits: int) -> int:
        return (value << bits | value >> (64 - bits)) & _MASK

    def rounds(count: int) -> None:
        nonlocal a, b, c, d
        for _ in range(count):
            a, c = (a + b) & _MASK, (c + d) & _MASK
            b, d = rotated(b, 13) ^ a, rotated(d, 16) ^ c
            a = rotated(a, 32)
            c, a = (c + b) & _MASK, (a + d) & _MASK
            b, d = rotated(b, 17) ^ c, rotated(d, 21) ^ a
            c = rotated(c, 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) % 256])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start : start + 8], "little")
        d ^= word
        rounds(2)
        a ^= word
    c ^= 0xEE
    rounds(4)
    first = a ^ b ^ c ^ d
    b ^= 0xDD
    rounds(4)
    return first, a ^ b ^ c ^ d


def test_murmur3_of_reference_strings_equals_that_of_lucene() -> None:
    """The strings have all lengths around the block of 16 bytes. Some are empty or have non-BMP characters."""
    vectors = load("murmur3")["strings"]
    strings = [as_java(vector["text"]) for vector in vectors]
    expected = [(int(vector["val1"]), int(vector["val2"])) for vector in vectors]

    assert {0, 14, 16, 18} <= {len(string) for string in strings}
    assert expected == hashes(strings) == [pair for string in strings for pair in hashes([string])]


def test_combined_values_equal_those_of_lucene() -> None:
    """Hash function i of a shingle is its hash times 37 plus the hash of i, even if it is the only function."""
    vectors = load("murmur3")["strings"]
    strings = [np.frombuffer(as_java(vector["text"]), "<u2") for vector in vectors]
    ends = np.cumsum([len(string) for string in strings])
    starts = ends - [len(string) for string in strings]
    batch = ShingleBatch(np.concatenate(strings), starts, ends, np.ones(len(strings), np.int64))
    h1, h2 = hash_shingles(batch, None)
    found = compute_minima(batch, MinHash(hash_count=4, bucket_count=1), h1, h2)

    assert [1] * len(vectors) == count_distinct_shingles(batch, h1)
    for index in (0, 3):
        expected = [(int(v[f"combined_{index}"]["val1"]), int(v[f"combined_{index}"]["val2"])) for v in vectors]
        assert expected == [(int(values.val1[index]), int(values.val2[index])) for values in found]


def test_siphash_of_published_strings() -> None:
    expected = [
        (int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little"))
        for raw in map(bytes.fromhex, PUBLISHED.values())
    ]

    assert expected == hashes([bytes(range(length)) for length in PUBLISHED], KEY)


any_strings = st.lists(
    st.binary(max_size=60).map(lambda half: half + half) | st.integers(0, 700).map(lambda n: b"xy" * n), min_size=1
)
ANY_KEY = st.tuples(st.integers(0, _MASK), st.integers(0, _MASK))


@given(any_strings, ANY_KEY)
def test_any_strings_hash_as_defined(strings: list[bytes], key: Key) -> None:
    """The strings may have any units, including NUL and surrogates. In SipHash, the length counts modulo 256."""
    assert [plain_murmur3(string) for string in strings] == hashes(strings)
    assert [plain_siphash(string, key) for string in strings] == hashes(strings, key)


@pytest.mark.slow
@pytest.mark.parametrize(("key", "plain"), [(None, plain_murmur3), (KEY, plain_siphash)])
def test_many_strings_and_very_different_lengths(key: Key | None, plain: Callable[[bytes], tuple[int, int]]) -> None:
    """Several chunks keep their order. A string of 30,001 units does not affect short ones."""
    many = [str(number * 7919).encode("utf-16-le") for number in range(20_000)]
    unlike = [b"", b"a\0" * 30_001, b"", "zwölf".encode("utf-16-le"), b"c\0" * 8]

    assert None is first_difference([plain(string) for string in many[::499]], hashes(many, key)[::499])
    assert [plain(string) for string in unlike] == hashes(unlike, key)
