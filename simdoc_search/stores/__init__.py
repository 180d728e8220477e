"""Stores of records. `open_store` opens a store; base.py defines their base class."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simdoc_search.display import without_credentials
from simdoc_search.errors import LocationError, MissingExtraError
from simdoc_search.stores.location import MEMORY_LOCATION, EngineKind, parse_location

if TYPE_CHECKING:
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.base import Store

__all__ = ["open_store"]

logging.getLogger("simdoc_search").addHandler(logging.NullHandler())  # an application adds its own handlers
_log = logging.getLogger(__name__)


def open_store(
    location: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    *,
    create: bool = False,
    store_texts: bool | None = None,
    client: Any = None,
    index: str | None = None,
    field: str | None = None,
    id_field: str | None = None,
    text_field: str | Sequence[str] | None = None,
    engine: EngineKind | None = None,
    hash_key: str | None = None,
) -> Store:
    """Open a store.

    Args:
        location: the path of a folder, a `file:` URL, `:memory:` for a new store that is never on disk, or
            `http(s)://host:port/index` of an engine. Credentials come from SIMDOC_USERNAME and SIMDOC_PASSWORD, or
            SIMDOC_API_KEY.
        settings: the settings with which the store must have been created. None accepts any settings.
        create: create the store if it does not exist.
        store_texts: whether the store keeps the texts. For an existing store, the value must match. By default, a new
            store keeps them.
        client: an engine client of the application, instead of a location.
        index: with a client, the name of the index or alias.
        field: in an engine, the object field with the fingerprints. By default, it is the fingerprint field of the
            index, usually `simdoc`. It can also be the path of a field that the engine's own `min_hash` filter fills,
            such as `body.fingerprint`. Such a store supports `similar`, but not queries that need other tokens.
        id_field: in an engine, the keyword field that identifies documents. The default is `_id`.
        text_field: in an index that simdoc-search did not create, the field with the text. Use dots for fields of
            objects. Several fields form one text, joined by line breaks. By default, it is the field that `backfill`
            recorded in the mapping. If there is none, the store has no texts.
        engine: the kind of engine, `opensearch` or `elasticsearch`. By default, it is detected.
        hash_key: the secret key for hashing shingles, at least 16 characters. A new store is created with it, and an
            existing store must have been created with it. The default is the key in the settings, or else in
            SIMDOC_HASH_KEY.

    Raises:
        StoreNotFoundError: there is no store, and `create` is False.
        StoreUnavailableError: the engine does not respond.
        FormatMismatchError: the store has different settings or another hash key, or a newer version of simdoc-search
            created it.
        StoreError: the store cannot be read or created, the folder contains something else, or the hash key is too
            short.
        LocationError: the location is a malformed URL, the index has no such `id_field` or `text_field`, or a field was
            given for a local store.
        MissingExtraError: the optional package for this kind of store is not installed.
        TypeError: neither or both of a location and a client were given, a client was given without an index, or the
            client is asynchronous (see `open_store_async`).
        ValueError: the kind of engine is unknown.
    """
    if (location is None) == (client is None) or (client is None) != (index is None):
        raise TypeError("open_store needs either a location, or a client and an index")
    from simdoc_search.sketch.key import resolve_hash_key  # noqa: PLC0415 - it imports numpy, which `--version` does not need
    from simdoc_search.sketch.settings import Settings  # noqa: PLC0415

    _log.info("opening %s", index if location is None else without_credentials(os.fspath(location)))
    parsed = "" if location is None else parse_location(os.fspath(location))
    settings_key = settings.sketch.key if settings else None
    key = settings_key if hash_key is None and settings_key and settings_key.has_secret else resolve_hash_key(hash_key)
    settings = settings.with_key(key) if settings else None
    if isinstance(parsed, str) and parsed != MEMORY_LOCATION:
        from simdoc_search.stores.remote.connection import connect  # noqa: PLC0415
        from simdoc_search.stores.remote.engine import Engine  # noqa: PLC0415
        from simdoc_search.stores.remote.store import RemoteStore  # noqa: PLC0415 - a local store does not need this module

        target, name = connect(parsed, engine=engine) if client is None else (Engine(client), index or "")
        return RemoteStore.open_index(
            target,
            name,
            settings,
            create=create,
            store_texts=store_texts,
            field=field,
            id_field=id_field,
            text_field=text_field,
            key=key,
        )
    for option, value in (("--id-field", id_field), ("--field", field), ("--text-field", text_field)):
        if value:
            raise LocationError(f"{parsed} is a local index, which does not support {option}; omit this option")
    try:
        from simdoc_search.stores.local.store import LocalStore  # noqa: PLC0415 - tantivy is an optional dependency
    except ModuleNotFoundError as error:
        if error.name not in {"tantivy", "filelock"}:
            raise
        raise MissingExtraError("the local index", "local") from error
    if isinstance(parsed, Path):
        return LocalStore.open_folder(parsed, settings, create=create, store_texts=store_texts, key=key)
    has_texts = store_texts is not False
    return LocalStore(
        MEMORY_LOCATION, None, (settings or Settings().with_key(key)).for_local_store(has_texts), has_texts
    )
