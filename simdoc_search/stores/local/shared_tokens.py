"""Which documents of a local store share tokens of a kind, and how many have each?"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray
from tantivy import DocAddress, Document, Query, Schema, Searcher

from simdoc_search.documents import Place
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.kinds import KINDS, Kind, KindName
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode, encode
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.local.queries import sharing_query
from simdoc_search.stores.local.schema import document_at, id_of, tokens_of
from simdoc_search.stores.shared_tokens import FIRST_READ, GROWTH, Shared, Sharing, add_up, most_first, rows_of

TOKENS_AT_ONCE = 1 << 15
"""Of a query; each takes 3 kB while it is answered. So many are those of half a million words."""

_Place = tuple[int, int]
"""A segment and a document in it."""


class TokenLookups:
    """The part of a local store that finds who shares tokens."""

    location: str
    _schema: Schema
    _settings: Settings
    _sums: bool

    @abstractmethod
    def _snapshot(self) -> AbstractContextManager[Searcher]: ...

    def sharing(
        self,
        codes: NDArray[np.uint32],
        *,
        among: KindName = "passages",
        filters: Filters | None = None,
        exclude: Place | None = None,
        size: int,
    ) -> Sharing:
        """The documents that share tokens of a kind, most of them first; see `Store`."""
        kind = self._kind(among)
        with self._snapshot() as searcher:
            asked = _Asked(
                self._schema,
                searcher,
                kind,
                rows_of(codes, kind.length),
                filters or {},
                exclude=exclude,
                has_checksums=self._sums,
            )
            found, floor = add_up(asked.streams(max(size, FIRST_READ)), asked.counted, size)
            documents = [Shared(Place(id_of(asked.document(place))), count) for place, count in found.items()]
            return Sharing(sorted(documents, key=most_first), asked.total, floor)

    def frequencies(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """In how many documents each of these concepts stands; see `Store`."""
        kind = self._kind("concepts")
        with self._snapshot() as searcher:
            counts = [searcher.doc_freq(kind.name, token) for token in encode(codes, kind.length)]
        return np.array(counts, np.int64)

    def _kind(self, name: KindName) -> Kind:
        """A kind of tokens that the store has."""
        kind = KINDS[name]
        if getattr(self._settings, name) is None:
            raise FormatMismatchError(
                f"the store {self.location} was made without {kind.name}; {kind.how_to_add(self.location)}"
            )
        return kind


class _Asked:
    """Rows of tokens of a kind, asked of a state of the index in as many parts as it takes."""

    def __init__(
        self,
        schema: Schema,
        searcher: Searcher,
        kind: Kind,
        rows: list[list[str]],
        filters: Filters,
        *,
        exclude: Place | None,
        has_checksums: bool,
    ) -> None:
        self._searcher = searcher
        self._kind = kind
        self._sums = has_checksums
        at_once = max(1, TOKENS_AT_ONCE // len(rows[0])) if rows else 1
        parts = [rows[at : at + at_once] for at in range(0, len(rows), at_once)]
        self._queries = [sharing_query(schema, kind.name, each, filters, exclude) for each in parts]
        self._any = sharing_query(schema, kind.name, rows, filters, exclude, counted=False)
        self._parts = [decode([token for row in part for token in row], kind.length) for part in parts]
        self._width = len(rows[0]) if rows else 1

    @property
    def total(self) -> int:
        """How many documents share a token at all."""
        return int(self._searcher.search(self._any, limit=1).count)  # type: ignore[attr-defined] # the stub lacks it

    def streams(self, first: int) -> list[Iterator[tuple[_Place, int]]]:
        """For each part the documents, most shared tokens first, in growing pages."""
        return [self._stream(query, first) for query in self._queries]

    def _stream(self, query: Query, size: int) -> Iterator[tuple[_Place, int]]:
        given: set[_Place] = set()  # tantivy promises no order of equal scores from one page to the next
        while True:
            hits = self._searcher.search(query, limit=size, count=False).hits
            for score, address in hits:
                if (place := (address.segment_ord, address.doc)) not in given:
                    given.add(place)
                    yield place, int(score)
            if len(hits) < size:
                return
            size *= GROWTH

    def counted(self, parts: Sequence[int], places: Sequence[_Place]) -> list[Mapping[_Place, int]]:
        """How many tokens of some parts some documents share."""
        stored = {each: tokens_of(self.document(each), self._kind) for each in places}
        rows = {part: self._parts[part].reshape(-1, self._width) for part in parts}
        return [{each: int(np.isin(rows[part], stored[each]).any(axis=1).sum()) for each in places} for part in parts]

    def document(self, place: _Place) -> Document:
        """A stored document."""
        return document_at(self._searcher, DocAddress(*place), self._sums)
