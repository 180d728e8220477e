"""Documents out of a store."""

from __future__ import annotations

from collections.abc import Iterable

from simdoc_search.errors import UnknownDocumentError, WriteRefusedError
from simdoc_search.stores.base import Store


def delete_documents(store: Store, ids: Iterable[str]) -> int:
    """Remove documents; see `SimilaritySearch.delete`."""
    wanted = list(dict.fromkeys(ids))
    known = {each.id for each in store.digests(wanted)}
    for id in wanted:
        if id not in known:
            raise UnknownDocumentError(id, store.suggest(id))
    with store.writer() as writer:
        writer.delete(wanted)
    failed = dict(writer.failed)
    if failed:
        one = next(iter(failed))
        raise WriteRefusedError(
            f"the store refused to delete {len(failed):,} of {len(wanted):,} documents ({one!r}: {failed[one]}); "
            "mend that and delete them again",
            failed,
            done=len(wanted) - len(failed),
        )
    return len(wanted)
