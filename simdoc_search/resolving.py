"""Which stored document does a query mean?"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from simdoc_search.errors import QuerySyntaxError, SimdocError, UnknownDocumentError
from simdoc_search.query.planner import exact
from simdoc_search.query.syntax import FingerprintQuery, Parsed, choose, parse
from simdoc_search.stores.base import Record, Store

__all__ = ["Query", "Resolver", "query_of"]

Query = str | FingerprintQuery
"""A FINGERPRINT string, or one reading of it."""


class Resolver:
    """Queries to documents. What was looked up is kept, so that a store is asked once for each id."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._records: dict[str, Record | None] = {}

    def load(self, queries: Iterable[Query]) -> None:
        """Look up all that the queries can mean at once; malformed ones are left for `resolve`."""
        wanted: set[str] = set()
        for query in queries:
            try:
                wanted.update(reading.id for reading in _parsed(query).readings)
            except SimdocError:
                continue
        new = sorted(wanted - self._records.keys())
        self._records |= dict.fromkeys(new)
        self._records |= {record.id: record for record in self._store.records(new)}

    def resolve(
        self, query: Query, *, overlap: float | Fraction | None = None, probability: float | Fraction | None = None
    ) -> FingerprintQuery:
        """The one reading of a query whose document exists, with its full id; an id counts before a file name.

        Arguments and errors as for `SimilaritySearch.similar`.
        """
        self.load([query])
        parsed = _parsed(query)
        if overlap is not None or probability is not None:
            if len(parsed.readings) == 1 and (parsed.readings[0].overlap or parsed.readings[0].probability):
                raise QuerySyntaxError(f"{parsed.text} has an overlap already; give it there or apart, not both")
            parsed = Parsed(parsed.text, (query_of(parsed.readings[0].id, overlap, probability),))
            self._check_id_alone(query, parsed.readings[0].id)
        if any(map(self._by_id, (reading.id for reading in parsed.readings))):
            return choose(parsed, self._by_id)
        return choose(parsed, self._named, self._store.suggest)

    def record(self, id: str) -> Record:
        """The record of a document, without its text.

        Raises:
            UnknownDocumentError: no such document is stored.
        """
        record = self._lookup(id)
        if record is None:
            raise UnknownDocumentError(id, self._store.suggest(id))
        return record

    def _check_id_alone(self, query: Query, id: str) -> None:
        """With overlap or probability apart, `doc123_20` is an id; say so if only another reading exists."""
        others = parse(query).readings[1:] if isinstance(query, str) else ()
        known = [reading for reading in others if self._named(reading.id)]
        if known and not self._named(id):
            raise QuerySyntaxError(
                f"with an overlap or probability given apart, {id!r} is an id alone, and no document has it; "
                f"give the id {known[0].id!r}"
            )

    def _lookup(self, id: str) -> Record | None:
        if id not in self._records:
            self._records[id] = self._store.get(id)
        return self._records[id]

    def _by_id(self, id: str) -> list[str]:
        return [] if self._lookup(id) is None else [id]

    def _named(self, name: str) -> list[str]:
        return self._by_id(name) or self._store.named(name)


def query_of(id: str, overlap: float | Fraction | None, probability: float | Fraction | None) -> FingerprintQuery:
    """A query with exact fractions.

    Raises:
        QuerySyntaxError: a number is out of range.
    """
    return FingerprintQuery(
        id,
        None if overlap is None else exact(overlap, "overlap"),
        None if probability is None else exact(probability, "probability"),
    )


def _parsed(query: Query) -> Parsed:
    return Parsed(query.id, (query,)) if isinstance(query, FingerprintQuery) else parse(query)
