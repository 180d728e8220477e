"""Orders the values of a field for the rules `max:FIELD` and `min:FIELD` of `duplicates` and `dedupe`.

Both rules prefer a number to a string. A string that contains a number, such as a cell of a CSV file, is compared as a
number. A list is compared by its first value. All other values, and missing ones, come last.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.arrays import Floats, Ints, is_run_start

NO_VALUE, INTEGER, FLOAT, STRING = range(4)
"""The kinds of values."""

_INT64_RANGE = range(-(1 << 63), 1 << 63)
_SIGN_BIT = np.uint64(1 << 63)
_MAX_REST = 1 << 10  # of an integer of 64 bits and the nearest float
_INVERTED_BYTES = bytes(range(255, -1, -1))


def field_of_rule(rule: str) -> str | None:
    """Return the field of a rule such as `max:FIELD`; None if the rule does not use a field."""
    kind, colon, field = rule.partition(":")
    return field if kind in ("max", "min") and colon and field else None


def prefers_largest(rule: str) -> bool:
    """Return whether a rule with a field prefers the largest value."""
    return rule.startswith("max:")


def encode_values(values: Iterable[Any]) -> tuple[NDArray[np.uint8], Ints, list[bytes]]:
    """Encode values.

    Returns:
        The kind of each value. The integer, the bits of the float, or the length of the string of each value. All
        strings, in UTF-8.
    """
    kinds, numbers, strings = bytearray(), [], []
    for value in values:
        kind, number, string = _encode_value(value)
        kinds.append(kind)
        numbers.append(number)
        if kind == STRING:
            strings.append(string)
    return np.frombuffer(kinds, np.uint8), np.array(numbers, np.int64), strings


def _encode_value(value: Any) -> tuple[int, int, bytes]:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, str):
        data, value = value.encode("utf-8", "replace"), _parse_number(value)
        if value is None:
            return STRING, len(data), data
    if isinstance(value, int):
        if value in _INT64_RANGE:
            return INTEGER, int(value), b""
        value = float(str(value))  # for large integers, float(value) is an error
    if isinstance(value, float) and not math.isnan(value):
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        return FLOAT, bits, b""
    return NO_VALUE, 0, b""


def _parse_number(text: str) -> int | float | None:
    if "_" not in text:  # Python reads 1_000 as a number
        for number_type in (int, float):
            with suppress(ValueError):
                return number_type(text)
    return None


def rank_values(kinds: NDArray[np.uint8], numbers: Ints, string_ranks: Ints, *, largest_first: bool) -> Ints:
    """Return the rank of each encoded value. Equal values have equal ranks.

    `kinds` and `numbers` are results of `encode_values`. `string_ranks` contains the rank of each string in ascending
    order.
    """
    is_number, is_string = (kinds == INTEGER) | (kinds == FLOAT), kinds == STRING
    floats, rests = _split_numbers(kinds[is_number], numbers[is_number])
    order = np.lexsort((rests, floats))
    number_ranks = np.empty(len(order), np.int64)
    number_ranks[order] = np.cumsum(is_run_start(floats[order], rests[order]))
    if largest_first:
        number_ranks, string_ranks = (ranks.max(initial=0) - ranks for ranks in (number_ranks, string_ranks))
    all_ranks = np.full(len(kinds), np.iinfo(np.int64).max)
    all_ranks[is_number] = number_ranks
    all_ranks[is_string] = len(order) + string_ranks
    return all_ranks


def sortable_values(kinds: NDArray[np.uint8], numbers: Ints, strings: bytes, *, largest_first: bool) -> list[bytes]:
    """Return encoded values as bytes that sort like the result of `rank_values`.

    `strings` contains all strings, one after the other.
    """
    floats, rests = _split_numbers(kinds, numbers)
    bits = floats.view(np.uint64)
    float_bytes = np.where(bits & _SIGN_BIT, ~bits, bits | _SIGN_BIT).astype(">u8").tobytes()
    rest_bytes = (rests + _MAX_REST).astype(">u2").tobytes()
    values, begin = [], 0
    for index, (kind, number) in enumerate(zip(kinds.tolist(), numbers.tolist(), strict=True)):
        value = b""
        if kind == STRING:
            value = b"\1" + strings[begin : begin + number].replace(b"\0", b"\0\xff") + b"\0\0"
            begin += number
        elif kind != NO_VALUE:
            value = b"\0" + float_bytes[8 * index : 8 * index + 8] + rest_bytes[2 * index : 2 * index + 2]
        if largest_first:
            value = value[:1] + value[1:].translate(_INVERTED_BYTES)
        values.append(value or b"\2")
    return values


def _split_numbers(kinds: NDArray[np.uint8], numbers: Ints) -> tuple[Floats, Ints]:
    """Return the nearest float of each number, and the rest of an integer that has no equal float."""
    is_float = kinds == FLOAT
    integers = np.where(is_float, 0, numbers)
    nearest = integers.astype(np.float64)
    is_too_large = nearest == float(1 << 63)
    rests = integers - np.where(is_too_large, 0, nearest).astype(np.int64)
    rests[is_too_large] -= np.iinfo(np.int64).max
    rests[is_too_large] -= 1
    return np.where(is_float, numbers.view(np.float64), nearest) + 0.0, rests  # -0.0 + 0.0 is 0.0
