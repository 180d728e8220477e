"""Splits iterables into lists of limited size, so that only one list is in memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def split_by_count(items: Iterable[Item], max_count: int) -> Iterator[list[Item]]:
    """Yield the items in lists of up to `max_count` items."""
    rest = iter(items)
    while batch := list(islice(rest, max_count)):
        yield batch


def split_by_size(
    items: Iterable[Item], size_of: Callable[[Item], int], size_limit: int, max_count: int = sys.maxsize
) -> Iterator[list[Item]]:
    """Yield the items in lists. A list is complete when its total size reaches `size_limit`.

    It is also complete when it has `max_count` items.
    """
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += size_of(item)
        if size >= size_limit or len(batch) >= max_count:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
