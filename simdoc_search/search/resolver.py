"""Which stored document does a query mean?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

from simdoc_search.documents import Place, is_in_several, spellings
from simdoc_search.errors import AmbiguousQueryError, QuerySyntaxError, SimdocError, UnknownDocumentError
from simdoc_search.query.planner import parse_fraction
from simdoc_search.query.syntax import FingerprintQuery, Parsed, choose, parse
from simdoc_search.search.paths import fitting, possible_ids
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record

OTHERS_LOOKED_AT = 500

Question = str | FingerprintQuery | Place
"""A FINGERPRINT string, one reading of it, or where a document is."""


def check_one_is_given(query: Question | None, text: str | None) -> None:
    """See whether it is said what is asked about: a document or a text.

    Raises:
        QuerySyntaxError: neither is, or both.
    """
    if (query is None) == (text is None):
        raise QuerySyntaxError("give the id of a document or a text, one of them")


class Resolver:
    """Queries to documents. What was looked up is kept, so that a store is asked once for each id.

    Args:
        store: where they are.
        filters: which of them there are for who asks; the others are as if they were not stored.
    """

    def __init__(self, store: Store, filters: Filters | None = None) -> None:
        self._store = store
        self._filters = filters
        self._records: dict[str, list[Record]] = {}

    def load(self, queries: Iterable[Question]) -> None:
        """Look up all that the queries can mean at once; malformed ones are left for `resolve`."""
        wanted: set[str] = set()
        for query in queries:
            try:
                ids = [reading.id for reading in _parsed(query).readings]
            except SimdocError:
                continue
            wanted.update(ids, *map(possible_ids, ids))
        self._look_up(wanted)

    def _look_up(self, wanted: set[str]) -> None:
        new = sorted(wanted - self._records.keys())
        found: dict[str, list[Record]] = {id: [] for id in new}
        for record in self._store.records(new, filters=self._filters):
            found.setdefault(record.id, []).append(record)
        self._records |= found

    def resolve(
        self, query: Question, *, overlap: float | Fraction | None = None, probability: float | Fraction | None = None
    ) -> FingerprintQuery:
        """The one reading of a query whose document exists, with its full id; an id counts before a path or name.

        Arguments and errors as for `SimilaritySearch.similar`.
        """
        self.load([query])
        parsed, apart = _parsed(query), None
        if overlap is not None or probability is not None:
            if len(parsed.readings) == 1 and (parsed.readings[0].overlap or parsed.readings[0].probability):
                raise QuerySyntaxError(f"{parsed.text} has an overlap already; give it there or apart, not both")
            apart = query_of(parsed.readings[0].id, overlap, probability)
            parsed = Parsed(parsed.text, (FingerprintQuery(apart.id),))
            self._check_id_alone(query, apart.id)
        by_id = isinstance(query, Place) or any(map(self._by_id, (reading.id for reading in parsed.readings)))
        try:
            meant = choose(parsed, self._by_id if by_id else self._named, self._suggest)
        except UnknownDocumentError as error:
            raise self._unknown(error.id, error.suggestions) from None
        return replace(apart, id=meant.id) if apart else meant

    def record(self, id: str, place: Place | None = None) -> Record:
        """The record of a document, without its text; the one at a place, if that is given.

        Raises:
            UnknownDocumentError: no such document is stored.
            AmbiguousQueryError: behind an alias, several have this id.
        """
        there = self._lookup(id)
        if not there:
            raise self._unknown(id, self._suggest(id))
        found = there if place is None else self._at(place, there)
        if place is not None and not found:
            where = f"index {place.index!r}" if place.index else "the store"
            where += f" with routing {place.routing!r}" if place.routing else ""
            raise UnknownDocumentError(id, (), sorted({each.index or "the store" for each in there}), where)
        if len(found) > 1:
            raise AmbiguousQueryError(is_in_several(each.place for each in found), ())
        return found[0]

    def _unknown(self, id: str, suggestions: Sequence[str]) -> UnknownDocumentError:
        """That no document has an id, and what an id is in this store."""
        return UnknownDocumentError(id, suggestions, ids=str(getattr(self._store, "ids_said", "")))

    def _at(self, place: Place, records: list[Record]) -> list[Record]:
        """Those of the records with the id of a place that are there; a name of no record's index may be an alias."""
        routed = [each for each in records if place.routing in (None, each.routing)]
        found = [each for each in routed if place.index in (None, each.index)]
        if found or not routed or place.index is None:
            return found
        places = self._store.places_of(place.id, place.index)
        return [each for each in routed if each.place in places]

    def _check_id_alone(self, query: Question, id: str) -> None:
        """With overlap or probability apart, `doc123_20` is an id; say so if only another reading exists."""
        others = parse(query).readings[1:] if isinstance(query, str) else ()
        known = [reading for reading in others if self._named(reading.id)]
        if known and not self._named(id):
            raise QuerySyntaxError(
                f"with an overlap or probability given apart, {id!r} is an id alone, and no document has it; "
                f"give the id {known[0].id!r}"
            )

    def _lookup(self, id: str) -> list[Record]:
        self._look_up({id})
        return self._records[id]

    def _suggest(self, id: str) -> list[str]:
        return self._store.suggest(id, filters=self._filters)

    def _by_id(self, id: str) -> list[str]:
        return [id] if self._lookup(id) else []

    def _named(self, name: str) -> list[str]:
        """By id, name or path, as it is written; if there is none, as Unicode says that it is the same."""
        for each in spellings(name):
            found = self._by_id(each) or self._store.named(each, filters=self._filters) or self._by_path(each)
            if found:
                return found
        return []

    def _by_path(self, path: str) -> list[str]:
        """The document of a file, named as the shell does: `docs/a.txt`, `./a.txt`, an absolute path."""
        ids = possible_ids(path)
        if not ids:
            return []
        self._look_up(set(ids))
        if found := fitting(path, chain.from_iterable(map(self._lookup, ids))):
            return found
        others = self._store.named(ids[-1], filters=self._filters)[
            :OTHERS_LOOKED_AT
        ]  # an id may have a prefix before the path
        self._look_up(set(others))
        return fitting(path, chain.from_iterable(map(self._lookup, others)))


def query_of(id: str, overlap: float | Fraction | None, probability: float | Fraction | None) -> FingerprintQuery:
    """A query with exact fractions.

    Raises:
        QuerySyntaxError: a number is out of range.
    """
    return FingerprintQuery(
        id,
        None if overlap is None else parse_fraction(overlap, "overlap"),
        None if probability is None else parse_fraction(probability, "probability"),
    )


def _parsed(query: Question) -> Parsed:
    if isinstance(query, Place):
        query = FingerprintQuery(query.id)
    return Parsed(query.id, (query,)) if isinstance(query, FingerprintQuery) else parse(query)
