"""Looks up the group of a document by its key."""

from __future__ import annotations

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.arrays import Ints
from simdoc_search.duplicates.clusters import UNASSIGNED
from simdoc_search.duplicates.document_arrays import Documents


class GroupMembership:
    """The group of each compared document. Needs 24 bytes of memory per document.

    `members` are the indices of all documents in groups, including kept documents, ascending.
    """

    def __init__(self, documents: Documents, kept_document_of: Ints) -> None:
        self.documents = documents
        self._group = kept_document_of.copy()
        kept = distinct(kept_document_of[kept_document_of != UNASSIGNED])
        self._group[kept] = kept
        self.members: Ints = np.flatnonzero(self._group != UNASSIGNED)
        hashes = np.fromiter((hash(self.documents.key(number)) for number in range(len(self))), np.int64, len(self))
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]

    def __len__(self) -> int:
        return len(self._group)

    def find_kept(self, number: int) -> int | None:
        """Return the index of the kept document of a document's group; None if the document is in no group.

        The kept document of a group may be the document itself.
        """
        group = int(self._group[number])
        return None if group == UNASSIGNED else group

    def find_document_number(self, key: DocumentKey) -> int | None:
        """Return the index of the document with this key; None if no document or several documents have the key.

        Several documents can have the same key if their ids come from a field that is not unique.
        """
        begin, end = np.searchsorted(self._hashes, hash(key)), np.searchsorted(self._hashes, hash(key), "right")
        numbers = [number for number in self._order[begin:end].tolist() if self.documents.key(number) == key]
        return numbers[0] if len(numbers) == 1 else None
