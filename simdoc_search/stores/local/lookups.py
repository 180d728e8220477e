"""Lookups of ids, fields and folders in a local store."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager
from copy import copy
from typing import TypeVar

from tantivy import Query, Schema, Searcher

from simdoc_search.cancellation import Stop
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.closing import Closing
from simdoc_search.stores.fields import beginning_of_facts, indexable, sampled_names
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.local.queries import any_path
from simdoc_search.stores.local.schema import id_of, to_record
from simdoc_search.stores.local.suggestions import suggestions

Self = TypeVar("Self", bound="Lookups")

SAMPLE = 200


class Lookups(Closing):
    """Mixin of the local store that looks up names."""

    _schema: Schema
    _settings: Settings
    _stop: Stop

    @abstractmethod
    def _snapshot(self) -> AbstractContextManager[Searcher]: ...

    def until(self: Self, stop: Stop) -> Self:
        """Return the same store for a cancellable caller; see `Store`."""
        other = copy(self)
        other._stop = stop
        return other

    def suggest(self, id: str, *, filters: Filters | None = None) -> list[str]:
        """Return up to three stored ids similar to this one, best first, that match the filters."""
        with self._snapshot() as searcher:
            return suggestions(searcher, self._schema, id, filters)

    def beginning(self, begin: str, limit: int) -> list[str]:
        """Return up to `limit` ids with this prefix, sorted."""
        query = Query.fuzzy_term_query(self._schema, "id", indexable(begin), distance=0, prefix=True)
        with self._snapshot() as searcher:
            found = searcher.search(query if begin else Query.all_query(), limit=limit, count=False).hits
            return sorted(id_of(searcher.doc(each)) for _, each in found)

    def alternatives(self, condition: Condition) -> list[str] | None:
        """Return what to suggest for a field or path that no document has; see `Store`."""
        if condition.field == "path":
            there = any_path(self._schema, condition.values)
        else:
            begin = beginning_of_facts(condition.field)
            there = Query.fuzzy_term_query(self._schema, "facts", begin, distance=0, prefix=True)
        with self._snapshot() as searcher:
            if searcher.search(there, limit=1, count=False).hits:
                return None
            some = searcher.search(Query.all_query(), limit=SAMPLE, count=False).hits
            length = self._settings.token_length
            records = (to_record(searcher.doc(each), length, text=False) for _, each in some)
            return sampled_names(records, condition)
