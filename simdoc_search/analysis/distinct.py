"""Finds the distinct values of an array by sorting."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Scalar = TypeVar("_Scalar", bound=np.generic)


def distinct(values: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """Return the distinct values in ascending order, as `np.unique` does, but always by sorting.

    Since version 2.3, `np.unique` uses a hash table and holds the interpreter's lock. For 100,000 values or more, it
    takes 100 times as long as sorting.

    Args:
        values: an array with one dimension.
    """
    ordered: NDArray[Any] = np.sort(values)
    is_first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def distinct_in_order(values: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """Return the distinct values in the order in which they first occur in `values`."""
    _, first = np.unique(values, return_index=True)
    chosen: NDArray[_Scalar] = values[np.sort(first)]
    return chosen
