"""The protocol of stores whose documents may have fields that their records do not contain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from simdoc_search.documents import DocumentKey


@runtime_checkable
class HasFields(Protocol):
    """A store whose index an application may own. Records of such an index do not contain the fields of documents."""

    def field_hashes(self, keys: Sequence[DocumentKey]) -> dict[DocumentKey, str]:
        """Return a hash of the fields of each document, without its id.

        If simdoc-search created the index, return an empty dictionary, because the records have digests.

        Raises:
            StoreError: the store cannot be read.
        """
