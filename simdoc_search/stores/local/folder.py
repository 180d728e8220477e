"""The folder of a local store: found, or made by one process at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import tantivy
from filelock import FileLock, Timeout

from simdoc_search.durable import PRIVATE, sync_folder, write_whole
from simdoc_search.errors import FormatMismatchError, StoreError, StoreLockedError, StoreNotFoundError
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.local.errors import engine_errors
from simdoc_search.stores.local.schema import build_schema, further_fields
from simdoc_search.stores.local.segments import META_FILE, read_commit
from simdoc_search.stores.local.settings_file import (
    INDEX_FOLDER,
    SETTINGS_FILE,
    Identity,
    read_identity,
    write_identity,
)

LOCK_FILE = ".simdoc.lock"
UPGRADE_FOLDER, _REPLACED, _READY = "upgrade", "index.replaced", "ready"
MAKING_SECONDS = 60
"""Seconds to wait for another process that makes the same store."""


def find_store(folder: Path) -> Identity:
    """Return the identity of the store in a folder; its key may be unknown.

    Raises:
        StoreNotFoundError: there is no store.
        StoreError: something else is there, or the store cannot be read.
    """
    with engine_errors("open", str(folder)):
        _complete_replacement(folder)
        found = read_identity(folder)
        if found is None or not (folder / INDEX_FOLDER / META_FILE).exists():
            raise _absent(folder, found)
    return found


def prepare_folder(
    folder: Path, asked: Settings | None, *, create: bool, store_texts: bool | None, key: HashKey | None = None
) -> Identity:
    """Find the store in a folder, or make it there.

    Raises:
        StoreNotFoundError: there is no store, and none is to be made.
        FormatMismatchError: the store has other settings, or another hash key.
        StoreError: something else is there, or the store cannot be read or made.
    """
    with engine_errors("open", str(folder)):
        _complete_replacement(folder)
        found = read_identity(folder)
        if found is None or not (folder / INDEX_FOLDER / META_FILE).exists():
            if not create:
                raise _absent(folder, found)
            made, texts = asked or Settings().with_key(key), store_texts is not False
            found = _make(folder, Identity.new(made.for_local(texts), texts))
        found = replace(found, settings=found.settings.unlocked(key, f"the store {folder}"))
        _check_settings(folder, found.settings, asked)
        if store_texts is not None and store_texts != found.store_texts:
            kept = "with" if found.store_texts else "without"
            raise FormatMismatchError(
                f"the store {folder} was made {kept} texts; use it as it is, or index into a new store",
                found=found.store_texts,
                expected=store_texts,
            )
    return found


def make_store(folder: Path, identity: Identity) -> None:
    """Make an empty store in an empty folder. The settings file, which makes it a store, is written last."""
    index = folder / INDEX_FOLDER
    index.mkdir(exist_ok=True, mode=PRIVATE)
    index.chmod(folder.stat().st_mode & 0o777)  # whoever made the folder said who may see it
    if not (index / META_FILE).exists():
        tantivy.Index(build_schema(further_fields(identity.settings)), str(index))
    write_identity(folder, identity)
    sync_folder(folder.absolute().parent)


def replace_index(folder: Path) -> None:
    """Replace the store's index by the complete one in the folder `upgrade`."""
    write_whole(folder / UPGRADE_FOLDER / _READY, b"")
    _complete_replacement(folder)


def _complete_replacement(folder: Path) -> None:
    """Complete an interrupted replacement. Each step can be repeated."""
    new, replaced = folder / UPGRADE_FOLDER, folder / _REPLACED
    if not (new / _READY).exists():
        return
    with FileLock(folder / LOCK_FILE, timeout=MAKING_SECONDS, mode=0o600):
        if not (new / _READY).exists():  # another process was faster
            return
        index = folder / INDEX_FOLDER
        if (new / INDEX_FOLDER).exists():
            if index.exists():
                shutil.rmtree(replaced, ignore_errors=True)
                index.rename(replaced)
            (new / INDEX_FOLDER).rename(index)
            sync_folder(folder)
        write_whole(folder / SETTINGS_FILE, (index / SETTINGS_FILE).read_bytes())
        (new / _READY).unlink()
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(replaced, ignore_errors=True)


def folder_bytes(folder: Path) -> int:
    """Return the size of all files in a folder and below; files that vanish meanwhile count as 0."""
    size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                size += (Path(parent) / name).stat().st_size
            except FileNotFoundError:
                continue
    return size


def _make(folder: Path, wanted: Identity) -> Identity:
    """Make the store, or its missing parts, unless another process did so meanwhile."""
    with _alone(folder):
        found = read_identity(folder)
        if found is None:
            _check_free(folder)
        elif (folder / INDEX_FOLDER / META_FILE).exists():
            return found
        elif (folder / INDEX_FOLDER).exists() and _holds_documents(folder / INDEX_FOLDER):
            raise _absent(folder, found)  # else an index would silently begin anew where one has been
        made = Identity.new(found.settings, found.store_texts) if found else wanted
        make_store(folder, made)
    return made


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes from making a store in this folder during the block."""
    if not (folder / SETTINGS_FILE).exists():
        _check_free(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
    try:
        with FileLock(folder / LOCK_FILE, timeout=MAKING_SECONDS, mode=0o600):
            yield
    except Timeout as error:
        raise StoreLockedError(f"another process is making the store {folder}; try again when it is done") from error


def _check_settings(folder: Path, stored: Settings, asked: Settings | None) -> None:
    if asked is None or stored.satisfies(asked):
        return
    found, expected = stored.to_dict(), replace(asked, words=stored.words, limits=stored.limits).to_dict()
    here, there = _flat(found), _flat(expected)
    differences = "; ".join(
        f"{key} {value!r}, not {there.get(key)!r}"
        for key, value in here.items()
        if key != "version" and value != there.get(key)  # which follows from the others
    )
    raise FormatMismatchError(
        f"the store {folder} was made with {differences}: use it with its own settings, or index into a new store",
        found=found,
        expected=expected,
    )


def _check_free(folder: Path) -> None:
    """Check that the folder is free; remains of an interrupted making of a store are allowed."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise StoreError(f"{folder} is a file and not a store; name a folder")
    if not all(map(_is_ours, folder.iterdir())) and not (folder / SETTINGS_FILE).exists():
        raise StoreError(f"{folder} is a folder with other things in it and not a store; name another folder")


def _is_ours(path: Path) -> bool:
    """Whether a file is one that making a store writes, or an index without documents; never a link."""
    if path.is_symlink():
        return False
    if path.name == INDEX_FOLDER and path.is_dir():
        return not _holds_documents(path)
    return path.name == LOCK_FILE or (path.name.startswith(f".{SETTINGS_FILE}.") and path.suffix == ".tmp")


def _holds_documents(index: Path) -> bool:
    files = [each for each in index.iterdir() if not each.name.startswith(".") or each.is_symlink()]
    if any(each.is_symlink() for each in files) or {each.name for each in files} - {SETTINGS_FILE, META_FILE}:
        return True
    return (index / META_FILE).exists() and bool(read_commit(index).segments)


def _absent(folder: Path, found: Identity | None) -> StoreError:
    if found is None:
        _check_free(folder)
        return StoreNotFoundError(f"no store at {folder}; make one with: simdoc-search index FOLDER --store {folder}")
    return StoreError(
        f"the store {folder} is damaged: its file {META_FILE} is missing; save what can be read with simdoc-search "
        f"repair, or delete {folder} and index again"
    )


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
