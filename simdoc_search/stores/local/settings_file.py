"""What a local store remembers of itself: its settings, in a file with a checksum and a copy beside the index."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from simdoc_search.durable import write_whole
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.small_files import parse_json, read_small

INDEX_FOLDER = "index"
SETTINGS_FILE = "simdoc.json"
_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes a store this store.

    Attributes:
        settings: how its fingerprints are made.
        store_texts: whether it keeps texts.
        id: tells it from every other store, also from one with the same settings; empty in one made before checksums.
    """

    settings: Settings
    store_texts: bool
    id: str

    @property
    def has_checksums(self) -> bool:
        """Whether its settings and documents have checksums, as all have but those made before there were any."""
        return bool(self.id)

    @classmethod
    def new(cls, settings: Settings, store_texts: bool) -> Identity:
        """That of a store which is to be made."""
        return cls(settings, store_texts, uuid4().hex)


def read_identity(folder: Path) -> Identity | None:
    """The identity of the store in a folder; None if there is no settings file.

    Raises:
        StoreError: the file is damaged, or the index belongs to another store.
        FormatMismatchError: a newer version made it.
    """
    content = _content(folder / SETTINGS_FILE)
    if content is None:
        return None
    identity = _parse(content, str(folder))
    copy = _content(folder / INDEX_FOLDER / SETTINGS_FILE)
    if copy != content and (
        not _differ_in_limits(copy, identity, str(folder))
        if copy is not None
        else identity.has_checksums and (folder / INDEX_FOLDER / "meta.json").exists()
    ):
        raise StoreError(
            f"the store {folder} is damaged: {INDEX_FOLDER}/{SETTINGS_FILE} is not the copy of {SETTINGS_FILE} that it "
            "was, so one of them may belong to another store; simdoc-search check says more"
        )
    return identity


def surviving_identity(folder: Path) -> Identity | None:
    """The identity of a damaged store: from its settings file, else from the copy; None if neither can be read."""
    for file in (folder / SETTINGS_FILE, folder / INDEX_FOLDER / SETTINGS_FILE):
        with suppress(StoreError):
            if (content := _content(file)) is not None:
                return _parse(content, str(folder))
    return None


def require_checksums(folder: Path) -> None:
    """Refuse a store without checksums, in which nothing can be verified.

    Raises:
        StoreError: it is one.
    """
    identity = surviving_identity(folder)
    if identity and not identity.has_checksums:
        raise StoreError(f"the store {folder} was made before stores had checksums; index again into another folder")


def write_identity(folder: Path, identity: Identity) -> None:
    """Write the settings file last: a folder that has it is a whole store."""
    values = _values(identity)
    content = json.dumps({**values, "checksum": _checksum(values)}, indent=2).encode()
    write_whole(folder / INDEX_FOLDER / SETTINGS_FILE, content)
    write_whole(folder / SETTINGS_FILE, content)


def _differ_in_limits(copy: bytes, identity: Identity, location: str) -> bool:
    """Whether the copy differs in the limits alone: writing them ended after the first of both files."""
    with suppress(StoreError, FormatMismatchError):
        other = _parse(copy, location)
        same = replace(other, settings=replace(other.settings, limits=identity.settings.limits))
        return _values(same) == _values(identity)
    return False


def _values(identity: Identity) -> dict[str, Any]:
    return {**identity.settings.to_dict(), "store_texts": identity.store_texts, "id": identity.id}


def _parse(content: bytes, location: str) -> Identity:
    """The identity in the bytes of a settings file.

    Raises:
        StoreError: they are damaged, or older than checksums.
        FormatMismatchError: a newer version wrote them.
    """
    try:
        values = parse_json(content)
        store_texts = values.pop("store_texts")
        old = values.keys().isdisjoint({"id", "checksum"})
        checksum, id = (None, "") if old else (values.pop("checksum", None), values.pop("id", ""))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _damaged(location, str(error)) from error
    try:
        settings = Settings.from_dict(values)
    except FormatMismatchError as error:
        message = f"the store {location} has {error} into a new store"
        raise FormatMismatchError(message, error.found, error.expected) from error
    if not old and checksum != _checksum({**values, "store_texts": store_texts, "id": id}):
        raise _damaged(location, "its checksum does not fit")
    return Identity(settings, bool(store_texts), id)


def _content(path: Path) -> bytes | None:
    try:
        return read_small(path, _MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:  # of the folder, too: the caller names the store
        raise
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}; check the file") from error


def _checksum(values: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()


def _damaged(location: str, why: str) -> StoreError:
    return StoreError(
        f"the settings of the store {location} are damaged ({SETTINGS_FILE}: {why}); restore that file, or save what "
        "can be read with simdoc-search repair"
    )
