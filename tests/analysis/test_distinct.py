"""The distinct values of an array."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.distinct import distinct


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_each_value_comes_once_in_order(values: list[int]) -> None:
    """Whatever their order and number; the type of the array stays."""
    found = distinct(np.array(values, np.uint64))

    assert sorted(set(values)) == found.tolist()
    assert np.uint64 == found.dtype
