"""Copies the last commit of a store. Other processes may write to the store during the copy."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from simdoc_search.durable import PRIVATE_MODE, atomic_folder, sync_folder, write_atomically
from simdoc_search.errors import StoreError
from simdoc_search.stores.local.errors import convert_errors
from simdoc_search.stores.local.folder import open_manifest
from simdoc_search.stores.local.integrity import FILE_MISSING, Progress
from simdoc_search.stores.local.open_index import open_commit
from simdoc_search.stores.local.segments import META_FILE, find_fault
from simdoc_search.stores.local.settings_file import INDEX_FOLDER, SETTINGS_FILE
from simdoc_search.stores.local.skipped_files import read_skipped_files, write_skipped_files

MANAGED_FILES_FILE = ".managed.json"
"""The file with the names of all files that tantivy may delete once no commit needs them."""

_CHUNK_BYTES = 1 << 20
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def backup_store(folder: Path, target: Path, progress: Progress | None = None) -> int:
    """Copy the last commit of a store. Later writes are not included.

    Every file is copied and verified. The stores share no files, so damage to one does not affect the other. The copy
    appears at `target` only when it is complete and durable. You can open it like any other store. The target must be
    new or empty. `progress` is called with the number of copied bytes and the total number of bytes.

    Returns:
        Number of documents in the copy.

    Raises:
        StoreError: the store is damaged or cannot be read, or the target is not empty or cannot be written.
    """
    open_manifest(folder)
    with (
        convert_errors("back up", f"{folder} to {target}"),
        atomic_folder(target) as working,
        open_commit(folder / INDEX_FOLDER) as (commit, files),
    ):
        index = working / INDEX_FOLDER
        index.mkdir(mode=PRIVATE_MODE)
        done, total = 0, sum(path.stat().st_size for path in files.values())
        for name in commit.files:
            fault = _copy_file(files[name], index / name) if name in files else FILE_MISSING
            if fault:
                raise StoreError(
                    f"the file {name} of the index is damaged: {fault}; save the readable documents with "
                    "`simdoc-search repair`"
                )
            done += (index / name).stat().st_size
            if progress:
                progress(done, total)
        write_atomically(index / MANAGED_FILES_FILE, json.dumps([*commit.files, META_FILE]).encode())
        write_atomically(index / META_FILE, commit.meta)
        for parent in (INDEX_FOLDER, "."):
            write_atomically(working / parent / SETTINGS_FILE, (folder / parent / SETTINGS_FILE).read_bytes())
        write_skipped_files(working, read_skipped_files(folder))
        sync_folder(working)
        return commit.live_document_count


def _copy_file(source: Path, target: Path) -> str | None:
    """Copy a file durably, verify the copy, and return what is wrong with it, or None."""
    with source.open("rb") as original, os.fdopen(os.open(target, _CREATE_FLAGS, 0o600), "wb") as copy:
        shutil.copyfileobj(original, copy, _CHUNK_BYTES)
        copy.flush()
        os.fsync(copy.fileno())
    return find_fault(target)
