"""Which new documents are copies of what is watched? The engine keeps the queries, and is asked for each document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.documents import Place
from simdoc_search.errors import QuerySyntaxError, StoreError
from simdoc_search.query.planner import plan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.options import Number
from simdoc_search.search.resolver import Question, Resolver
from simdoc_search.search.similar_candidates import check_has_tokens
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.watches import WATCHES, Watch, Watches, watches_of

DEFAULT_OVERLAP = Fraction(1, 2)
"""What is a copy, if nothing else is said."""


@dataclass(frozen=True, slots=True)
class Copied:
    """A watched document of which another one is a copy.

    Attributes:
        watch: the watch.
        overlap: estimated from both documents' tokens, 0..1.
        matched: equal tokens.
    """

    watch: Watch
    overlap: float
    matched: int


class Watching:
    """The watches for documents of a store.

    Args:
        store: an index of an engine, or an alias.
        name: the index in which the watches are.

    Attributes:
        name: that index.

    Raises:
        StoreError: the store is no index of an engine, or the index of watches is another one.
    """

    def __init__(self, store: Store, name: str = WATCHES) -> None:
        self.name = name
        self._store: Store = store
        self._watches: Watches = watches_of(store, name)

    def set(self, query: Question, *, overlap: Number = None) -> Watch:
        """Watch for copies of a document; an older watch of it is replaced.

        Args:
            query: the document, with or without an overlap; see `SimilaritySearch.similar`.
            overlap: least Jaccard similarity of a copy, over 0, up to 1. None: that of the query, or DEFAULT_OVERLAP.

        Raises:
            QuerySyntaxError: a number is out of range, or a probability is asked for.
            UnknownDocumentError: no such document is stored.
            NoFingerprintError: it has no words.
            FormatMismatchError: there are watches of fingerprints of other settings in the same field.
            StoreError: the engine has no percolator, or refuses.
        """
        asked, record = self._resolved(query, overlap)
        if asked.probability is not None:
            raise QuerySyntaxError("a watch finds every copy; leave out the probability")
        least = DEFAULT_OVERLAP if asked.overlap is None else asked.overlap
        if not least:
            raise QuerySyntaxError("a watch for any overlap would find what is no copy; give one over 0")
        made = plan(encode(record.codes, self._store.settings.token_length), least)
        return self._watches.set(record, made, least)

    def all(self) -> list[Watch]:
        """All watches for documents of this store, by id."""
        return sorted(self._watches.all(), key=lambda each: (each.place.id, each.place.index or ""))

    def remove(self, ids: Iterable[str]) -> int:
        """End the watches for documents, which may be gone; how many there were.

        Raises:
            StoreError: one of them is not watched; those before it are not any more.
        """
        return sum(map(self._remove, ids))

    def copied_by(self, query: Question) -> list[Copied]:
        """The watched documents, of any index, of which a stored document is a copy, greatest overlap first.

        Raises:
            UnknownDocumentError: no such document is stored.
            NoFingerprintError: it has no words.
            FormatMismatchError: the watches are of fingerprints of other settings.
            StoreError: the engine refuses.
        """
        _, record = self._resolved(query)
        found = []
        for watch in self._watches.copied_by(record.place):
            shared, union = self._store.settings.estimate(watch.codes, record.codes)
            if union and shared >= watch.overlap * union:
                found.append(Copied(watch, shared / union, shared))
        return sorted(found, key=lambda each: (-each.overlap, each.watch.place.id, each.watch.place.index or ""))

    def _resolved(self, query: Question, overlap: Number = None) -> tuple[FingerprintQuery, Record]:
        resolver = Resolver(self._store)
        asked = resolver.resolve(query, overlap=overlap)
        record = resolver.record(asked.id, query if isinstance(query, Place) else None)
        check_has_tokens(record)
        return asked, record

    def _remove(self, id: str) -> int:
        if removed := self._watches.remove(id):
            return removed
        raise StoreError(f"{id!r} is not watched; simdoc-search watch --list names what is")
