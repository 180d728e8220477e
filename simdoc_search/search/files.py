"""Which document of a store is this file, whose text is read anew?"""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import NamedTuple

from simdoc_search.documents import Place
from simdoc_search.indexing.roots import NamedPaths, absolute
from simdoc_search.search.paths import fitting
from simdoc_search.stores.base import Store


class IndexedFile(NamedTuple):
    """What a store knows of a file.

    Attributes:
        id: the id that its document has there, or would have after another run.
        place: where that document is; None: it is not there.
    """

    id: str
    place: Place | None


class IndexedFiles:
    """The files of the folders that a store was made from.

    Args:
        store: says which roots it has; it is asked once for each folder.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folders = NamedPaths(store, None)

    def get(self, path: str | Path) -> IndexedFile | None:
        """What the store knows of a file; None if neither it nor a folder above it was indexed."""
        file = absolute(path)
        folder = self._folders.of(str(PurePath(file).parent))
        if folder.stored:
            id = folder.id_of(file)
        elif self._store.count(file):  # it was named by itself
            id = next(self._store.scan(root=file)).id
        else:
            return None
        places = (each.place for each in self._store.records([id]) if fitting(file, [each]))
        return IndexedFile(id, next(places, None))
