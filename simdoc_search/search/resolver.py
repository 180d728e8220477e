"""Resolves a query to a stored document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

from simdoc_search.documents import Place, ambiguous_id_message, unicode_forms
from simdoc_search.errors import AmbiguousQueryError, QuerySyntaxError, SimdocError, UnknownDocumentError
from simdoc_search.query.planner import parse_fraction
from simdoc_search.query.syntax import FingerprintQuery, ParsedFingerprint, choose, parse
from simdoc_search.search.files import ids_of_file, possible_ids
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record

MAX_SAME_NAMES = 500
"""Maximum number of documents with the same file name that are compared with a path."""

Question = str | FingerprintQuery | Place
"""A FINGERPRINT string, one reading of it, or the place of a document."""


class Resolver:
    """Resolves queries to documents. It keeps what it looked up, so that it looks up each id once.

    Args:
        store: the store with the documents.
        filters: documents that do not match are treated like unknown ones.
    """

    def __init__(self, store: Store, filters: Filters | None = None) -> None:
        self._store = store
        self._filters = filters
        self._records: dict[str, list[Record]] = {}

    def load(self, queries: Iterable[Question]) -> None:
        """Look up all ids that these queries can mean, at once. Malformed queries are left to `resolve`."""
        ids: set[str] = set()
        for query in queries:
            try:
                parsed = [reading.id for reading in _parsed(query).readings]
            except SimdocError:
                continue
            ids.update(parsed, *map(possible_ids, parsed))
        self._look_up(ids)

    def _look_up(self, ids: set[str]) -> None:
        unknown = sorted(ids - self._records.keys())
        records: dict[str, list[Record]] = {id: [] for id in unknown}
        for record in self._store.records(unknown, filters=self._filters):
            records.setdefault(record.id, []).append(record)
        self._records |= records

    def resolve(
        self, query: Question, *, overlap: float | Fraction | None = None, probability: float | Fraction | None = None
    ) -> FingerprintQuery:
        """Return the one reading of a query whose document exists, with its full id.

        An id comes before a path or a file name. Arguments and errors as for `SimilaritySearch.similar`.
        """
        self.load([query])
        parsed, numbers = _parsed(query), None
        if overlap is not None or probability is not None:
            if len(parsed.readings) == 1 and (parsed.readings[0].overlap or parsed.readings[0].probability):
                raise QuerySyntaxError(f"{parsed.text} already has an overlap; give the overlap only once")
            numbers = fingerprint_query(parsed.readings[0].id, overlap, probability)
            parsed = ParsedFingerprint(parsed.text, (FingerprintQuery(numbers.id),))
            self._check_id_alone(query, numbers.id)
        is_id = isinstance(query, Place) or any(self._with_id(reading.id) for reading in parsed.readings)
        try:
            reading = choose(parsed, self._with_id if is_id else self._with_name, self._suggest)
        except UnknownDocumentError as error:
            raise self._unknown(error.id, error.suggestions) from None
        return replace(numbers, id=reading.id) if numbers else reading

    def record(self, id: str, place: Place | None = None) -> Record:
        """Return the record of a document, without its text; if a place is given, the one at this place.

        Raises:
            UnknownDocumentError: no such document is stored.
            AmbiguousQueryError: behind an alias, several documents have this id.
        """
        records = self._with_same_id(id)
        if not records:
            raise self._unknown(id, self._suggest(id))
        matching = records if place is None else self._at(place, records)
        if place is not None and not matching:
            where = f"index {place.index!r}" if place.index else "the store"
            where += f" with routing {place.routing!r}" if place.routing else ""
            raise UnknownDocumentError(id, (), sorted({record.index or "the store" for record in records}), where)
        if len(matching) > 1:
            raise AmbiguousQueryError(ambiguous_id_message(record.place for record in matching), ())
        return matching[0]

    def _unknown(self, id: str, suggestions: Sequence[str]) -> UnknownDocumentError:
        return UnknownDocumentError(id, suggestions, id_hint=str(getattr(self._store, "id_hint", "")))

    def _at(self, place: Place, records: list[Record]) -> list[Record]:
        """Return the records at a place. If its index is the index of none of them, it may be an alias."""
        routed = [record for record in records if place.routing in (None, record.routing)]
        at_index = [record for record in routed if place.index in (None, record.index)]
        if at_index or not routed or place.index is None:
            return at_index
        places = self._store.places_of(place.id, place.index)
        return [record for record in routed if record.place in places]

    def _check_id_alone(self, query: Question, id: str) -> None:
        """Refuse `doc123_20` with a separate overlap if only `doc123` exists."""
        others = parse(query).readings[1:] if isinstance(query, str) else ()
        known = [reading for reading in others if self._with_name(reading.id)]
        if known and not self._with_name(id):
            raise QuerySyntaxError(
                f"no document has the id {id!r}; with a separate overlap or probability, give the id {known[0].id!r} "
                "alone"
            )

    def _with_same_id(self, id: str) -> list[Record]:
        self._look_up({id})
        return self._records[id]

    def _suggest(self, id: str) -> list[str]:
        return self._store.suggest(id, filters=self._filters)

    def _with_id(self, id: str) -> list[str]:
        return [id] if self._with_same_id(id) else []

    def _with_name(self, name: str) -> list[str]:
        """Return ids by id, file name or path, as written; if there are none, in another Unicode normalisation."""
        for spelling in unicode_forms(name):
            by_name = self._with_id(spelling) or self._store.ids_with_name(spelling, filters=self._filters)
            if ids := by_name or self._with_path(spelling):
                return ids
        return []

    def _with_path(self, path: str) -> list[str]:
        """Return the id of a file, named as a shell does it: `docs/a.txt`, `./a.txt`, an absolute path."""
        ids = possible_ids(path)
        if not ids:
            return []
        self._look_up(set(ids))
        if same_path := ids_of_file(path, chain.from_iterable(map(self._with_same_id, ids))):
            return same_path
        same_name = self._store.ids_with_name(ids[-1], filters=self._filters)[:MAX_SAME_NAMES]  # ids can have a prefix
        self._look_up(set(same_name))
        return ids_of_file(path, chain.from_iterable(map(self._with_same_id, same_name)))


def fingerprint_query(
    id: str, overlap: float | Fraction | None, probability: float | Fraction | None
) -> FingerprintQuery:
    """Return a query with exact fractions.

    Raises:
        QuerySyntaxError: a number is out of range.
    """
    return FingerprintQuery(
        id,
        None if overlap is None else parse_fraction(overlap, "overlap"),
        None if probability is None else parse_fraction(probability, "probability"),
    )


def _parsed(query: Question) -> ParsedFingerprint:
    if isinstance(query, Place):
        query = FingerprintQuery(query.id)
    return ParsedFingerprint(query.id, (query,)) if isinstance(query, FingerprintQuery) else parse(query)
