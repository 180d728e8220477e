"""Reads and writes the settings file of a local store, and its copy in the folder of the index."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from simdoc_search.durable import write_atomically
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.small_files import parse_json, read_small_file

INDEX_FOLDER = "index"
SETTINGS_FILE = "simdoc.json"
_MAX_SETTINGS_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class StoreManifest:
    """The content of the settings file of a store.

    `id` is a random id that no other store has.
    """

    settings: Settings
    store_texts: bool
    id: str

    @classmethod
    def new(cls, settings: Settings, store_texts: bool) -> StoreManifest:
        """Return the manifest of a new store, with a random id."""
        return cls(settings, store_texts, uuid4().hex)


def read_manifest(folder: Path) -> StoreManifest | None:
    """Read the manifest of the store in a folder. Return None if there is no settings file.

    Raises:
        StoreError: the file or its copy is damaged, or the index belongs to another store.
        FormatMismatchError: a newer version of simdoc-search created the store.
    """
    manifest = _read_settings_file(folder / SETTINGS_FILE, folder)
    if manifest is None:
        return None
    copy = _read_settings_file(folder / INDEX_FOLDER / SETTINGS_FILE, folder)
    # Compare only the ids. The settings in the two files differ if a process was interrupted between the two writes.
    is_missing = copy is None and (folder / INDEX_FOLDER / "meta.json").exists()
    if is_missing or (copy and copy.id != manifest.id):
        raise StoreError(
            f"the index {folder} is damaged: {INDEX_FOLDER}/{SETTINGS_FILE} is missing or belongs to another index; "
            "restore the index from a backup, or save the readable documents with `simdoc-search repair`"
        )
    return manifest


def read_surviving_manifest(folder: Path) -> StoreManifest | None:
    """Read the manifest of a damaged store from its settings file or the copy. Return None if both are damaged."""
    for file in (folder / SETTINGS_FILE, folder / INDEX_FOLDER / SETTINGS_FILE):
        with suppress(StoreError):
            if manifest := _read_settings_file(file, folder):
                return manifest
    return None


def write_manifest(folder: Path, manifest: StoreManifest) -> None:
    """Write the settings file and its copy. The settings file marks a complete store, so it is written last."""
    values = {**manifest.settings.to_dict(), "store_texts": manifest.store_texts, "id": manifest.id}
    content = json.dumps({**values, "checksum": _checksum(values)}, indent=2).encode()
    write_atomically(folder / INDEX_FOLDER / SETTINGS_FILE, content)
    write_atomically(folder / SETTINGS_FILE, content)


def _read_settings_file(path: Path, folder: Path) -> StoreManifest | None:
    """Read a settings file. Return None if it is missing.

    Raises:
        StoreError: the file is damaged.
        FormatMismatchError: a newer version of simdoc-search wrote the file.
    """
    try:
        values = parse_json(read_small_file(path, _MAX_SETTINGS_BYTES))
        checksum, store_texts, id = values.pop("checksum"), values["store_texts"], values["id"]
        is_intact = checksum == _checksum(values)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:  # the caller converts this error, because it knows the path of the store
        raise
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}; check the file") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _damage_error(folder, str(error)) from error
    try:
        settings = Settings.from_dict(values)
    except FormatMismatchError as error:
        raise FormatMismatchError(f"cannot open the index {folder}: {error}", error.found, error.expected) from error
    if not is_intact:
        raise _damage_error(folder, "the checksum does not match")
    return StoreManifest(settings, bool(store_texts), id)


def _checksum(values: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()


def _damage_error(folder: Path, reason: str) -> StoreError:
    return StoreError(
        f"the settings of the index {folder} are damaged ({SETTINGS_FILE}: {reason}); restore this file from a backup, "
        "or save the readable documents with `simdoc-search repair`"
    )
