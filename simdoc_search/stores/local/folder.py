"""Finds or creates the local store in a folder. A lock prevents two processes from creating it at the same time."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import tantivy
from filelock import FileLock, Timeout

from simdoc_search.durable import PRIVATE_MODE, sync_folder, write_atomically
from simdoc_search.errors import FormatMismatchError, StoreError, StoreLockedError, StoreNotFoundError
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.local.errors import convert_errors
from simdoc_search.stores.local.schema import build_schema, optional_fields
from simdoc_search.stores.local.segments import META_FILE, read_commit
from simdoc_search.stores.local.settings_file import (
    INDEX_FOLDER,
    SETTINGS_FILE,
    StoreManifest,
    read_manifest,
    write_manifest,
)
from simdoc_search.stores.settings_check import check_settings

LOCK_FILE = ".simdoc.lock"
UPGRADE_FOLDER, _OLD_INDEX_FOLDER = "upgrade", "index.replaced"
LOCK_TIMEOUT_SECONDS = 60
"""Maximum time to wait for another process that is creating the same store."""


def open_manifest(folder: Path, new_manifest: StoreManifest | None = None) -> StoreManifest:
    """Return the manifest of the store in a folder. Its hash key may lack the secret; see `Settings.with_verified_key`.

    If there is no store, one with `new_manifest` is created.

    Raises:
        StoreNotFoundError: there is no store, and `new_manifest` is None.
        StoreError: the folder contains something else, or the store cannot be read or created.
    """
    with convert_errors("open", str(folder)):
        replace_index(folder)
        manifest = read_manifest(folder)
        if manifest is None or not (folder / INDEX_FOLDER / META_FILE).exists():
            if new_manifest is None:
                raise _not_found_error(folder, manifest)
            manifest = _create_with_lock(folder, new_manifest)
    return manifest


def find_or_create_manifest(
    folder: Path, requested: Settings | None, *, create: bool, store_texts: bool | None, key: HashKey | None = None
) -> StoreManifest:
    """Return the manifest of the store in a folder. If there is none and `create` is True, create a store.

    See `open_store` for the arguments.

    Raises:
        StoreNotFoundError: there is no store, and `create` is False.
        FormatMismatchError: the store has different settings, or another hash key.
        StoreError: the folder contains something else, or the store cannot be read or created.
    """
    with_texts = store_texts is not False
    settings = (requested or Settings().with_key(key)).for_local_store(with_texts)
    manifest = open_manifest(folder, StoreManifest.new(settings, with_texts) if create else None)
    manifest = replace(manifest, settings=manifest.settings.with_verified_key(key, f"the index {folder}"))
    check_settings(manifest.settings, requested, str(folder))
    if store_texts is not None and store_texts != manifest.store_texts:
        with_or_without = "with" if manifest.store_texts else "without"
        raise FormatMismatchError(
            f"the index {folder} was created {with_or_without} texts; use the index as it is, or choose a new one",
            found=manifest.store_texts,
            expected=store_texts,
        )
    return manifest


def create_store(folder: Path, manifest: StoreManifest) -> None:
    """Create an empty store in an empty folder. The settings file marks a complete store, so it is written last."""
    index = folder / INDEX_FOLDER
    index.mkdir(exist_ok=True, mode=PRIVATE_MODE)
    index.chmod(folder.stat().st_mode & 0o777)
    if not (index / META_FILE).exists():
        tantivy.Index(build_schema(optional_fields(manifest.settings)), str(index))
    write_manifest(folder, manifest)
    sync_folder(folder.absolute().parent)


def replace_index(folder: Path) -> None:
    """Replace the index of a store with the index in the store's folder `upgrade`, if there is one.

    After an interruption, the next process that opens the store completes the replacement.
    """
    new, old_index, index = folder / UPGRADE_FOLDER, folder / _OLD_INDEX_FOLDER, folder / INDEX_FOLDER
    if not new.exists():
        return
    with FileLock(folder / LOCK_FILE, timeout=LOCK_TIMEOUT_SECONDS, mode=0o600):
        if not new.exists():  # another process has completed the replacement
            return
        if (new / INDEX_FOLDER).exists():
            if index.exists():
                shutil.rmtree(old_index, ignore_errors=True)
                index.rename(old_index)
            (new / INDEX_FOLDER).rename(index)
            sync_folder(folder)
        write_atomically(folder / SETTINGS_FILE, (index / SETTINGS_FILE).read_bytes())
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old_index, ignore_errors=True)


def _create_with_lock(folder: Path, new_manifest: StoreManifest) -> StoreManifest:
    """Create the store or its missing parts, unless another process has created the store in the meantime."""
    if not (folder / SETTINGS_FILE).exists():
        _check_no_other_files(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_MODE)
    try:
        with FileLock(folder / LOCK_FILE, timeout=LOCK_TIMEOUT_SECONDS, mode=0o600):
            manifest = read_manifest(folder)
            index = folder / INDEX_FOLDER
            if manifest is None:
                _check_no_other_files(folder)
            elif (index / META_FILE).exists():
                return manifest
            elif index.exists() and _has_documents(index):
                # Do not continue, because an empty index would replace the damaged one.
                raise _not_found_error(folder, manifest)
            created = StoreManifest.new(manifest.settings, manifest.store_texts) if manifest else new_manifest
            create_store(folder, created)
    except Timeout as error:
        raise StoreLockedError(
            f"another process is creating the index {folder}; try again when that process has finished"
        ) from error
    return created


def _check_no_other_files(folder: Path) -> None:
    """Check that a folder is missing, or contains only files of a store, which may be incomplete."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise StoreError(f"{folder} is a file, not the folder of an index; choose another path")
    if not all(map(_belongs_to_incomplete_store, folder.iterdir())) and not (folder / SETTINGS_FILE).exists():
        raise StoreError(f"{folder} contains other files and is not an index; choose another folder")


def _belongs_to_incomplete_store(path: Path) -> bool:
    """Return whether a path is a file or an empty index of an incomplete store. Return False for a link."""
    if path.is_symlink():
        return False
    if path.name == INDEX_FOLDER and path.is_dir():
        return not _has_documents(path)
    return path.name == LOCK_FILE or (path.name.startswith(f".{SETTINGS_FILE}.") and path.suffix == ".tmp")


def _has_documents(index: Path) -> bool:
    files = [file for file in index.iterdir() if not file.name.startswith(".") or file.is_symlink()]
    if any(file.is_symlink() for file in files) or {file.name for file in files} - {SETTINGS_FILE, META_FILE}:
        return True
    return (index / META_FILE).exists() and bool(read_commit(index).segments)


def _not_found_error(folder: Path, manifest: StoreManifest | None) -> StoreError:
    if manifest is None:
        _check_no_other_files(folder)
        advice = f"create an index with: simdoc-search index FOLDER --store {folder}"
        return StoreNotFoundError(f"no index at {folder}; {advice}")
    return StoreError(
        f"the index {folder} is damaged: the file {META_FILE} is missing; restore the index from a backup, or delete "
        f"{folder} and index again"
    )
