"""Adds sentences or concepts to a local store, and changes its thresholds.

To add sentences or concepts, a new index is written to the folder `upgrade` in the store. Then it replaces the old
index. If the replacement is interrupted, the next process that opens the store completes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from simdoc_search.batches import split_by_count
from simdoc_search.durable import atomic_folder
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.stores.local.errors import convert_errors
from simdoc_search.stores.local.folder import UPGRADE_FOLDER, create_store, open_manifest, replace_index
from simdoc_search.stores.local.settings_file import write_manifest
from simdoc_search.stores.local.store import LocalStore
from simdoc_search.stores.local.writer import choose_heap_bytes
from simdoc_search.stores.record import ALL_PARTS, Record

BATCH_SIZE = 64

AddTokens = Callable[[Sequence[Record]], list[Record]]
"""Returns the given records with the new tokens, which it computes from their texts."""


def upgrade_folder(
    store: LocalStore, settings: Settings, add_tokens: AddTokens, progress: Callable[[int], None]
) -> None:
    """Add sentences or concepts to a store.

    `progress` is called with the number of documents that were finished since the last call.

    Raises:
        StoreLockedError: another process is writing to the store.
        StoreError: the store cannot be read or written.
    """
    folder = Path(store.location)
    with _write_lock(store):
        manifest = replace(open_manifest(folder), settings=settings)
        records = store.scan(load=ALL_PARTS)
        with convert_errors("write to", store.location), atomic_folder(folder / UPGRADE_FOLDER) as working:
            working.chmod(folder.stat().st_mode & 0o777)
            create_store(working, manifest)
            new = LocalStore(store.location, working, settings, manifest.store_texts)
            with closing(new), new.writer() as writer:
                for page in split_by_count(records, BATCH_SIZE):
                    writer.put(add_tokens(page))
                    progress(len(page))
        replace_index(folder)


def write_thresholds(store: LocalStore, thresholds: SimilarityThresholds) -> None:
    """Store new thresholds. Raises the same errors as `upgrade_folder`."""
    folder = Path(store.location)
    with _write_lock(store):
        manifest = open_manifest(folder)
        write_manifest(folder, replace(manifest, settings=replace(manifest.settings, thresholds=thresholds)))


@contextmanager
def _write_lock(store: LocalStore) -> Iterator[None]:
    """Prevent other processes from writing to the store during the block, by opening a writer that writes nothing."""
    with convert_errors("write to", store.location):
        index_writer = store.open_for_writing().writer(choose_heap_bytes(), 1)
    try:
        yield
    finally:
        with suppress(Exception):
            index_writer.wait_merging_threads()
