"""The group of each compared document, by its place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.documents import Place
from simdoc_search.duplicates.clusters import FREE
from simdoc_search.duplicates.collection import Documents
from simdoc_search.duplicates.table import Ints


class GroupMembership:
    """The group of each document. It takes 24 bytes per document.

    Args:
        documents: all compared documents.
        kept_for: the number of the document that is kept instead of each; FREE: none. int64, shape (documents,).
    """

    def __init__(self, documents: Documents, kept_for: Ints) -> None:
        self._documents = documents
        self._group = kept_for.copy()
        kept = distinct(kept_for[kept_for != FREE])
        self._group[kept] = kept

    def __len__(self) -> int:
        return len(self._group)

    def members(self) -> Ints:
        """The numbers of all documents in groups, kept ones included. The kept one is the first of its group."""
        return np.flatnonzero(self._group != FREE)

    def place(self, number: int) -> Place:
        """Where a document is."""
        return self._documents.place(number)

    def group(self, number: int) -> int | None:
        """The number of the kept document of its group, which can be itself; None: it is in no group."""
        group = int(self._group[number])
        return None if group == FREE else group

    def number(self, place: Place) -> int | None:
        """The number of the document at a place; None: there was no document, or more than one.

        Only documents that are named by a field of theirs can be several at a place.
        """
        found = [each for each in self._numbers(hash(place)) if self._documents.place(each) == place]
        return found[0] if len(found) == 1 else None

    def was_left_out(self, place: Place) -> bool:
        """Whether the document at a place could not be compared."""
        return place in self._documents.left_out

    def has_text(self, number: int, text_hash: str) -> bool:
        """Whether the text with this hash is the one that was compared."""
        return self._documents.has_text(number, text_hash)

    def _numbers(self, key: int) -> Iterator[int]:
        keys, order = self._keys
        at = int(np.searchsorted(keys, key))
        while at < len(keys) and keys[at] == key:
            yield int(order[at])
            at += 1

    @cached_property
    def _keys(self) -> tuple[NDArray[np.int64], Ints]:
        """The hashes of all places, ascending, and the numbers of their documents."""
        every = range(len(self._group))
        keys = np.fromiter((hash(self._documents.place(each)) for each in every), np.int64, len(every))
        order = np.argsort(keys)
        return keys[order], order
