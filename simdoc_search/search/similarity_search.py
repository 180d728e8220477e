"""The whole way: documents in, FINGERPRINT queries answered. The one file that knows every step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from simdoc_search.errors import SimdocError
from simdoc_search.query.planner import Planner
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.answering import answer_to_text, answers
from simdoc_search.search.expanding import expanded_in
from simdoc_search.search.filling import Filling
from simdoc_search.search.options import Measure, Number, Options
from simdoc_search.search.over_all import OverAll
from simdoc_search.search.passage_result import PassageHit, PassageResult
from simdoc_search.search.quoting import Quoting
from simdoc_search.search.refining import Hit
from simdoc_search.search.relating import Relating
from simdoc_search.search.resolving import Question, Resolver
from simdoc_search.search.result import SearchResult
from simdoc_search.search.versioning import Versioning
from simdoc_search.stores.base import Store, StoreInfo
from simdoc_search.stores.filters import Filters
from simdoc_search.tracing import span

__all__ = ["Hit", "PassageHit", "PassageResult", "SearchResult", "SimilaritySearch"]

Self = TypeVar("Self", bound="SimilaritySearch")


class SimilaritySearch(Filling, Versioning, OverAll, Quoting, Relating):
    """Similarity search over a store, which it closes.

        with SimilaritySearch(open_store("./.simdoc")) as search:
            for hit in search.similar("doc123_20_80"):
                print(hit.id, hit.overlap)

    Args:
        store: where the documents are; see `open_store`.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    @span("simdoc_search.similar")
    def similar(
        self,
        query: Question,
        *,
        overlap: Number = None,
        probability: Number = None,
        planner: Planner = "enough",
        size: int = 10,
        offset: int = 0,
        filters: Filters | None = None,
        source_filters: Filters | None = None,
        include_self: bool = False,
        fields: Sequence[str] = (),
        verify: bool = True,
        measure: Measure = "jaccard",
    ) -> SearchResult:
        """The documents that share text with a stored one.

        Args:
            query: a FINGERPRINT string like `doc123_20_80`; with `overlap` or `probability` given, an id alone. Or the
                `place` of a hit: behind an alias, several documents can have one id.
            overlap: least Jaccard similarity, 0..1.
            probability: chance of finding a document of exactly that overlap, over 0, up to 1.
            planner: `enough`, `all` or the rows of a band, see `plan`.
            size: most hits to return.
            offset: how many of the best hits are left out, as they were given already. Pages of one store neither
                repeat nor leave out a document; a page reads the candidates of all before it.
            filters: keep only documents with these fields: `{"team": ["legal", "sales"]}` is one of the two, see
                `stores.filters.Filters`. They are for hits, not for the source.
            source_filters: which documents may be asked about: for others the answer is that of an id that is not
                stored. An application whose users may not read everything gives the same here as for `filters`.
            include_self: the source may be among the hits.
            fields: what the hits shall have in `fields`: metadata, or in an index of an application's own its fields,
                with dots into objects. What a document lacks is left out.
            verify: compute the overlap of each hit from the stored texts, exactly, and judge by it. Of a hit whose
                text the store does not have it is an estimate, as its `kind` says; False: of all.
            measure: what `overlap` is: `jaccard`; `containment`, the share of the source that a hit has; `contained`,
                the share of a hit that the source has. The last two are found by passage tokens, without a
                probability, and are exact where texts are stored.

        Raises:
            QuerySyntaxError: the query or a number is malformed or out of range.
            AmbiguousQueryError: the query can mean several documents, or behind an alias several have the id.
            UnknownDocumentError: no such document is stored, or none that `source_filters` keep.
            UnknownFieldError: nothing is found, and no document has the field of a filter.
            NoFingerprintError: the document has no words.
        """
        options = Options(
            overlap, probability, planner, size, filters, include_self, fields, verify, measure, offset, source_filters
        )
        (answer,) = answers(self.store, iter([query]), options)
        if isinstance(answer, SimdocError):
            raise answer
        return answer

    def similar_many(
        self,
        queries: Iterable[Question],
        *,
        overlap: Number = None,
        probability: Number = None,
        planner: Planner = "enough",
        size: int = 10,
        offset: int = 0,
        filters: Filters | None = None,
        source_filters: Filters | None = None,
        include_self: bool = False,
        fields: Sequence[str] = (),
        verify: bool = True,
        measure: Measure = "jaccard",
    ) -> Iterator[SearchResult | SimdocError]:
        """The answers to many queries, in order, asked of the store many at once; arguments as for `similar`.

        Returns:
            For each query its result, or the error that `similar` would raise for it alone.

        Raises:
            QuerySyntaxError: at the call, a number is out of range, or the planner or the filters are unknown.
            StoreError: the store cannot be read.
        """
        options = Options(
            overlap, probability, planner, size, filters, include_self, fields, verify, measure, offset, source_filters
        )
        return answers(self.store, iter(queries), options)

    @span("simdoc_search.similar_to_text")
    def similar_to_text(
        self,
        text: str,
        *,
        overlap: Number = None,
        probability: Number = None,
        planner: Planner = "enough",
        size: int = 10,
        offset: int = 0,
        filters: Filters | None = None,
        fields: Sequence[str] = (),
        verify: bool = True,
        measure: Measure = "jaccard",
    ) -> SearchResult:
        """The documents that share text with a text that need not be stored; arguments as for `similar`.

        Raises:
            QuerySyntaxError: a number is out of range.
            NoFingerprintError: the text has no words.
        """
        options = Options(overlap, probability, planner, size, filters, False, fields, verify, measure, offset)
        answer = answer_to_text(self.store, text, options)
        if isinstance(answer, SimdocError):
            raise answer
        return answer

    def info(self) -> StoreInfo:
        """Number of documents, bytes on disk, settings."""
        return self.store.info()

    def resolve(
        self,
        query: Question,
        *,
        overlap: Number = None,
        probability: Number = None,
        source_filters: Filters | None = None,
    ) -> FingerprintQuery:
        """The one reading of a query whose document exists, with its full id; an id counts before a file name.

        Arguments and errors as for `similar`.
        """
        return Resolver(self.store, source_filters).resolve(query, overlap=overlap, probability=probability)

    def expand_fingerprints(
        self,
        query: str | Mapping[str, Any],
        *,
        planner: Planner = "enough",
        include_self: bool = False,
        source_filters: Filters | None = None,
    ) -> dict[str, Any]:
        """A query of an application's own with its FINGERPRINT clauses written as an engine understands them.

        A hit of such a clause has enough equal tokens for the overlap; it is not compared by its text, as those of
        `similar` are. Ask `Similar.refine` for that, or `compare`.

        Args:
            query: in the syntax of `query_string`, like `FINGERPRINT:doc123_20 AND team:legal`; or the body of a
                request or a part of it, whose `query_string` clauses are written anew where a FINGERPRINT stands in
                one. It is not changed.
            planner: as for `similar`.
            include_self: the source may be among the hits.
            source_filters: as for `similar`.

        Returns:
            A clause; of a body, the same body.

        Raises:
            QuerySyntaxError: the query cannot be read, or the store is not in an engine.
            AmbiguousQueryError: as for `similar`, of one of its FINGERPRINTs; so are the following.
            UnknownDocumentError: the same.
            NoFingerprintError: the same.
            MissingExtraError: luqum is not installed.
        """
        return expanded_in(self.store, query, planner, source_filters, include_self=include_self)

    def tokens(self, id: str) -> list[str]:
        """The tokens of a stored document, as its store is asked for them, in the order of their buckets.

        Raises:
            UnknownDocumentError: no such document is stored.
        """
        return Resolver(self.store).record(id).tokens(self.store.settings.token_length)
