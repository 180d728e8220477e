"""Stored limits of an index for similar sentences, versions, and hits worth showing."""

from __future__ import annotations

from pathlib import Path

from simdoc_search.errors import StoreError
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.base import Store


def set_limits(store: Store, limits: Limits) -> Limits:
    """Store the default limits of `versions` and `related`.

    No document is rewritten. Behind an alias, each index gets the limits. Whoever has the index open sees them after
    opening it again.

    Args:
        store: the index.
        limits: the limits; numbers keep six digits.

    Returns:
        The stored limits.

    Raises:
        StoreLockedError: another process writes to the store.
        StoreError: the store is in memory, or cannot be written.
    """
    from simdoc_search.stores.local.store import LocalStore  # noqa: PLC0415 - tantivy is an extra

    kept = Limits.from_text(limits.to_text())
    if not isinstance(store, LocalStore):
        from simdoc_search.stores.remote.mappings import mappings_of  # noqa: PLC0415 - likewise
        from simdoc_search.stores.remote.shared_settings import queryable  # noqa: PLC0415 - not for a local store
        from simdoc_search.stores.remote.store import RemoteStore  # noqa: PLC0415 - likewise
        from simdoc_search.stores.remote.upgrade import write_limits  # noqa: PLC0415 - likewise

        if not isinstance(store, RemoteStore) or store.access.has_terms_only:
            raise StoreError(
                "a field that the engine's min_hash filter fills stores no limits; give them with each question"
            )
        mappings = mappings_of(store.engine, store.index) or {}
        write_limits(store.engine, queryable(mappings, store.field), store.field, kept)
    elif store.location == ":memory:":
        raise StoreError("an index in memory stores no limits; give them with each question")
    else:
        from simdoc_search.stores.local.upgrade import write_limits as write_in_folder  # noqa: PLC0415 - likewise

        write_in_folder(store, Path(store.location), kept)
    return kept
