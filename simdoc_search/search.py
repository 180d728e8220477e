"""The whole way: documents in, FINGERPRINT queries answered. The one file that knows every step."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.errors import NoFingerprintError, QuerySyntaxError, UnknownDocumentError
from simdoc_search.indexing import FILE_TIMEOUT, IndexReport, Source, index_documents
from simdoc_search.query.planner import ANY_OVERLAP, Plan, Threshold, exact, plan
from simdoc_search.query.syntax import FingerprintQuery, Parsed, choose, parse
from simdoc_search.sketch.estimate import shared_and_union
from simdoc_search.sketch.fingerprint import fingerprint, hash_bits
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import Candidate, Filters, Record, Store, StoreInfo

__all__ = ["Hit", "SearchResult", "SimilaritySearch"]

_RULED_OUT = 2.33  # standard deviations; a document of the asked overlap is dropped in 1 of 100 cases


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that shares text with the source.

    Attributes:
        id: the document's id.
        overlap: Jaccard similarity of its shingles and the source's, 0..1.
        matched: equal tokens.
        kind: `estimated` (from the tokens).
    """

    id: str
    overlap: float
    matched: int
    kind: str = "estimated"


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
        query: str | FingerprintQuery,
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
            filters: keep only documents with these fields, see `stores.base.Filters`.
            include_self: the source may be among the hits.

        Raises:
            QuerySyntaxError: the query or a number is malformed or out of range.
            AmbiguousQueryError: the query can mean several documents.
            UnknownDocumentError: no such document is stored.
            NoFingerprintError: the document has no words.
        """
        asked = self.resolve(query, overlap=overlap, probability=probability)
        record = self._record(asked.id)
        exclude = None if include_self else asked.id
        return self._search(asked, record, planner=planner, size=size, filters=filters, exclude=exclude)

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
        source = Record("", fp.codes(settings.token_length), fp.shingles, "")
        return self._search(_query("", overlap, probability), source, planner=planner, size=size, filters=filters)

    def delete(self, ids: Iterable[str]) -> int:
        """Remove documents.

        Returns:
            How many were there.

        Raises:
            UnknownDocumentError: one of them is not stored; then none is removed.
        """
        wanted = list(dict.fromkeys(ids))
        for id in wanted:
            self._record(id)
        with self.store.writer() as writer:
            writer.delete(wanted)
        return len(wanted)

    def info(self) -> StoreInfo:
        """Number of documents, bytes on disk, settings."""
        return self.store.info()

    def resolve(
        self,
        query: str | FingerprintQuery,
        *,
        overlap: float | Fraction | None = None,
        probability: float | Fraction | None = None,
    ) -> FingerprintQuery:
        """The one reading of a query whose document exists, with its full id; an id counts before a file name.

        Arguments and errors as for `similar`.
        """
        parsed = Parsed(query.id, (query,)) if isinstance(query, FingerprintQuery) else parse(query)
        if overlap is not None or probability is not None:
            if len(parsed.readings) == 1 and (parsed.readings[0].overlap or parsed.readings[0].probability):
                raise QuerySyntaxError(f"{parsed.text} has an overlap already; give it there or apart, not both")
            parsed = Parsed(parsed.text, (_query(parsed.readings[0].id, overlap, probability),))
            self._check_id_alone(query, parsed.readings[0].id)
        if any(map(self._by_id, (reading.id for reading in parsed.readings))):
            return choose(parsed, self._by_id)
        return choose(parsed, self._named, self.store.suggest)

    def _check_id_alone(self, query: str | FingerprintQuery, id: str) -> None:
        """With overlap or probability apart, `doc123_20` is an id; say so if only another reading exists."""
        others = parse(query).readings[1:] if isinstance(query, str) else ()
        known = [reading for reading in others if self._named(reading.id)]
        if known and not self._named(id):
            raise QuerySyntaxError(
                f"with an overlap or probability given apart, {id!r} is an id alone, and no document has it; "
                f"give the id {known[0].id!r}"
            )

    def tokens(self, id: str) -> list[str]:
        """The tokens of a stored document, in the order of their buckets.

        Raises:
            UnknownDocumentError: no such document is stored.
        """
        return encode(self._record(id).codes, self.store.settings.token_length)

    def _record(self, id: str) -> Record:
        record = self.store.get(id)
        if record is None:
            raise UnknownDocumentError(id, self.store.suggest(id))
        return record

    def _named(self, name: str) -> list[str]:
        return self._by_id(name) or self.store.named(name)

    def _by_id(self, id: str) -> list[str]:
        return [id] if self.store.get(id) is not None else []

    def _search(
        self,
        query: FingerprintQuery,
        source: Record,
        *,
        planner: str,
        size: int,
        filters: Filters | None,
        exclude: str | None = None,
    ) -> SearchResult:
        if size < 1:
            raise QuerySyntaxError(f"size must be at least 1, not {size}")
        settings = self.store.settings
        made = plan(encode(source.codes, settings.token_length), query.overlap, query.probability, planner=planner)
        if not len(source.codes):
            what = f"the document {source.id!r}" if source.id else "the text"
            raise NoFingerprintError(f"{what} has no words, so nothing can be similar to it")
        candidates = self.store.candidates(made, filters=filters, exclude=exclude)
        bits = hash_bits(settings.minhash, settings.token_length)
        hits = _best(candidates, source, made, query.overlap, size=size, bits=bits)
        return SearchResult(query, made, candidates.total, hits)


def _query(id: str, overlap: float | Fraction | None, probability: float | Fraction | None) -> FingerprintQuery:
    return FingerprintQuery(
        id,
        None if overlap is None else exact(overlap, "overlap"),
        None if probability is None else exact(probability, "probability"),
    )


def _best(
    candidates: Iterable[Candidate], source: Record, made: Plan, overlap: Fraction | None, *, size: int, bits: int
) -> list[Hit]:
    """The `size` greatest overlaps.

    Candidates come with most equal tokens first. The union of two documents' buckets is at least the source's, so
    `matched / source's` bounds what a candidate and all after it can reach: there the reading stops.
    """
    ranked: list[tuple[float, int, str]] = []
    for candidate in candidates:
        if len(ranked) >= size and -ranked[size - 1][0] >= candidate.matched / len(source.codes):
            break
        shared, union = shared_and_union(source.codes, candidate.codes, bits)
        if _stays(shared, union, made, overlap):
            insort(ranked, (-shared / union, -shared, candidate.id))
            del ranked[size:]
    return [Hit(id, -negative, -matched) for negative, matched, id in ranked]


def _stays(shared: int, union: int, made: Plan, overlap: Fraction | None) -> bool:
    """Whether a candidate is a hit: for a threshold by its estimate, for bands unless the estimate rules it out."""
    if not overlap:
        return shared >= min(ANY_OVERLAP, len(made.tokens))
    if isinstance(made, Threshold):
        return shared >= overlap * union
    deviation = math.sqrt(overlap * (1 - overlap) / union)
    return shared / union >= overlap - _RULED_OUT * deviation
