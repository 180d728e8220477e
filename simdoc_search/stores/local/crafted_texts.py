"""Texts of a store that were crafted to look like any text."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path

from simdoc_search.sketch.crafted_text import crafted
from simdoc_search.sketch.key import key_from
from simdoc_search.stores.local.store import LocalStore

SAMPLE = 500
"""Number of texts in the sample, spread over all."""


def crafted_texts(folder: Path) -> tuple[list[str], int]:
    """Return the ids of crafted texts in a sample of an undamaged store, and the size of the sample.

    Raises:
        FormatMismatchError: the hash key of the store is not known.
        StoreError: the store cannot be read.
    """
    with closing(LocalStore.in_folder(folder, None, create=False, store_texts=None, key=key_from())) as store:
        step = store.info().documents // SAMPLE + 1
        texts = [(each.id, each.text) for each in islice(store.scan(text=True), 0, None, step) if each.text]
        return list(crafted(texts, store.settings)), len(texts)
