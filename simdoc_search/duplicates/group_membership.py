"""The group of each compared document, by its place."""

from __future__ import annotations

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.documents import Place
from simdoc_search.duplicates.arrays import Ints
from simdoc_search.duplicates.clusters import UNASSIGNED
from simdoc_search.duplicates.collection import Documents


class GroupMembership:
    """The group of each document, by its place. It takes 24 bytes per document.

    Attributes:
        members: the numbers of all documents in groups, kept ones included; int64, ascending.
    """

    def __init__(self, documents: Documents, kept_for: Ints) -> None:
        self._documents = documents
        self._group = kept_for.copy()
        kept = distinct(kept_for[kept_for != UNASSIGNED])
        self._group[kept] = kept
        self.members: Ints = np.flatnonzero(self._group != UNASSIGNED)
        hashes = np.fromiter((hash(self.place(number)) for number in range(len(self))), np.int64, len(self))
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]

    def __len__(self) -> int:
        return len(self._group)

    def place(self, number: int) -> Place:
        """Return the place of a document."""
        return self._documents.place(number)

    def group(self, number: int) -> int | None:
        """Return the number of the kept document of its group, which can be the document itself; None: no group."""
        group = int(self._group[number])
        return None if group == UNASSIGNED else group

    def number(self, place: Place) -> int | None:
        """Return the number of the document at a place; None if there is none, or more than one.

        Several documents can be at one place if they are named by a field that is not unique.
        """
        begin, end = np.searchsorted(self._hashes, hash(place)), np.searchsorted(self._hashes, hash(place), "right")
        numbers = [number for number in self._order[begin:end].tolist() if self.place(number) == place]
        return numbers[0] if len(numbers) == 1 else None

    def was_left_out(self, place: Place) -> bool:
        """Say whether the document at a place could not be compared."""
        return place in self._documents.left_out

    def has_text(self, number: int, text_hash: str) -> bool:
        """Say whether the text with this hash is the one that was compared."""
        return self._documents.has_text(number, text_hash)
