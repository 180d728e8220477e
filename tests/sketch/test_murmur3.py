"""The hash of many strings at once is MurmurHash3 x64 128 of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.hashing import minima
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.murmur3 import murmur3_x64_128
from tests.support.vectors import first_difference, load, plain_murmur3

Pairs = list[tuple[int, int]]


def as_java(text: str) -> bytes:
    """UTF-16LE with U+FFFD for each surrogate without a partner."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.encode("utf-16-le")


def hashes(strings: Sequence[bytes]) -> Pairs:
    """The hashes of strings that lie one after the other in one buffer."""
    ends = np.cumsum([len(each) // 2 for each in strings], dtype=np.int64)
    starts = ends - np.array([len(each) // 2 for each in strings], np.int64)
    h1, h2 = murmur3_x64_128(np.frombuffer(b"".join(strings), "<u2"), starts, ends)
    return list(zip(h1.tolist(), h2.tolist(), strict=True))


def test_hashes_of_reference_strings_are_lucenes() -> None:
    """Strings of all lengths around the block of 16 bytes, empty and non-BMP ones too, hash as in Lucene."""
    vectors = load("murmur3")["strings"]
    strings = [as_java(each["text"]) for each in vectors]
    expected = [(int(each["val1"]), int(each["val2"])) for each in vectors]

    assert {0, 14, 16, 18} <= {len(each) for each in strings}
    assert expected == hashes(strings)
    assert expected == [pair for each in strings for pair in hashes([each])]


def test_hashes_of_numbers_are_lucenes() -> None:
    """The number of a hash function is hashed as 4 bytes, most significant first."""
    vectors = load("murmur3")["int_hashes"]
    expected = [(int(each["val1"]), int(each["val2"])) for each in vectors]

    assert [each["bytes"] for each in vectors] == [each["i"].to_bytes(4, "big").hex() for each in vectors]
    assert expected == hashes([each["i"].to_bytes(4, "big") for each in vectors])


def test_combined_values_are_lucenes() -> None:
    """Hash function i of a shingle is its hash times 37 plus the hash of i, even for the only function."""
    vectors = load("murmur3")["strings"]
    strings = [np.frombuffer(as_java(each["text"]), "<u2") for each in vectors]
    ends = np.cumsum([len(each) for each in strings])
    one_each = ShingleBatch(
        np.concatenate(strings),
        ends - [len(each) for each in strings],
        ends,
        np.ones(len(strings), np.int64),  # every string as a text of one shingle
    )
    found, distinct, _ = minima(one_each, MinHash(hash_count=4, bucket_count=1))

    assert [1] * len(vectors) == distinct
    for index in (0, 3):
        expected = [(int(v[f"combined_{index}"]["val1"]), int(v[f"combined_{index}"]["val2"])) for v in vectors]

        assert expected == [(int(each.val1[index]), int(each.val2[index])) for each in found]


@given(st.binary(max_size=120).map(lambda data: data[: len(data) // 2 * 2]))
def test_the_plain_definition_agrees(data: bytes) -> None:
    """Any units, NUL and surrogates too, hash as the step-by-step definition says."""
    assert [plain_murmur3(data)] == hashes([data])


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=12))
def test_slices_of_one_buffer_may_overlap(text: str, bounds: list[tuple[int, int]]) -> None:
    """Shingles share their words in the buffer; each is hashed as if it stood alone."""
    units = np.frombuffer(text.encode("utf-16-le"), "<u2")
    slices = [(min(a, b, len(units)), min(max(a, b), len(units))) for a, b in bounds]
    starts = np.array([start for start, _ in slices], np.int64)
    ends = np.array([end for _, end in slices], np.int64)
    h1, h2 = murmur3_x64_128(units, starts, ends)

    assert [plain_murmur3(units[a:b].tobytes()) for a, b in slices] == list(zip(h1.tolist(), h2.tolist(), strict=True))


def test_many_strings_hash_as_each() -> None:
    """Tens of thousands of strings, hashed in several chunks, keep their order and values."""
    strings = [str(number * 7919).encode("utf-16-le") for number in range(40_000)]
    found = hashes(strings)

    assert len(strings) == len(found)
    assert None is first_difference([plain_murmur3(each) for each in strings[::9]], found[::9])


def test_strings_of_very_different_lengths_hash_as_each() -> None:
    """A string of 40,000 units beside short and empty ones changes none of them."""
    strings = [b"", b"a\0" * 40_000, b"", "zwölf".encode("utf-16-le"), b"b\0" * 32_767, b"c\0" * 8]

    assert [plain_murmur3(each) for each in strings] == hashes(strings)


def test_no_strings_have_no_hashes() -> None:
    """An empty batch is empty, not an error."""
    assert [] == hashes([])
