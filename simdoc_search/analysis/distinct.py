"""The distinct values of an array."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Scalar = TypeVar("_Scalar", bound=np.generic)


def distinct(values: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """The distinct values, ascending: `np.unique`, always by sorting.

    From version 2.3 on, numpy puts the values into a hash table first, and holds the interpreter's lock meanwhile. For
    a hundred thousand values or more that takes 100 times as long.

    Args:
        values: of one dimension.
    """
    ordered: NDArray[Any] = np.sort(values)
    is_first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]
