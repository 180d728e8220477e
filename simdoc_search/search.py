"""The whole way: documents in, FINGERPRINT queries answered. The one file that knows every step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from simdoc_search.errors import (
    NoFingerprintError,
    QuerySyntaxError,
    SimdocError,
    StoreError,
    UnknownDocumentError,
)
from simdoc_search.indexing import FILE_TIMEOUT, IndexReport, Source, index_documents
from simdoc_search.query.planner import Plan, plan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.refining import Hit, best_hits
from simdoc_search.resolving import Query, Resolver, query_of
from simdoc_search.sketch.fingerprint import fingerprint
from simdoc_search.sketch.tokens import encode, hash_bits
from simdoc_search.stores.base import Candidates, Filters, Record, Store, StoreInfo

__all__ = ["Hit", "SearchResult", "SimilaritySearch"]

QUERIES_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to a query.

    Attributes:
        query: what was asked, with the full id; the id is empty if a text was asked for.
        plan: how the store was asked.
        candidates: how many documents the store counted before they were refined.
        hits: the best ones, greatest overlap first, then most equal tokens, then by id.
    """

    query: FingerprintQuery
    plan: Plan
    candidates: int
    hits: list[Hit]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query with its document and its plan."""

    query: FingerprintQuery
    source: Record
    plan: Plan


class SimilaritySearch:
    """Similarity search over a store.

    Args:
        store: where the documents are; see `open_store`.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def index(
        self,
        documents: Iterable[Source],
        *,
        workers: int = 1,
        checksum: bool = False,
        prune: bool = False,
        file_timeout: float = FILE_TIMEOUT,
        progress: Callable[[int], None] = lambda _: None,
    ) -> IndexReport:
        """Add documents; one with the id of an older one replaces it, unless nothing changed.

        Args:
            documents: documents, or files from `read_corpus`.
            workers: processes that read and fingerprint. With more than one, a script that calls this needs
                `if __name__ == "__main__":` around its main part.
            checksum: read files again even if size and time of change are as before.
            prune: remove the documents whose file has vanished from the folders that were read.
            file_timeout: seconds that a worker may take to read one file; with one worker there is no limit.
            progress: called with the number of documents that are done.

        Raises:
            StoreLockedError: another process is writing to the store.
            StoreError: the store cannot be written.
        """
        return index_documents(
            self.store,
            documents,
            workers=workers,
            checksum=checksum,
            prune=prune,
            file_timeout=file_timeout,
            progress=progress,
        )

    def similar(
        self,
        query: Query,
        *,
        overlap: float | Fraction | None = None,
        probability: float | Fraction | None = None,
        planner: str = "enough",
        size: int = 10,
        filters: Filters | None = None,
        include_self: bool = False,
    ) -> SearchResult:
        """The documents that share text with a stored one.

        Args:
            query: a FINGERPRINT string like `doc123_20_80`; with `overlap` or `probability` given, an id alone.
            overlap: least Jaccard similarity, 0..1.
            probability: chance of finding a document of exactly that overlap, over 0, up to 1.
            planner: `enough` or `all`, see `plan`.
            size: most hits to return.
            filters: keep only documents with these fields, see `stores.base.Filters`. They are for hits, not for the
                source: an application whose users may not read everything looks first whether they may read that.
            include_self: the source may be among the hits.

        Raises:
            QuerySyntaxError: the query or a number is malformed or out of range.
            AmbiguousQueryError: the query can mean several documents.
            UnknownDocumentError: no such document is stored.
            NoFingerprintError: the document has no words.
        """
        options: dict[str, Any] = {"overlap": overlap, "probability": probability, "planner": planner, "size": size}
        (answer,) = self.similar_many([query], filters=filters, include_self=include_self, **options)
        if isinstance(answer, SimdocError):
            raise answer
        return answer

    def similar_many(
        self,
        queries: Iterable[Query],
        *,
        overlap: float | Fraction | None = None,
        probability: float | Fraction | None = None,
        planner: str = "enough",
        size: int = 10,
        filters: Filters | None = None,
        include_self: bool = False,
    ) -> Iterator[SearchResult | SimdocError]:
        """The answers to many queries, in order, asked of the store many at once; arguments as for `similar`.

        Returns:
            For each query its result, or the error that `similar` would raise for it alone.

        Raises:
            QuerySyntaxError: the size is out of range.
            StoreError: the store cannot be read.
        """
        _check_size(size)
        rest = iter(queries)
        while some := list(islice(rest, QUERIES_AT_ONCE)):
            resolver = Resolver(self.store)
            resolver.load(some)
            asked: list[_Asked | SimdocError] = []
            for query in some:
                try:
                    meant = resolver.resolve(query, overlap=overlap, probability=probability)
                    source = resolver.record(meant.id)
                    asked.append(_Asked(meant, source, self._plan(meant, source, planner)))
                except StoreError:
                    raise
                except SimdocError as error:
                    asked.append(error)
            fine = [each for each in asked if isinstance(each, _Asked)]
            plans = [(each.plan, None if include_self else each.query.id) for each in fine]
            found = self._candidates(plans, filters)
            for each in asked:
                yield each if isinstance(each, SimdocError) else self._answer(each, next(found), size)

    def similar_to_text(
        self,
        text: str,
        *,
        overlap: float | Fraction | None = None,
        probability: float | Fraction | None = None,
        planner: str = "enough",
        size: int = 10,
        filters: Filters | None = None,
    ) -> SearchResult:
        """The documents that share text with a text that need not be stored; arguments as for `similar`.

        Raises:
            QuerySyntaxError: a number is out of range.
            NoFingerprintError: the text has no words.
        """
        settings = self.store.settings
        fp = fingerprint(text, settings.analysis, settings.minhash)
        _check_size(size)
        source = Record("", fp.codes(settings.token_length), fp.shingles, "")
        query = query_of("", overlap, probability)
        made = self._plan(query, source, planner)
        return self._result(query, source, made, self.store.candidates(made, filters=filters), size)

    def delete(self, ids: Iterable[str]) -> int:
        """Remove documents.

        Returns:
            How many were there.

        Raises:
            UnknownDocumentError: one of them is not stored; then none is removed.
        """
        wanted = list(dict.fromkeys(ids))
        known = {each.id for each in self.store.digests(wanted)}
        for id in wanted:
            if id not in known:
                raise UnknownDocumentError(id, self.store.suggest(id))
        with self.store.writer() as writer:
            writer.delete(wanted)
        return len(wanted)

    def info(self) -> StoreInfo:
        """Number of documents, bytes on disk, settings."""
        return self.store.info()

    def resolve(
        self, query: Query, *, overlap: float | Fraction | None = None, probability: float | Fraction | None = None
    ) -> FingerprintQuery:
        """The one reading of a query whose document exists, with its full id; an id counts before a file name.

        Arguments and errors as for `similar`.
        """
        return Resolver(self.store).resolve(query, overlap=overlap, probability=probability)

    def tokens(self, id: str) -> list[str]:
        """The tokens of a stored document, in the order of their buckets.

        Raises:
            UnknownDocumentError: no such document is stored.
        """
        return encode(Resolver(self.store).record(id).codes, self.store.settings.token_length)

    def _plan(self, query: FingerprintQuery, source: Record, planner: str) -> Plan:
        if not len(source.codes):
            what = f"the document {source.id!r}" if source.id else "the text"
            raise NoFingerprintError(f"{what} has no words, so nothing can be similar to it")
        tokens = encode(source.codes, self.store.settings.token_length)
        return plan(tokens, query.overlap, query.probability, planner=planner)

    def _candidates(
        self, plans: Sequence[tuple[Plan, str | None]], filters: Filters | None
    ) -> Iterator[Candidates | SimdocError]:
        """All at once; one by one if one of them is more than the store takes."""
        try:
            yield from self.store.candidates_of_many(plans, filters=filters)
        except QuerySyntaxError as error:
            if len(plans) == 1:
                yield error
                return
            for each in plans:
                yield from self._candidates([each], filters)

    def _answer(self, asked: _Asked, found: Candidates | SimdocError, size: int) -> SearchResult | SimdocError:
        if isinstance(found, SimdocError):
            return found
        return self._result(asked.query, asked.source, asked.plan, found, size)

    def _result(
        self, query: FingerprintQuery, source: Record, made: Plan, candidates: Candidates, size: int
    ) -> SearchResult:
        settings = self.store.settings
        bits = hash_bits(settings.minhash, settings.token_length)
        hits = best_hits(candidates, source, made, query.overlap, size=size, bits=bits)
        return SearchResult(query, made, candidates.total, hits)


def _check_size(size: int) -> None:
    if size < 1:
        raise QuerySyntaxError(f"size must be at least 1, not {size}")
