"""Adds sentences or concepts to a local store, and changes its limits.

To add kinds of tokens, a new index is written into the folder `upgrade` of the store. When it is complete, it replaces
the old index. If the replacement is interrupted, the next process that opens the store completes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from simdoc_search.durable import atomic_folder
from simdoc_search.sketch.limits import Limits
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.local.errors import engine_errors
from simdoc_search.stores.local.folder import UPGRADE_FOLDER, find_store, make_store, replace_index
from simdoc_search.stores.local.settings_file import write_identity
from simdoc_search.stores.local.store import LocalStore
from simdoc_search.stores.local.writer import heap_bytes
from simdoc_search.stores.record import Record

AT_ONCE = 64

Sketch = Callable[[Sequence[Record]], list[Record]]
"""Adds kinds of tokens to records. The tokens are made from the texts."""


def upgrade_folder(store: LocalStore, settings: Settings, sketch: Sketch, progress: Callable[[int], None]) -> None:
    """Add kinds of tokens to a store.

    Args:
        store: the store.
        settings: the new settings.
        sketch: makes the new tokens.
        progress: called with the number of documents that were finished since the last call.

    Raises:
        StoreLockedError: another process is writing to the store.
        StoreError: the store cannot be read or written.
    """
    folder = Path(store.location)
    with _write_lock(store):
        identity = replace(find_store(folder), settings=settings)
        records = store.scan(text=True, passages=True, sketches=True)
        with engine_errors("write to", store.location), atomic_folder(folder / UPGRADE_FOLDER) as working:
            working.chmod(folder.stat().st_mode & 0o777)
            make_store(working, identity)
            new = LocalStore(store.location, working, settings, identity.store_texts)
            with closing(new), new.writer() as writer:
                while page := list(islice(records, AT_ONCE)):
                    writer.put(sketch(page))
                    progress(len(page))
        replace_index(folder)


def write_limits(store: LocalStore, limits: Limits) -> None:
    """Store other limits. Raises the same errors as `upgrade_folder`."""
    folder = Path(store.location)
    with _write_lock(store):
        identity = find_store(folder)
        write_identity(folder, replace(identity, settings=replace(identity.settings, limits=limits)))


@contextmanager
def _write_lock(store: LocalStore) -> Iterator[None]:
    """Keep others from writing to the store during the block, by opening a writer that writes nothing."""
    with engine_errors("write to", store.location):
        engine = store.for_writing().writer(heap_bytes(), 1)
    try:
        yield
    finally:
        with suppress(Exception):
            engine.wait_merging_threads()
