"""The protocol of stores whose documents have fields that their records do not contain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from simdoc_search.documents import DocumentKey


@runtime_checkable
class HasFields(Protocol):
    """A store in an index that simdoc-search did not create. Its records do not contain the fields of the documents."""

    def field_hashes(self, keys: Sequence[DocumentKey]) -> dict[DocumentKey, str]:
        """Return a hash of the fields of each document; the hash does not cover the id. Empty if records have digests.

        Raises:
            StoreError: the store cannot be read.
        """
