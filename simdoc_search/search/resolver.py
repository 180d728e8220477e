"""Looks up the stored documents that queries name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

from simdoc_search.documents import DocumentKey, ambiguous_id_message, unicode_forms
from simdoc_search.errors import AmbiguousQueryError, QuerySyntaxError, SimdocError, UnknownDocumentError
from simdoc_search.query.planner import parse_fraction
from simdoc_search.query.syntax import FingerprintQuery, ParsedFingerprint, choose_reading, parse
from simdoc_search.search.files import find_ids_by_file, list_possible_ids
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record

MAX_SAME_NAME_DOCUMENTS = 500
"""Maximum number of documents with the same file name whose paths are compared with a given path."""

Query = str | FingerprintQuery | DocumentKey
"""A query for the documents that are similar to a stored document.

It is a string such as `doc123_20_80` (an id, an overlap and a probability in percent), the `FingerprintQuery` that such
a string describes, or the key of the stored document.
"""


class Resolver:
    """Looks up the documents that queries name. Each id is looked up only once.

    Args:
        store: the store with the documents.
        filters: documents that do not match the filters are treated as unknown.
    """

    def __init__(self, store: Store, filters: Filters | None = None) -> None:
        self._store = store
        self._filters = filters
        self._records: dict[str, list[Record]] = {}

    def look_up_ids(self, queries: Iterable[Query]) -> None:
        """Look up all possible ids of these queries at once. Malformed queries are skipped."""
        ids: set[str] = set()
        for query in queries:
            try:
                parsed = [reading.id for reading in _parse_query(query).readings]
            except SimdocError:
                continue
            ids.update(parsed, *map(list_possible_ids, parsed))
        self._look_up(ids)

    def _look_up(self, ids: set[str]) -> None:
        ids_to_look_up = sorted(ids - self._records.keys())
        if not ids_to_look_up:
            return
        records: dict[str, list[Record]] = {id: [] for id in ids_to_look_up}
        for record in self._store.records(ids_to_look_up, filters=self._filters):
            records.setdefault(record.id, []).append(record)
        self._records |= records

    def resolve(
        self, query: Query, *, overlap: float | Fraction | None = None, probability: float | Fraction | None = None
    ) -> FingerprintQuery:
        """Parse a query. If it names a document by its path or file name, return it with the id of the document.

        `a_20` can be an id, or the id `a` with an overlap. The reading whose document exists is chosen. An id takes
        precedence over `INDEX/ID`, a path or a file name. The arguments and errors are those of
        `SimilaritySearch.similar`.
        """
        self.look_up_ids([query])
        parsed, query_with_options = _parse_query(query), None
        if overlap is not None or probability is not None:
            if len(parsed.readings) == 1 and (parsed.readings[0].overlap or parsed.readings[0].probability):
                raise QuerySyntaxError(
                    f"the query {parsed.text!r} already sets an overlap; do not also pass overlap or probability"
                )
            query_with_options = make_document_query(parsed.readings[0].id, overlap, probability)
            parsed = ParsedFingerprint(parsed.text, (FingerprintQuery(query_with_options.id),))
            self._reject_overlap_in_id(query, query_with_options.id)
        ids = [reading.id for reading in parsed.readings]
        is_id = isinstance(query, DocumentKey) or any(map(self._find_exact_id, ids)) or self._look_up_qualified_ids(ids)
        try:
            reading = choose_reading(
                parsed, self._find_exact_id if is_id else self._find_ids_by_name, self._suggest_ids
            )
        except UnknownDocumentError as error:
            raise self._make_unknown_error(error.id, error.suggestions) from None
        return replace(query_with_options, id=reading.id) if query_with_options else reading

    def get_record(self, id: str, key: DocumentKey | None = None) -> Record:
        """Return the record of a document, without its text. If a key is given, the document must have this key.

        Raises:
            UnknownDocumentError: the document is not stored.
            AmbiguousQueryError: several documents behind an alias have this id.
        """
        if not self._find_records(id) and (key is not None or not self._look_up_qualified_ids([id])):
            raise self._make_unknown_error(id, self._suggest_ids(id))
        records = self._find_records(id)
        matching = records if key is None else self._filter_by_key(key, records)
        if key is not None and not matching:
            location = f"index {key.index!r}" if key.index else "the index"
            location += f" with routing {key.routing!r}" if key.routing else ""
            raise UnknownDocumentError(id, (), sorted({record.index or "the index" for record in records}), location)
        if len(matching) > 1:
            raise AmbiguousQueryError(ambiguous_id_message(record.key for record in matching), ())
        return matching[0]

    def _look_up_qualified_ids(self, ids: Iterable[str]) -> bool:
        """Look up `ID` in `INDEX` for each id `INDEX/ID` that no document has. Return whether one of the ids exists."""
        parts = {id: id.partition("/") for id in ids if "/" in id}
        self._look_up({rest for _, _, rest in parts.values()})
        for id, (index, _, rest) in parts.items():
            if not self._records.get(id):
                self._records[id] = [record for record in self._find_records(rest) if record.index == index]
        return any(self._records[id] for id in parts)

    def _make_unknown_error(self, id: str, suggestions: Sequence[str]) -> UnknownDocumentError:
        return UnknownDocumentError(id, suggestions, id_hint=str(getattr(self._store, "id_hint", "")))

    def _filter_by_key(self, key: DocumentKey, records: list[Record]) -> list[Record]:
        """Return the records that have this key. The index of the key can be an alias."""
        routed = [record for record in records if key.routing in (None, record.routing)]
        in_index = [record for record in routed if key.index in (None, record.index)]
        if in_index or not routed or key.index is None:
            return in_index
        keys = self._store.find_keys(key.id, key.index)
        return [record for record in routed if record.key in keys]

    def _reject_overlap_in_id(self, query: Query, id: str) -> None:
        """Raise a QuerySyntaxError if the query is `doc123_20`, and only `doc123` exists.

        Call this if the overlap or the probability is a separate argument. All of `doc123_20` must then be an id.
        """
        other_readings = parse(query).readings[1:] if isinstance(query, str) else ()
        existing = [reading for reading in other_readings if self._find_ids_by_name(reading.id)]
        if existing and not self._find_ids_by_name(id):
            raise QuerySyntaxError(
                f"no document has the id {id!r}; use the id {existing[0].id!r}. An overlap cannot be part of the id if "
                "overlap or probability is given separately"
            )

    def _find_records(self, id: str) -> list[Record]:
        self._look_up({id})
        return self._records[id]

    def _suggest_ids(self, id: str) -> list[str]:
        return self._store.suggest_ids(id, filters=self._filters)

    def _find_exact_id(self, id: str) -> list[str]:
        return [id] if self._find_records(id) else []

    def _find_ids_by_name(self, name: str) -> list[str]:
        """Return the ids of the documents with this id, file name or path, in any Unicode normalisation form."""
        for spelling in unicode_forms(name):
            ids_by_name = self._find_exact_id(spelling) or self._store.ids_with_name(spelling, filters=self._filters)
            if ids := ids_by_name or self.find_ids_by_path(spelling):
                return ids
        return []

    def find_ids_by_path(self, path: str) -> list[str]:
        """Return the ids of the documents of a file. The path can be absolute or relative: `docs/a.txt`, `./a.txt`."""
        ids = list_possible_ids(path)
        if not ids:
            return []
        self._look_up(set(ids))
        if same_path := find_ids_by_file(path, chain.from_iterable(map(self._find_records, ids))):
            return same_path
        # An id can have a prefix, so also look for documents with the same file name.
        same_name = self._store.ids_with_name(ids[-1], filters=self._filters)[:MAX_SAME_NAME_DOCUMENTS]
        self._look_up(set(same_name))
        return find_ids_by_file(path, chain.from_iterable(map(self._find_records, same_name)))


def find_record(store: Store, name: str) -> Record:
    """Return the document with this id, path or file name. A final number is not read as an overlap."""
    resolver = Resolver(store)
    return resolver.get_record(resolver.resolve(name, overlap=0).id)


def make_document_query(
    id: str, overlap: float | Fraction | None, probability: float | Fraction | None
) -> FingerprintQuery:
    """Return the query for the documents that are similar to a document. Its numbers are exact fractions.

    The id is empty for a text.

    Raises:
        QuerySyntaxError: a number is out of range.
    """
    return FingerprintQuery(
        id,
        None if overlap is None else parse_fraction(overlap, "overlap"),
        None if probability is None else parse_fraction(probability, "probability"),
    )


def _parse_query(query: Query) -> ParsedFingerprint:
    if isinstance(query, DocumentKey):
        query = FingerprintQuery(query.id)
    return ParsedFingerprint(query.id, (query,)) if isinstance(query, FingerprintQuery) else parse(query)
