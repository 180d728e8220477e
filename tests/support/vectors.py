"""Loads values that Lucene computed (tests/data), and has slow implementations of the same arithmetic."""

from __future__ import annotations

import functools
import gzip
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_MASK = 2**64 - 1


@functools.cache
def load(name: str) -> Any:
    """Return the content of tests/data/NAME.json.gz. Its texts may have lone surrogates."""
    with gzip.open(Path(__file__).parents[1] / "data" / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


@functools.cache
def reference_texts() -> dict[str, str]:
    """Return the texts of the vectors, by id."""
    return {row["id"]: row["text"] for row in load("texts")}


def first_difference(expected: Sequence[Any], found: Sequence[Any]) -> tuple[int, Any, Any] | None:
    """Return the first index where two sequences differ, and both items. None if they are equal.

    Use it for long sequences: pytest takes minutes to show how two lists of thousands of numbers differ.
    """
    pairs = enumerate(itertools.zip_longest(expected, found, fillvalue="(nothing)"))
    return next(((index, *pair) for index, pair in pairs if pair[0] != pair[1]), None)


def plain_murmur3(data: bytes) -> tuple[int, int]:
    """Return the MurmurHash3 x64 128, seed 0, computed as in Austin Appleby's code."""
    h1 = h2 = 0
    whole = len(data) // 16 * 16
    for start in range(0, whole, 16):
        h1 ^= _scramble1(int.from_bytes(data[start : start + 8], "little"))
        h1 = ((_rotate(h1, 27) + h2) * 5 + 0x52DCE729) & _MASK
        h2 ^= _scramble2(int.from_bytes(data[start + 8 : start + 16], "little"))
        h2 = ((_rotate(h2, 31) + h1) * 5 + 0x38495AB5) & _MASK
    h1 ^= _scramble1(int.from_bytes(data[whole : whole + 8], "little"))
    h2 ^= _scramble2(int.from_bytes(data[whole + 8 :], "little"))
    h1, h2 = h1 ^ len(data), h2 ^ len(data)
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    h1, h2 = _finish(h1), _finish(h2)
    h1 = (h1 + h2) & _MASK
    return h1, (h2 + h1) & _MASK


def plain_value(shingle: str, index: int = 0) -> tuple[int, int]:
    """Return val2 and val1 of a shingle for hash function `index`. Values are compared in this order."""
    h1, h2 = plain_murmur3(shingle.encode("utf-16-le"))
    one1, one2 = plain_murmur3(index.to_bytes(4, "big"))
    return (h2 * 37 + one2) & _MASK, (h1 * 37 + one1) & _MASK


def _scramble1(k: int) -> int:
    return _rotate(k * 0x87C37B91114253D5 & _MASK, 31) * 0x4CF5AD432745937F & _MASK


def _scramble2(k: int) -> int:
    return _rotate(k * 0x4CF5AD432745937F & _MASK, 33) * 0x87C37B91114253D5 & _MASK


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK


def _finish(k: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        k = (k ^ k >> 33) * factor & _MASK
    return k ^ k >> 33
