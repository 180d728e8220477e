"""Stores keep records and answer plans. `open_store` opens one; `base` says what each can do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from simdoc_search.errors import MissingExtraError, StoreError
from simdoc_search.sketch.settings import Settings

if TYPE_CHECKING:
    from simdoc_search.stores.base import Store

__all__ = ["Settings", "open_store"]

MEMORY = ":memory:"


def open_store(
    location: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    create: bool = False,
    store_texts: bool | None = None,
) -> Store:
    """Open the store at a place.

    Args:
        location: the path of a folder, a `file:` URL, or `:memory:` for a new store that is never on disk.
        settings: what the store must have been made with; None takes it as it is.
        create: make the store if there is none.
        store_texts: whether the store keeps the texts; None: as it was made, and a new one does.

    Raises:
        StoreNotFoundError: there is no store, and `create` is False.
        FormatMismatchError: it has other settings, or was made by a newer version.
        StoreError: it cannot be read or made, or something else is there.
        MissingExtraError: tantivy is not installed.
    """
    place = os.fspath(location)
    if place.startswith(("http://", "https://")):
        raise StoreError(f"{place} is a URL, and this version has the local store only; name a folder")
    try:
        from simdoc_search.stores.local import LocalStore  # noqa: PLC0415 - tantivy is an extra
    except ModuleNotFoundError as error:
        if error.name != "tantivy":
            raise
        raise MissingExtraError("the local store", "local") from error
    if place == MEMORY:
        return LocalStore(MEMORY, None, settings or Settings(), store_texts is not False)
    return LocalStore.in_folder(_folder(place), settings, create=create, store_texts=store_texts)


def _folder(place: str) -> Path:
    if place.startswith("file://"):
        return Path(url2pathname(urlsplit(place).path))
    return Path(place.removeprefix("file:"))
