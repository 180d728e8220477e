"""The hash of many strings at once is SipHash-2-4 of each, with 128 bits."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.sketch.siphash import siphash_2_4_128

_MASK = 2**64 - 1
Key = tuple[int, int]
Pairs = list[tuple[int, int]]

KEY = (0x0706050403020100, 0x0F0E0D0C0B0A0908)

# Of the bytes 0, 1, 2, ... with KEY, by length: the published values (github.com/veorq/SipHash, vectors.h, CC0).
PUBLISHED = {
    0: "a3817f04ba25a8e66df67214c7550293",
    2: "8177228da4a45dc7fca38bdef60affe4",
    4: "f88164c12d9c8faf7d0f6e7c7bcd5579",
    6: "14eeca338b208613485ea0308fd7a15e",
    8: "3b62a9ba6258f5610f83e264f31497b4",
    10: "00110dc378146956c95447d3f3d0fbba",
    12: "d626b266905ef35882634df68532c125",
    14: "31fcefac66d7de9c7ec7485fe4494902",
    16: "6ee2a4ca67b054bbfd3315bf85230577",
    18: "a426e5e423bf4885294da481feaef723",
    20: "9e25fc833f2290733e9344a5e83839eb",
    22: "4a29b54552d16b9a469c10528eff0aae",
    24: "2db479ae78bd50d8882a8a178a6132ad",
    26: "9c0b53b4b3c307e87eaee08678141f66",
    28: "0664da1668574b88b935f3027358aef4",
    30: "ea5c7f471faf6bde2b1ad7d4686d2287",
    32: "7c3956ca5eeafc3e363e9d556546eb68",
    34: "37a6986cb8847edf0925f0f1309b54de",
    36: "3dc47d1f29c448461e9e76ed904f6711",
    38: "8c03468bca7c669ee4fd5e084bbee7b5",
    40: "df6a301e95c95dad97ae0cc8c6913bd8",
    42: "e617346ac9c231bb3650ae34ccca0c5b",
    44: "89237d9ded9c5e78d8b1c9b166cc7342",
    46: "0e33f96055e7ae893ffc0e3dcf492902",
    48: "f7e5aef549f782cf379055a608269b16",
    50: "a590d3ee4fbf04e3247e0d27f286423f",
    52: "2c97325cbd06b36eb2133dd08b3a017c",
    54: "dce850110bd8328cfbd50841d6911d87",
    56: "1938f2cf72d54ee97e94166fa91d2a36",
    58: "57fca5de98a9d6d8006438d0583d8a1d",
    60: "e3040c00eb28f15366ca73cbd872e740",
    62: "5853542321f567a005d547a4f04759bd",
}


def hashes(strings: Sequence[bytes], key: Key = KEY) -> Pairs:
    """The hashes of strings that lie one after the other in one buffer."""
    ends = np.cumsum([len(each) // 2 for each in strings], dtype=np.int64)
    starts = ends - np.array([len(each) // 2 for each in strings], np.int64)
    h1, h2 = siphash_2_4_128(np.frombuffer(b"".join(strings), "<u2"), starts, ends, key)
    return list(zip(h1.tolist(), h2.tolist(), strict=True))


def plain_siphash(data: bytes, key: Key) -> tuple[int, int]:
    """The definition, one string at a time, on Python's integers."""
    a, b, c, d = (key[0] ^ 0x736F6D6570736575, key[1] ^ 0x646F72616E646F6D ^ 0xEE,
                  key[0] ^ 0x6C7967656E657261, key[1] ^ 0x7465646279746573)  # fmt: skip

    def rounds(count: int) -> None:
        nonlocal a, b, c, d
        for _ in range(count):
            a, c = (a + b) & _MASK, (c + d) & _MASK
            b, d = _rotated(b, 13) ^ a, _rotated(d, 16) ^ c
            a = _rotated(a, 32)
            c, a = (c + b) & _MASK, (a + d) & _MASK
            b, d = _rotated(b, 17) ^ c, _rotated(d, 21) ^ a
            c = _rotated(c, 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        d ^= word
        rounds(2)
        a ^= word
    c ^= 0xEE
    rounds(4)
    first = a ^ b ^ c ^ d
    b ^= 0xDD
    rounds(4)
    return first, a ^ b ^ c ^ d


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK


def as_numbers(digest: str) -> tuple[int, int]:
    """The halves of a hash as its bytes stand."""
    raw = bytes.fromhex(digest)
    return int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little")


def test_hashes_of_published_strings_are_the_published_ones() -> None:
    """Strings of all even lengths around the words of 8 bytes, alone and together in any order."""
    lengths = list(PUBLISHED)
    random.Random(1).shuffle(lengths)
    expected = [as_numbers(PUBLISHED[length]) for length in lengths]

    assert expected == hashes([bytes(range(length)) for length in lengths])
    assert expected == [pair for length in lengths for pair in hashes([bytes(range(length))])]


@given(
    st.lists(
        st.binary(max_size=40).map(lambda half: half + half) | st.integers(0, 700).map(lambda n: b"xy" * n), min_size=1
    ),
    st.tuples(st.integers(0, _MASK), st.integers(0, _MASK)),
)
def test_hashes_are_those_of_the_definition(strings: list[bytes], key: Key) -> None:
    """For any strings and keys; the length counts modulo 256."""
    assert [plain_siphash(each, key) for each in strings] == hashes(strings, key)


def test_every_bit_of_the_key_counts() -> None:
    """A key that differs in one bit gives quite another hash."""
    keys = [(KEY[0] ^ bit, KEY[1] ^ other) for n in range(64) for bit, other in ((1 << n, 0), (0, 1 << n))]
    found = {pair for key in [KEY, *keys] for pair in hashes([b"text"], key)}

    assert 129 == len(found) == len({first for first, _ in found}) == len({second for _, second in found})
