"""Watches documents. A watch is a stored query that finds copies of a document among new documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.display import quote_command
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError, StoreError
from simdoc_search.query.planner import plan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.options import OptionalFraction
from simdoc_search.search.resolver import Query, Resolver
from simdoc_search.search.similar_candidates import check_has_tokens
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.watches import DEFAULT_WATCHES_INDEX, Watch, Watches, open_watches

DEFAULT_OVERLAP = Fraction(1, 2)
"""Default minimum overlap of a copy."""


@dataclass(frozen=True, slots=True)
class WatchMatch:
    """A match between a watched document and a copy of it."""

    watch: Watch  # the watch for the watched document
    overlap: float  # the overlap of the two documents, estimated from their tokens, 0..1
    matched_token_count: int  # number of tokens (hashes in the index) that the two documents share


class CopyWatches:
    """The watches for the documents of a store. Sets, lists, matches and removes them.

    Args:
        store: an index of an engine, or an alias.
        name: the name of the index that contains the watches.

    Raises:
        StoreError: the store is not in an engine, or the index has documents that are not watches.
    """

    def __init__(self, store: Store, name: str = DEFAULT_WATCHES_INDEX) -> None:
        self.name = name
        self._store: Store = store
        self._watches: Watches = open_watches(store, name)

    @property
    def list_command(self) -> str:
        """The command that lists the watches."""
        watches = [] if self.name == DEFAULT_WATCHES_INDEX else ["--watches", self.name]
        return quote_command("watch", "--list", "--store", self._store.location, *watches)

    def set(self, query: Query, *, overlap: OptionalFraction = None) -> Watch:
        """Watch for copies of a document. An existing watch for the document is replaced.

        Args:
            query: the document to watch, with or without an overlap; see `SimilaritySearch.similar`.
            overlap: minimum overlap of a copy, greater than 0 and at most 1. None: the overlap of the query, otherwise
                `DEFAULT_OVERLAP`.

        Raises:
            QuerySyntaxError: a number is out of range, or the query has a probability.
            UnknownDocumentError: the document is not stored.
            NoFingerprintError: the document has no words.
            FormatMismatchError: the index has watches with different settings for the same field.
            StoreError: the engine has no percolator, or rejected the request.
        """
        resolved, record = self._resolve(query, overlap)
        if resolved.probability is not None:
            raise QuerySyntaxError(
                "a watch cannot have a probability, because a watch finds every copy; omit the probability"
            )
        minimum = DEFAULT_OVERLAP if resolved.overlap is None else resolved.overlap
        if not minimum:
            raise QuerySyntaxError("overlap 0 would match documents that are not copies; set an overlap greater than 0")
        tokens = encode(record.token_ids)
        return self._watches.set(record, plan(tokens, minimum), minimum)

    def all(self) -> list[Watch]:
        """Return all watches for documents of this store, ordered by id."""
        return sorted(self._watches.all(), key=lambda watch: (watch.key.id, watch.key.index or ""))

    def remove(self, ids: Iterable[str]) -> int:
        """Remove the watches for these documents. Return the number of removed watches. The documents need not exist.

        Raises:
            StoreError: a document is not watched. The watches for the documents before it have been removed.
        """
        removed = 0
        for id in ids:
            count = self._watches.remove(id)
            if not count:
                raise StoreError(f"{id!r} is not watched; list the watches with: {self.list_command}")
            removed += count
        return removed

    def find_matches(self, query: Query) -> list[WatchMatch]:
        """Return the watched documents that the query document is a copy of, by descending overlap.

        The watched documents can be in any index.

        Raises:
            UnknownDocumentError: the document is not stored.
            NoFingerprintError: the document has no words.
            FormatMismatchError: the watches have different settings.
            StoreError: the engine rejected the request.
        """
        _, record = self._resolve(query)
        matches = []
        for watch in self._watches.find_matching_watches(record.key):
            tokens = self._store.settings.compare_tokens(watch.token_ids, record.token_ids)
            if tokens.union_count and tokens.shared_count >= watch.overlap * tokens.union_count:
                matches.append(WatchMatch(watch, tokens.overlap, tokens.matched_token_count))
        return sorted(matches, key=lambda match: (-match.overlap, match.watch.key.id, match.watch.key.index or ""))

    def _resolve(self, query: Query, overlap: OptionalFraction = None) -> tuple[FingerprintQuery, Record]:
        resolver = Resolver(self._store)
        resolved = resolver.resolve(query, overlap=overlap)
        record = resolver.get_record(resolved.id, query if isinstance(query, DocumentKey) else None)
        check_has_tokens(self._store, record)
        return resolved, record
