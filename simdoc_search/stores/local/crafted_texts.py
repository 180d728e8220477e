"""Which texts of a store were made to look like any text?"""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path

from simdoc_search.sketch.crafted_text import crafted
from simdoc_search.sketch.key import key_from
from simdoc_search.stores.local.store import LocalStore

SAMPLE = 500
"""Texts that are looked at, spread over all."""


def crafted_texts(folder: Path) -> tuple[list[str], int]:
    """The ids of those that were, in a sample of a store that is not damaged, and how many were looked at.

    Raises:
        FormatMismatchError: the store has a hash key that we do not have.
        StoreError: it cannot be read.
    """
    with closing(LocalStore.in_folder(folder, None, create=False, store_texts=None, key=key_from())) as store:
        step = store.info().documents // SAMPLE + 1
        texts = [(each.id, each.text) for each in islice(store.scan(text=True), 0, None, step) if each.text]
        return list(crafted(texts, store.settings)), len(texts)
