"""The folder of a local store: its settings file, how it is made, and what is said when something fails."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from simdoc_search.errors import (
    FormatMismatchError,
    SimdocError,
    StoreError,
    StoreLockedError,
    StoreNotFoundError,
)
from simdoc_search.sketch.settings import Settings

__all__ = ["INDEX_FOLDER", "engine_errors", "folder_bytes", "prepare_folder"]

INDEX_FOLDER = "index"
SETTINGS_FILE = "simdoc.json"
TEMPORARY_FILE = ".simdoc.json.tmp"

REASONS = (
    (
        "PermissionDenied|ReadOnly",
        "no write permission in its folder, which even reading needs for a lock file",
    ),
    ("StorageFull|os error (27|28|122)\\b|worker thread|writer was killed", "writing failed; look for a full disk"),
    ("was consumed", "this writer is closed; open another one"),
    (
        "schema does not match|Incompatible",
        "another version made it; use that one, or index into another folder",
    ),
    (
        "DoesNotExist|NotFound|InvalidData|corruption|PanicException",
        "its files are damaged or gone; restore them, or delete it and index again",
    ),
)
"""What tantivy's messages mean, by a sign in them; the whole message is the cause of the StoreError."""


@contextmanager
def engine_errors(doing: str, location: str) -> Iterator[None]:
    """Turn what tantivy and the file system raise into a StoreError of one sentence."""
    try:
        yield
    except SimdocError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        raise _store_error(error, doing, location) from error
    except BaseException as error:
        # A panic of tantivy, say over a damaged file, is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise _store_error(error, doing, location) from error


def prepare_folder(
    folder: Path, asked: Settings | None, *, create: bool, store_texts: bool | None
) -> tuple[Settings, bool]:
    """Find the store in a folder, or make it there.

    Returns:
        The settings of the store, and whether it keeps texts.

    Raises:
        StoreNotFoundError: there is none and none is to be made.
        FormatMismatchError: it has other settings than those asked for.
        StoreError: something else is there, or it cannot be read or made.
    """
    with engine_errors("open", str(folder)):
        found = _read_settings(folder)
        if found is None:
            _check_free(folder)
            if not create:
                raise StoreNotFoundError(
                    f"no store at {folder}; make one with: simdoc-search index FOLDER --store {folder}"
                )
            found = asked or Settings(), store_texts is not False
            _write_settings(folder, *found)
        _check_settings(folder, found[0], asked)
        if store_texts is not None and store_texts != found[1]:
            kept = "with" if found[1] else "without"
            raise FormatMismatchError(
                f"the store {folder} was made {kept} texts; use it as it is, or index into another store",
                found=found[1],
                expected=store_texts,
            )
        _prepare_index(folder, create=create)
    return found


def folder_bytes(folder: Path) -> int:
    """The size of all files in a folder and below; files that vanish meanwhile count nothing."""
    size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                size += (Path(parent) / name).stat().st_size
            except FileNotFoundError:
                continue
    return size


def _read_settings(folder: Path) -> tuple[Settings, bool] | None:
    """The settings and whether texts are kept; None if there is no settings file."""
    try:
        values = json.loads((folder / SETTINGS_FILE).read_text(encoding="utf-8"))
        store_texts = values["store_texts"]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, LookupError, TypeError) as error:
        raise StoreError(
            f"the settings of the store {folder} are damaged ({SETTINGS_FILE}: {error}); "
            "restore that file, or index again into another folder"
        ) from error
    try:
        return Settings.from_dict(values), bool(store_texts)
    except FormatMismatchError as error:
        message = f"the store {folder} has {error} into another store"
        raise FormatMismatchError(message, error.found, error.expected) from error


def _write_settings(folder: Path, settings: Settings, store_texts: bool) -> None:
    """All or nothing: after a crash there is a whole settings file or none."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / TEMPORARY_FILE
    with temporary.open("w", encoding="utf-8") as file:
        json.dump({**settings.to_dict(), "store_texts": store_texts}, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / SETTINGS_FILE)
    (folder / INDEX_FOLDER).mkdir(exist_ok=True)


def _check_settings(folder: Path, stored: Settings, asked: Settings | None) -> None:
    if asked is None or asked == stored:
        return
    found, expected = stored.to_dict(), asked.to_dict()
    here, there = _flat(found), _flat(expected)
    differences = "; ".join(f"{key} {here[key]!r}, not {there[key]!r}" for key in here if here[key] != there[key])
    raise FormatMismatchError(
        f"the store {folder} was made with {differences}: use it with its own settings, or index into another store",
        found=found,
        expected=expected,
    )


def _check_free(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise StoreError(f"{folder} is a file and not a store; name a folder")
    # A crash while the settings were written leaves their temporary file alone in the folder.
    if any(each.name != TEMPORARY_FILE for each in folder.iterdir()):
        raise StoreError(f"{folder} is a folder with other things in it and not a store; name another folder")


def _prepare_index(folder: Path, *, create: bool) -> None:
    """Make sure that tantivy does not silently begin anew where an index has been."""
    index = folder / INDEX_FOLDER
    with suppress(FileNotFoundError):
        (index / "meta.json").stat()
        return
    names = [each.name for each in index.iterdir()] if index.exists() else []
    if not create or any(not name.startswith(".") for name in names):
        raise StoreError(
            f"the store {folder} is damaged: its file meta.json is missing; delete {folder} and index again"
        )
    index.mkdir(exist_ok=True)


def _store_error(error: BaseException, doing: str, location: str) -> StoreError:
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return StoreError(f"cannot {doing} the store {location}: {reason}; check the path and its permissions")
    said = " ".join(f"{type(error).__name__}: {error}".replace(location, "").split())
    if "LockBusy" in said:
        return StoreLockedError(f"another writer is at work in the store {location}; try again when it is done")
    reason = next((reason for sign, reason in REASONS if re.search(sign, said)), said)
    return StoreError(f"cannot {doing} the store {location}: {reason}")


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
