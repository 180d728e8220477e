"""Records into an index of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from simdoc_search.corpus.document import MAX_ID_BYTES
from simdoc_search.stores.base import Record
from simdoc_search.stores.bulk import Action, BulkSender
from simdoc_search.stores.patience import patiently
from simdoc_search.stores.rest import Engine

__all__ = ["RemoteWriter", "can_exist"]


class RemoteWriter:
    """What `RemoteStore.writer` gives.

    Args:
        engine: where the index is.
        index: the name of the index, or of an alias with an index for writing.
        document: the JSON document of a record.
        places: where stored documents are, if it is not simply the index.
    """

    def __init__(
        self,
        engine: Engine,
        index: str,
        document: Callable[[Record], dict[str, Any]],
        places: Callable[[list[str]], Mapping[str, str]],
    ) -> None:
        self._engine = engine
        self._index = index
        self._document = document
        self._places = places
        self._sender = BulkSender(engine)

    @property
    def failed(self) -> Mapping[str, str]:
        """What the engine refused for good: id to reason. Complete after `commit`."""
        return self._sender.failed

    def put(self, records: Iterable[Record]) -> None:
        """Add the records, each in the place of an older one with the same id."""
        some = list(records)
        places = self._places([each.id for each in some])
        for record in some:
            place = places.get(record.id, self._index)
            self._sender.add(Action.make("index", place, record.id, self._document(record)))

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids; unknown ids are ignored."""
        wanted = list(filter(can_exist, ids))
        places = self._places(wanted)
        for id in wanted:
            self._sender.add(Action.make("delete", places.get(id, self._index), id))

    def commit(self) -> None:
        """Wait until everything so far has arrived, and make it visible to readers."""
        self._sender.flush()
        patiently(lambda: self._engine.call("POST", [self._index, "_refresh"]))

    def close(self) -> None:
        """Send nothing more."""
        self._sender.close()


def can_exist(id: str) -> bool:
    """Whether an engine can have a document of this id."""
    try:
        return 0 < len(id.encode()) <= MAX_ID_BYTES
    except UnicodeEncodeError:
        return False
