"""Adds sentences or concepts to a local store, from the texts that it keeps.

A new index is written into the folder `upgrade` of the store. If that is interrupted, the next run goes on with what is
there. When it is complete, it takes the place of the old one; whoever opens the store next completes a replacement that
was interrupted.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from simdoc_search.errors import StoreError
from simdoc_search.sketch.limits import Limits
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.local.errors import engine_errors
from simdoc_search.stores.local.folder import UPGRADE_FOLDER, make_store, replace_index
from simdoc_search.stores.local.segments import META_FILE
from simdoc_search.stores.local.settings_file import INDEX_FOLDER, Identity, read_identity, write_identity
from simdoc_search.stores.local.store import LocalStore
from simdoc_search.stores.local.writer import heap_bytes
from simdoc_search.stores.record import Record

AT_ONCE = 64
_COMMIT_SECONDS = 20.0

Sketch = Callable[[Sequence[Record]], list[Record]]


def upgrade_folder(
    store: LocalStore, folder: Path, wanted: Settings, sketch: Sketch, progress: Callable[[int], None]
) -> None:
    """Give a store other settings; nobody else can write to it meanwhile.

    Args:
        store: the store, open.
        folder: where it is.
        wanted: its settings, with further kinds of tokens.
        sketch: makes the tokens of records that have their texts.
        progress: called with numbers of documents that are done.

    Raises:
        StoreLockedError: somebody else writes to it.
        StoreError: it keeps no texts, or cannot be read or written.
    """
    with _locked(store):
        identity = _identity(folder)
        target = folder / UPGRADE_FOLDER
        new = _begun(target, replace(identity, settings=wanted))
        _copy(store, new, sketch, progress)
        new.close()
        replace_index(folder)


def write_limits(store: LocalStore, folder: Path, limits: Limits) -> None:
    """Store other limits, see `sketch.limits`; nobody else can write meanwhile. Raises as `upgrade_folder`."""
    with _locked(store):
        identity = _identity(folder)
        write_identity(folder, replace(identity, settings=replace(identity.settings, limits=limits)))


def _identity(folder: Path) -> Identity:
    identity = read_identity(folder)
    if identity is None or not identity.has_checksums:
        raise StoreError(f"the store {folder} was made before stores had checksums; index again into another folder")
    return identity


@contextmanager
def _locked(store: LocalStore) -> Iterator[None]:
    """Nobody else writes to the store during the block. The lock is that of a writer, which writes nothing."""
    with engine_errors("write to", store.location):
        engine = store.for_writing().writer(heap_bytes(), 1)
    try:
        yield
    finally:
        with suppress(Exception):
            engine.wait_merging_threads()


def _begun(target: Path, identity: Identity) -> LocalStore:
    """The new index as an earlier run left it, or an empty one."""
    found = None
    with suppress(StoreError):
        found = read_identity(target)
    if found != replace(identity, settings=identity.settings.with_key(found.settings.minhash.key if found else None)):
        shutil.rmtree(target, ignore_errors=True)
    if not (target / INDEX_FOLDER / META_FILE).exists():
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(mode=target.parent.stat().st_mode & 0o777)
        make_store(target, identity)
    return LocalStore(str(target), target, identity.settings, identity.store_texts)


def _copy(store: LocalStore, new: LocalStore, sketch: Sketch, progress: Callable[[int], None]) -> None:
    done = {each.id: (each.digest, each.origin) for each in new.scan()}
    committed = time.monotonic()
    with new.writer() as writer:
        try:
            records = store.scan(text=True, passages=True, sketches=True)
            while page := list(islice(records, AT_ONCE)):
                there = [each for each in page if done.pop(each.id, None) != (each.digest, each.origin)]
                writer.put(sketch(there))
                progress(len(page))
                if time.monotonic() - committed > _COMMIT_SECONDS:
                    writer.commit()
                    committed = time.monotonic()
            writer.delete(done)
        except KeyboardInterrupt:
            writer.commit()
            raise
