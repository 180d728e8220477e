"""Finds the local store in a folder, or makes one. A lock keeps several processes from making it at once."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import tantivy
from filelock import FileLock, Timeout

from simdoc_search.durable import PRIVATE_MODE, sync_folder, write_atomically
from simdoc_search.errors import FormatMismatchError, StoreError, StoreLockedError, StoreNotFoundError
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.local.errors import engine_errors
from simdoc_search.stores.local.schema import build_schema, optional_fields
from simdoc_search.stores.local.segments import META_FILE, read_commit
from simdoc_search.stores.local.settings_file import (
    INDEX_FOLDER,
    SETTINGS_FILE,
    Identity,
    read_identity,
    write_identity,
)

LOCK_FILE = ".simdoc.lock"
UPGRADE_FOLDER, _REPLACED = "upgrade", "index.replaced"
LOCK_SECONDS = 60
"""How long to wait for another process that is making the same store."""


def find_store(folder: Path, wanted: Identity | None = None) -> Identity:
    """Return the identity of the store in a folder. The hash key in its settings may be unknown.

    Args:
        folder: folder of the store.
        wanted: the identity of a new store, which is made if there is none.

    Raises:
        StoreNotFoundError: there is no store, and `wanted` is None.
        StoreError: the folder contains something else, or the store cannot be read or made.
    """
    with engine_errors("open", str(folder)):
        replace_index(folder)
        identity = read_identity(folder)
        if identity is None or not (folder / INDEX_FOLDER / META_FILE).exists():
            if wanted is None:
                raise _not_found(folder, identity)
            identity = _make(folder, wanted)
    return identity


def find_or_make_store(
    folder: Path, requested: Settings | None, *, create: bool, store_texts: bool | None, key: HashKey | None = None
) -> Identity:
    """Find the store in a folder, or make it there. The arguments are those of `open_store`.

    Raises:
        StoreNotFoundError: there is no store, and `create` is False.
        FormatMismatchError: the store has other settings, or another hash key.
        StoreError: the folder contains something else, or the store cannot be read or made.
    """
    wanted, with_texts = requested or Settings().with_key(key), store_texts is not False
    identity = find_store(folder, Identity.new(wanted.for_local(with_texts), with_texts) if create else None)
    identity = replace(identity, settings=identity.settings.unlocked(key, f"the store {folder}"))
    _check_settings(folder, identity.settings, requested)
    if store_texts is not None and store_texts != identity.store_texts:
        kept = "with" if identity.store_texts else "without"
        raise FormatMismatchError(
            f"the store {folder} was made {kept} texts; use it as it is, or index into a new store",
            found=identity.store_texts,
            expected=store_texts,
        )
    return identity


def make_store(folder: Path, identity: Identity) -> None:
    """Make an empty store in an empty folder. The settings file, which makes it a store, is written last."""
    index = folder / INDEX_FOLDER
    index.mkdir(exist_ok=True, mode=PRIVATE_MODE)
    index.chmod(folder.stat().st_mode & 0o777)
    if not (index / META_FILE).exists():
        tantivy.Index(build_schema(optional_fields(identity.settings)), str(index))
    write_identity(folder, identity)
    sync_folder(folder.absolute().parent)


def replace_index(folder: Path) -> None:
    """Replace the index of a store by the one in its folder `upgrade`, if there is one.

    Every step can be repeated, so that the next process can complete an interrupted replacement.
    """
    new, replaced, index = folder / UPGRADE_FOLDER, folder / _REPLACED, folder / INDEX_FOLDER
    if not new.exists():
        return
    with FileLock(folder / LOCK_FILE, timeout=LOCK_SECONDS, mode=0o600):
        if not new.exists():  # another process completed it
            return
        if (new / INDEX_FOLDER).exists():
            if index.exists():
                shutil.rmtree(replaced, ignore_errors=True)
                index.rename(replaced)
            (new / INDEX_FOLDER).rename(index)
            sync_folder(folder)
        write_atomically(folder / SETTINGS_FILE, (index / SETTINGS_FILE).read_bytes())
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(replaced, ignore_errors=True)


def _make(folder: Path, wanted: Identity) -> Identity:
    """Make the store or its missing parts, unless another process has made it in the meantime."""
    if not (folder / SETTINGS_FILE).exists():
        _check_free(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_MODE)
    try:
        with FileLock(folder / LOCK_FILE, timeout=LOCK_SECONDS, mode=0o600):
            identity = read_identity(folder)
            index = folder / INDEX_FOLDER
            if identity is None:
                _check_free(folder)
            elif (index / META_FILE).exists():
                return identity
            elif index.exists() and _has_documents(index):
                raise _not_found(folder, identity)  # otherwise an empty index would replace the damaged one
            made = Identity.new(identity.settings, identity.store_texts) if identity else wanted
            make_store(folder, made)
    except Timeout as error:
        raise StoreLockedError(f"another process is making the store {folder}; try again when it is done") from error
    return made


def _check_settings(folder: Path, stored: Settings, requested: Settings | None) -> None:
    if requested is None or stored.satisfies(requested):
        return
    found, expected = stored.to_dict(), replace(requested, words=stored.words, limits=stored.limits).to_dict()
    stored_values, requested_values = _flat(found), _flat(expected)
    differences = "; ".join(
        f"{key} {value!r}, not {requested_values.get(key)!r}"
        for key, value in stored_values.items()
        if key != "version" and value != requested_values.get(key)  # the version follows from the other values
    )
    raise FormatMismatchError(
        f"the store {folder} was made with {differences}; use it with its own settings, or index into a new store",
        found=found,
        expected=expected,
    )


def _check_free(folder: Path) -> None:
    """Check that a folder has no other files. Files of a store that was not completed are allowed."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise StoreError(f"{folder} is a file and not a store; name a folder")
    if not all(map(_is_of_incomplete_store, folder.iterdir())) and not (folder / SETTINGS_FILE).exists():
        raise StoreError(f"{folder} contains other files and is not a store; name another folder")


def _is_of_incomplete_store(path: Path) -> bool:
    """Return whether a path is a file or an empty index of a store that was not completed. A link never is."""
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


def _not_found(folder: Path, identity: Identity | None) -> StoreError:
    if identity is None:
        _check_free(folder)
        return StoreNotFoundError(f"no store at {folder}; make one with: simdoc-search index FOLDER --store {folder}")
    return StoreError(
        f"the store {folder} is damaged: its file {META_FILE} is missing; restore it from a backup, or delete {folder} "
        "and index again"
    )


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
