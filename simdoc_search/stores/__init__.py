"""Stores keep records and answer plans. `open_store` opens one; `base` says what each can do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from simdoc_search.errors import MissingExtraError, StoreError
from simdoc_search.sketch.settings import Settings

if TYPE_CHECKING:
    from simdoc_search.stores.base import Store

__all__ = ["Settings", "open_store"]

MEMORY = ":memory:"


def open_store(
    location: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    *,
    create: bool = False,
    store_texts: bool | None = None,
    client: Any = None,
    index: str | None = None,
    field: str = "simdoc",
    id_field: str | None = None,
) -> Store:
    """Open the store at a place.

    Args:
        location: the path of a folder, a `file:` URL, `:memory:` for a new store that is never on disk, or
            `http(s)://host:port/index` of an engine. Credentials for it come from SIMDOC_USERNAME and
            SIMDOC_PASSWORD, or SIMDOC_API_KEY.
        settings: what the store must have been made with; None takes it as it is.
        create: make the store if there is none.
        store_texts: whether the store keeps the texts; None: as it was made, and a new one does.
        client: instead of a location, the client of an engine that the application has.
        index: with a client, the name of the index or alias.
        field: in an engine, the object field of the fingerprints.
        id_field: in an engine, the keyword field by which documents are named; None: their `_id`.

    Raises:
        StoreNotFoundError: there is no store, and `create` is False.
        StoreUnavailableError: the engine does not answer.
        FormatMismatchError: it has other settings, or was made by a newer version.
        StoreError: it cannot be read or made, or something else is there.
        MissingExtraError: the package for this kind of store is not installed.
        TypeError: neither location nor client and index, or both.
    """
    if (location is None) == (client is None) or (client is None) != (index is None):
        raise TypeError("give a location, or a client and an index")
    place = "" if location is None else os.fspath(location)
    if client is not None or place.lower().startswith(("http://", "https://")):
        from simdoc_search.stores.connecting import connect  # noqa: PLC0415
        from simdoc_search.stores.remote import RemoteStore  # noqa: PLC0415 - not for the local store
        from simdoc_search.stores.rest import Engine  # noqa: PLC0415

        engine, name = (Engine(client, "the engine"), index or "") if client is not None else connect(place)
        return RemoteStore.in_index(
            engine, name, settings, create=create, store_texts=store_texts, field=field, id_field=id_field
        )
    if id_field is not None:
        raise StoreError(f"{place} is no engine, so its documents have no field for ids; leave out --id-field")
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
