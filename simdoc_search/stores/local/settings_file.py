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
from simdoc_search.small_files import parse_json, read_small

INDEX_FOLDER = "index"
SETTINGS_FILE = "simdoc.json"
_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Identity:
    """What identifies a store: the content of its settings file.

    Attributes:
        settings: settings of the fingerprints.
        store_texts: whether the store keeps texts.
        id: a random id that no other store has.
    """

    settings: Settings
    store_texts: bool
    id: str

    @classmethod
    def new(cls, settings: Settings, store_texts: bool) -> Identity:
        """Return the identity of a new store."""
        return cls(settings, store_texts, uuid4().hex)


def read_identity(folder: Path) -> Identity | None:
    """Read the identity of the store in a folder; None if there is no settings file.

    Raises:
        StoreError: the file or its copy is damaged, or the index belongs to another store.
        FormatMismatchError: a newer version made it.
    """
    identity = _read(folder / SETTINGS_FILE, folder)
    if identity is None:
        return None
    copy = _read(folder / INDEX_FOLDER / SETTINGS_FILE, folder)
    # The files may differ, because a process may have been interrupted after writing the first one.
    is_missing = copy is None and (folder / INDEX_FOLDER / "meta.json").exists()
    if is_missing or (copy and copy.id != identity.id):
        raise StoreError(
            f"the store {folder} is damaged: {INDEX_FOLDER}/{SETTINGS_FILE} is missing or belongs to another store; "
            "restore the store from a backup, or save what can be read with simdoc-search repair"
        )
    return identity


def surviving_identity(folder: Path) -> Identity | None:
    """Read the identity of a damaged store from its settings file or from the copy; None if both are damaged."""
    for file in (folder / SETTINGS_FILE, folder / INDEX_FOLDER / SETTINGS_FILE):
        with suppress(StoreError):
            if identity := _read(file, folder):
                return identity
    return None


def write_identity(folder: Path, identity: Identity) -> None:
    """Write both settings files. The one in the folder is written last, because it marks the store as complete."""
    values = {**identity.settings.to_dict(), "store_texts": identity.store_texts, "id": identity.id}
    content = json.dumps({**values, "checksum": _checksum(values)}, indent=2).encode()
    write_atomically(folder / INDEX_FOLDER / SETTINGS_FILE, content)
    write_atomically(folder / SETTINGS_FILE, content)


def _read(path: Path, folder: Path) -> Identity | None:
    """Read a settings file; None if it is missing.

    Raises:
        StoreError: it is damaged.
        FormatMismatchError: a newer version wrote it.
    """
    try:
        values = parse_json(read_small(path, _MAX_BYTES))
        checksum, store_texts, id = values.pop("checksum"), values["store_texts"], values["id"]
        is_whole = checksum == _checksum(values)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:  # the caller names the store
        raise
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}; check the file") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _damaged(folder, str(error)) from error
    try:
        settings = Settings.from_dict(values)
    except FormatMismatchError as error:
        raise FormatMismatchError(f"cannot open the store {folder}: {error}", error.found, error.expected) from error
    if not is_whole:
        raise _damaged(folder, "its checksum does not match")
    return Identity(settings, bool(store_texts), id)


def _checksum(values: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()


def _damaged(folder: Path, reason: str) -> StoreError:
    return StoreError(
        f"the settings of the store {folder} are damaged ({SETTINGS_FILE}: {reason}); restore that file, or save what "
        "can be read with simdoc-search repair"
    )
