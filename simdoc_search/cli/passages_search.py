"""Runs the queries of `simdoc-search passages`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from simdoc_search.cli.input_text import QueryText
from simdoc_search.cli.passages_output import PassageAnswer
from simdoc_search.errors import QuerySyntaxError, SimdocError

if TYPE_CHECKING:
    from simdoc_search.search.passage_result import PassageResult
    from simdoc_search.search.similarity_search import SimilaritySearch


class PassageSearch:
    """Answers one query at a time. A file never matches its own stored copy.

    `options` are further arguments of `SimilaritySearch.passages`.
    """

    def __init__(
        self,
        search: SimilaritySearch,
        filters: Sequence[dict[str, Any]],
        options: dict[str, Any],
        *,
        exclude_same_folder: bool,
    ) -> None:
        from simdoc_search.search.files import IndexedFiles

        self._search, self._filters, self._options = search, filters, options
        self._exclude_same_folder = exclude_same_folder
        self._files = IndexedFiles(search.store)

    @property
    def is_picklable(self) -> bool:
        """Whether another process can open the store of this search."""
        from simdoc_search.stores.local import LocalStore

        return isinstance(self._search.store, LocalStore) and self._search.store.is_in_folder

    def answer_or_error(self, query: QueryText) -> tuple[QueryText, PassageAnswer | SimdocError]:
        """Return the query, and its answer or its error. Raises a StoreError, because other queries would fail too."""
        from simdoc_search.search.results import catch_error

        return query, catch_error(partial(self.answer, query))

    def answer(self, query: QueryText) -> PassageAnswer:
        """Answer a query. Raises the same errors as `SimilaritySearch.passages`."""
        if query.text is None:
            from simdoc_search.search.resolver import find_record

            record = find_record(self._search.store, query.name)
            return PassageAnswer(
                query, self._find_passages(self._filters_for(record.path), query=record.key), record.id
            )
        indexed = self._files.get(query.file) if query.file and query.file != "-" else None
        filters = self._filters_for(indexed.id) if indexed else self._filters
        stored_key = indexed.key if indexed else None
        result = self._find_passages(filters, text=query.text, exclude=stored_key)
        return PassageAnswer(query, result, stored_key.id if stored_key else None)

    def _find_passages(self, filters: Sequence[dict[str, Any]], **query: Any) -> PassageResult:
        return self._search.passages(filters=filters, **query, **self._options)

    def _filters_for(self, path: str) -> Sequence[dict[str, Any]]:
        """Return the filters for a query document with this path in the store."""
        from simdoc_search.stores.filters import none_of

        if not self._exclude_same_folder:
            return self._filters
        folder, slash, _ = path.rpartition("/")
        if not slash:
            raise QuerySyntaxError(f"the document {path!r} is not in a folder; omit --exclude-same-folder")
        return [*self._filters, {"path": none_of(f"{folder}/")}]
