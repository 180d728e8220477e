"""The protocol of stores whose documents may have fields that their records do not contain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from simdoc_search.documents import DocumentKey


@runtime_checkable
class HasApplicationFields(Protocol):
    """A store whose index an application may own. Records of such an index do not contain the fields of documents."""

    def application_fields(
        self, keys: Sequence[DocumentKey], *, with_text: bool = True
    ) -> dict[DocumentKey, dict[str, Any]]:
        """Return the fields of each document, without its id and its fingerprint.

        If simdoc-search created the index, return an empty dictionary, because the records have the metadata.

        Args:
            keys: keys of documents.
            with_text: whether to include the text fields.

        Raises:
            StoreError: the store cannot be read.
        """
