"""Copying the last commit of a store while others write to it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from simdoc_search.durable import PRIVATE, finished_folder, sync_folder, write_whole
from simdoc_search.errors import StoreError
from simdoc_search.stores.local.errors import engine_errors
from simdoc_search.stores.local.folder import find_store
from simdoc_search.stores.local.integrity import Progress
from simdoc_search.stores.local.open_index import pinned
from simdoc_search.stores.local.segments import FILES_FILE, META_FILE, Commit, fault_of
from simdoc_search.stores.local.settings_file import INDEX_FOLDER, SETTINGS_FILE, require_checksums

_CHUNK = 1 << 20
_HELP = "simdoc-search check says more, simdoc-search repair saves what can be read"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def backup_store(folder: Path, target: Path, progress: Progress | None = None) -> int:
    """Copy the last commit of a store. Later writes are not included.

    Every byte is copied, so that damage to one store does not affect the other, and every file is verified. The copy
    gets its name when it is complete and durable. It is a store like any other.

    Args:
        folder: folder of the store.
        target: folder of the copy; new or empty.
        progress: called with the number of copied bytes and of all bytes.

    Returns:
        Number of documents in the copy.

    Raises:
        StoreError: the store is damaged, it cannot be read or written, or the target is not empty.
    """
    find_store(folder)
    require_checksums(folder)
    with engine_errors("back up", f"{folder} to {target}"), finished_folder(target) as working:
        index = working / INDEX_FOLDER
        index.mkdir(mode=PRIVATE)
        commit = _copy_commit(folder / INDEX_FOLDER, index, progress or (lambda _done, _all: None))
        for each in (INDEX_FOLDER, "."):
            write_whole(working / each / SETTINGS_FILE, (folder / each / SETTINGS_FILE).read_bytes())
        sync_folder(working)
    return sum(each.documents - each.deleted for each in commit.segments)


def _copy_commit(source: Path, target: Path, progress: Progress) -> Commit:
    """Copy the files of the last commit, `meta.json` last."""
    with pinned(source) as (commit, files):
        sizes = {name: path.stat().st_size for name, path in files.items()}
        for done, name in enumerate(commit.files):
            if name not in files:
                raise StoreError(f"{source / name} is gone; {_HELP}")
            _copy(files[name], target / name)
            progress(sum(sizes[each] for each in commit.files[: done + 1]), sum(sizes.values()))
    write_whole(target / FILES_FILE, json.dumps([*commit.files, META_FILE]).encode())
    write_whole(target / META_FILE, commit.meta)
    return commit


def _copy(source: Path, target: Path) -> None:
    """Copy a file durably, and verify the copy."""
    with source.open("rb") as given, os.fdopen(os.open(target, _NEW, 0o600), "wb") as taken:
        shutil.copyfileobj(given, taken, _CHUNK)
        taken.flush()
        os.fsync(taken.fileno())
    if fault := fault_of(target):
        raise StoreError(f"{target.name} of the store is damaged: {fault}; {_HELP}")
