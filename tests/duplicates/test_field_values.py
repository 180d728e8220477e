"""The values of a field have the same order in `duplicates`, in `dedupe`, and as bytes for Spark."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from simdoc_search.duplicates.field_values import encode_values, rank_values, sortable_values

NUMBERS: list[list[Any]] = [
    [-math.inf, "-inf"], [-(2**63) - 2**12], [-(2**63)], [-(2**63) + 1], [-2.5, "-2.5"], [-2, -2.0],
    [0, -0.0, False, "0"], [1e-9], [True, " 1 ", ["1", 9]], [5], [5.5], ["9"], ["10", 10],
    [2**53], [2**53 + 1], ["9007199254740994"], [2**63 - 1], [2**63, float(2**63)], [math.inf, 10**400],
]  # fmt: skip
STRINGS: list[list[Any]] = [
    [""],
    ["1_000"],
    ["2024-01-02"],
    ["a"],
    ["a\0"],
    ["a\0b"],
    ["ab", ["ab", "a"]],
    ["b"],
    ["é"],
]
OTHERS: list[Any] = [None, math.nan, "nan", [], {"a": 1}]


@pytest.mark.parametrize("largest_first", [False, True])
def test_numbers_precede_strings_and_other_values_come_last(largest_first: bool) -> None:
    """Each list contains equal values. The lists are ascending."""
    step = -1 if largest_first else 1
    ordered = [*NUMBERS[::step], *STRINGS[::step], OTHERS]
    expected = [place for place, values in enumerate(ordered) for _ in values]
    kinds, numbers, strings = encode_values(value for values in ordered for value in values)
    string_ranks = np.unique(np.array(strings, object), return_inverse=True)[1]

    for ranks in (
        rank_values(kinds, numbers, string_ranks, largest_first=largest_first),
        np.array(sortable_values(kinds, numbers, b"".join(strings), largest_first=largest_first), object),
    ):
        assert expected == np.unique(ranks, return_inverse=True)[1].tolist()
