"""`SimilaritySearch`, with one method for each kind of query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.concepts import Extractor, Synonyms
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import NoTextError, SimdocError
from simdoc_search.indexing.options import IndexOptions
from simdoc_search.languages import declared_language
from simdoc_search.passages.align import AlignmentSettings, Preset
from simdoc_search.query.planner import Planner
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.duplicate_options import DuplicateOptions
from simdoc_search.search.filter_check import find_filter_error
from simdoc_search.search.keyword_arguments import accept_fields_of
from simdoc_search.search.options import (
    GroupOptions,
    OptionalFraction,
    PassageQuery,
    RelatedQuery,
    SearchOptions,
    SimilarOptions,
    SimilarQuery,
    VersionQuery,
    check_query_or_text,
    resolve_preset,
)
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.related_concepts import extract_query_concepts
from simdoc_search.search.resolver import Query, Resolver
from simdoc_search.search.similar import find_similar, find_similar_to_many
from simdoc_search.search.similar_candidates import expand_clauses
from simdoc_search.search.similar_result import SearchResult
from simdoc_search.search.stored_texts import read_complete_record, read_records, resolve_record
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.tokens import empty_token_ids
from simdoc_search.stores.base import Store, StoreInfo
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record
from simdoc_search.tracing import span

if TYPE_CHECKING:
    from simdoc_search.corpus import Source
    from simdoc_search.duplicates import Duplicates, Progress
    from simdoc_search.duplicates.mark_update import MarkReport
    from simdoc_search.groups import Families, FamilyMembers, Topic, Topics
    from simdoc_search.indexing.report import IndexReport
    from simdoc_search.passages.highlight import Highlights
    from simdoc_search.search.concepts import ConceptsResult
    from simdoc_search.search.nearest import NearestDuplicate
    from simdoc_search.search.passage_result import PassageResult
    from simdoc_search.search.related_result import RelatedResult
    from simdoc_search.search.version_order import VersionFamily
    from simdoc_search.search.version_result import VersionsResult

Self = TypeVar("Self", bound="SimilaritySearch")


class SimilaritySearch:
    """Searches a store for similar documents. Closing the search also closes the store.

    Results have a length, and you can iterate over their hits::

        with SimilaritySearch(open_store("./.simdoc")) as search:
            for hit in search.similar("doc123_20_80"):
                print(hit.id, hit.overlap)

    Args:
        store: the store. Open it with `open_store`.
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

    def info(self) -> StoreInfo:
        """Return the number of documents, the size on disk and the settings of the store."""
        return self.store.info()

    # --- documents ---

    @span("simdoc_search.index")
    @accept_fields_of(IndexOptions)
    def index(self, documents: Iterable[Source], options: IndexOptions) -> IndexReport:
        """Add documents. A document replaces the stored document with the same id, unless nothing has changed.

        Args:
            documents: documents, or files from `read_corpus`.
            options: the fields of `IndexOptions`, as keyword arguments.

        Returns:
            The counts. `has_failed` says whether an error occurred. A source that cannot be read does not stop the run.

        Raises:
            QuerySyntaxError: `reject_duplicates` is out of range.
            StoreLockedError: another process is writing to the store.
            StoreError: the store cannot be written.
            FormatMismatchError: the extractor differs from the one that the store was created with.
            MissingExtraError: the store has sentences, and the package that splits texts into sentences is not
                installed.
        """
        from simdoc_search.indexing.run import index_documents

        document_filter = None
        if options.reject_duplicates is not None:
            from simdoc_search.search.rejection import DuplicateFilter

            document_filter = DuplicateFilter(self.store, options.reject_duplicates)
        return index_documents(self.store, documents, options, document_filter)

    def delete(self, ids: Iterable[str]) -> int:
        """Remove documents.

        Returns:
            The number of removed documents.

        Raises:
            UnknownDocumentError: an id is not stored. No document is removed.
            WriteRefusedError: the store refused to remove some documents. The other documents are removed.
        """
        from simdoc_search.indexing.run import delete_documents

        return delete_documents(self.store, ids)

    def languages(self, *, filters: Filters | None = None) -> Counter[str]:
        """Return the number of documents per language, according to their metadata field `language`.

        The key of documents without the field is `""`. If `Settings.identifies_language` is set, `index` adds the
        field to documents that do not have it.
        This method reads all records.

        Args:
            filters: count only documents with these fields, as for `similar`.
        """
        return Counter(declared_language(record.metadata) for record in self.store.scan(filters=filters))

    # --- similar documents ---

    @span("simdoc_search.similar")
    @accept_fields_of(SimilarQuery)
    def similar(self, options: SimilarQuery) -> SearchResult:
        """Find the documents that share text with a stored document or a text.

        The query can be an id with the overlap and the probability in percent, such as `doc123_20_80`. If `overlap` or
        `probability` is given, it is only an id.

        Args:
            options: the fields of `SimilarQuery`, as keyword arguments.

        Raises:
            NoFingerprintError: the document has no words.
        """
        return find_similar(self.store, options)

    @accept_fields_of(SimilarOptions)
    def similar_many(self, queries: Iterable[Query], options: SimilarOptions) -> Iterator[SearchResult | SimdocError]:
        """Find the documents that share text with each of many stored documents. Queries run in batches.

        Args:
            queries: the queries, as for `similar`.
            options: the fields of `SimilarOptions`, as keyword arguments.

        Returns:
            The result of each query in order, or the error that `similar` would raise for it.

        Raises:
            StoreError: the store cannot be read.
        """
        return find_similar_to_many(self.store, iter(queries), options)

    def resolve(
        self,
        query: Query,
        *,
        overlap: OptionalFraction = None,
        probability: OptionalFraction = None,
        query_document_filters: Filters | None = None,
    ) -> FingerprintQuery:
        """Parse a query. If it names a document by its path or file name, return it with the id of the document.

        `a_20` can be an id, or the id `a` with an overlap. The reading whose document exists is chosen. An id takes
        precedence over a path or a file name. The arguments and errors are those of `similar`.
        """
        return Resolver(self.store, query_document_filters).resolve(query, overlap=overlap, probability=probability)

    def expand_fingerprints(
        self,
        query: str | Mapping[str, Any],
        *,
        planner: Planner = "enough",
        include_self: bool = False,
        query_document_filters: Filters | None = None,
    ) -> dict[str, Any]:
        """Rewrite the FINGERPRINT clauses of an application's own query for an engine.

        The engine then finds documents with enough matching tokens for the overlap. Unlike `similar`, it does not
        compare texts. To compare the hits, use `Similar.refine` or `compare`.

        Args:
            query: a query in `query_string` syntax, such as `FINGERPRINT:doc123_20 AND team:legal`; or a request body
                or part of one, whose `query_string` clauses are rewritten. The argument itself is not changed.
            planner: as for `similar`.
            include_self: as for `similar`.
            query_document_filters: as for `similar`.

        Returns:
            The clause for a string, or a rewritten copy of the body.

        Raises:
            QuerySyntaxError: the query is malformed, or the store is not in an engine.
            AmbiguousQueryError: as for `similar`.
            UnknownDocumentError: as for `similar`.
            NoFingerprintError: as for `similar`.
            MissingExtraError: luqum is not installed.
        """
        return expand_clauses(self.store, query, planner, query_document_filters, include_self=include_self)

    # --- shared passages ---

    @span("simdoc_search.passages")
    @accept_fields_of(PassageQuery)
    def passages(self, options: PassageQuery) -> PassageResult:
        """Find the documents that share passages with a stored document or a text, and the positions of the passages.

        For a text of up to 1,000 words, every shared run of 6 words is found. For a longer text, every shared run of 12
        words is found. A smaller `min_words` lowers this number, which the result contains as `guaranteed_run_length`.
        If texts are not stored, it is 36 by default, and shorter runs are found with the probability
        `PassageSettings.probability_of_finding`.

        Args:
            options: the fields of `PassageQuery`, as keyword arguments.

        Raises:
            NoFingerprintError: the document has no words.
            NoTextError: there are words to ignore, but the text of the document is not stored.
            FormatMismatchError: the store has no passage tokens.
        """
        from simdoc_search.search.passages import find_passages

        return find_passages(self.store, options)

    @span("simdoc_search.highlight")
    def highlight(
        self,
        hit: Query,
        query: Query | None = None,
        *,
        text: str | None = None,
        preset: Preset | AlignmentSettings = "edited",
        filters: Filters | None = None,
        query_document_filters: Filters | None = None,
    ) -> Highlights:
        """Mark the passages that a hit shares with a stored document or a text, in the current texts of both.

        Args:
            hit: the `key` of a hit, or an id.
            query: the query document: its id, its path, or its key.
            text: the query text, instead of `query`.
            preset: `edited`, `verbatim`, or your own `AlignmentSettings`; see `passages.align`.
            filters: filters for the hit. If the hit does not match, it is treated as unknown.
            query_document_filters: filters for the query document, as for `similar`.

        Raises:
            QuerySyntaxError: the preset does not exist, or not exactly one of `query` and `text` is given.
            AmbiguousQueryError: several documents match the hit or the query.
            UnknownDocumentError: a document is not stored, or does not match the filters.
            NoTextError: the text of a document is not stored.
        """
        check_query_or_text(query, text)
        alignment = resolve_preset(preset)
        SearchOptions(filters=filters, query_document_filters=query_document_filters)
        source = text if text is not None else self._read_text(query or "", query_document_filters)
        from simdoc_search.passages.highlight import highlight

        return highlight(source, self._read_text(hit, filters), preset=alignment, analysis=self.store.settings.analysis)

    def _read_text(self, query: Query, filters: Filters | None) -> str:
        record = resolve_record(self.store, query, filters)
        if record.text is None:
            raise NoTextError(record.id)
        return record.text

    # --- versions and related documents ---

    @span("simdoc_search.versions")
    @accept_fields_of(VersionQuery)
    def versions(self, options: VersionQuery) -> VersionsResult:
        """Find the versions of a stored document or a text, order them, and list what changed.

        Two documents are versions of each other if enough sentences of one have a similar sentence in the other.
        Similar sentences differ in one or two words, or in the order of words. If the index has sentences, up to 64
        sentences of the document are queried; see `versions.query_sentences`. Otherwise, candidates are found by shared
        passages and fingerprints.

        The thresholds are `max_distance`, `min_share`, `min_smaller_share` and `min_score`. If one is not given, the
        value that is stored in the index is used; see `stores.upgrade.set_thresholds`. If the index has no thresholds,
        the default of `sketch.thresholds.SimilarityThresholds` is used. The timeline of each page contains the newest
        version.

        Args:
            options: the fields of `VersionQuery`, as keyword arguments.

        Raises:
            NoFingerprintError: the document has no sentences.
            StoreError: the store has neither sentences nor texts.
            MissingExtraError: the package that splits texts into sentences is needed, but not installed.
        """
        from simdoc_search.search.versions import find_versions

        return find_versions(self.store, options)

    @span("simdoc_search.related")
    @accept_fields_of(RelatedQuery)
    def related(self, options: RelatedQuery) -> RelatedResult:
        """Find the documents on the same topic as a stored document or a text, even if they use other words.

        The candidates are the documents that share rare concepts. Up to 200 of them are read, or 4 per requested hit if
        that is more. Up to 50 of these are compared, or 2 per requested hit. If the store has sentences, versions score
        0.75 to 1, and related documents score less. `versions.relations` describes how two documents are compared.

        Args:
            options: the fields of `RelatedQuery`, as keyword arguments.

        Raises:
            NoFingerprintError: the document has no concepts.
            FormatMismatchError: the store has no concepts, or was created with another extractor or other synonyms.
            MissingExtraError: the extractor of a text is not installed.
        """
        self._check_has_concepts()
        from simdoc_search.search.related import find_related

        return find_related(self.store, options)

    def concepts(
        self,
        query: Query,
        *,
        query_document_filters: Filters | None = None,
        extractor: Extractor | None = None,
        synonyms: Synonyms | None = None,
    ) -> ConceptsResult:
        """Return the concepts of a stored document, with their weights and names.

        Args:
            query: the id of a stored document, its path, or the `key` of a hit.
            query_document_filters: as for `similar`.
            extractor: the extractor of concepts. None: the built-in extractor that the store was created with.
            synonyms: the synonyms that the store was created with. If they are missing, synonyms cannot be named.

        Raises:
            AmbiguousQueryError: several documents match the query.
            UnknownDocumentError: the document is not stored, or does not match `query_document_filters`.
            NoFingerprintError: the document has no concepts.
            FormatMismatchError: the store has no concepts, or was created with another extractor or other synonyms.
        """
        self._check_has_concepts()
        document = QueryDocument(resolve_record(self.store, query, query_document_filters), self.store.settings)
        from simdoc_search.search.concepts import list_concepts

        return list_concepts(self.store, document, extract_query_concepts(document, extractor, synonyms))

    def _check_has_concepts(self) -> None:
        if self.store.settings.concepts is None:
            # This raises FormatMismatchError, with advice for this kind of store.
            self.store.concept_frequencies(empty_token_ids())

    # --- the whole collection ---

    @span("simdoc_search.version_families")
    @accept_fields_of(GroupOptions)
    def version_families(self, options: GroupOptions) -> Families:
        """Group the versions of the whole collection into families, in linear time.

        The documents of a family are connected by chains of versions. The sentences are read from the index. If the
        index does not have them, they are computed from the texts, which takes longer.

        Args:
            options: the fields of `GroupOptions`, as keyword arguments.

        Returns:
            The counts, and the documents that were left out. `families()` and `edges()` return iterators. To order a
            family, use `order_family`.

        Raises:
            UnknownFieldError: no documents were compared, and no document has the field of a filter.
            StoreError: the store has neither sentences nor texts, or cannot be read.
            MissingExtraError: the package that splits texts into sentences is needed, but not installed.
        """
        from simdoc_search.groups import find_families

        thresholds = options.choose_thresholds(self.store.settings.thresholds)
        families = find_families(self.store, thresholds, options.filters, options.progress, options.workers)
        self._check_filters(families.document_count, options.filters)
        return families

    def order_family(self, family: FamilyMembers, *, use_git: bool = True) -> VersionFamily:
        """Order a family by evidence, as `versions` does. Texts are not compared.

        Args:
            family: an item of `version_families().families()`.
            use_git: whether to read the date of each file's last commit from git.
        """
        from simdoc_search.search.versions import order_family

        return order_family(self.store, family, use_git=use_git)

    @span("simdoc_search.topics")
    @accept_fields_of(GroupOptions)
    def topics(self, options: GroupOptions) -> Topics:
        """Group the related documents of the whole collection by topic, in linear time.

        All documents of a group are related to one document of the group, its centre.

        Args:
            options: the fields of `GroupOptions`, as keyword arguments.

        Returns:
            The counts, and the documents that were left out. `topics()` and `edges()` return iterators. To name a
            topic, use `name_topic`.

        Raises:
            UnknownFieldError: no documents were compared, and no document has the field of a filter.
            FormatMismatchError: the store has no concepts.
            StoreError: the store cannot be read.
        """
        self._check_has_concepts()
        from simdoc_search.groups import find_topics

        thresholds = options.choose_thresholds(self.store.settings.thresholds)
        topics = find_topics(self.store, thresholds, options.filters, options.progress)
        self._check_filters(topics.document_count, options.filters)
        return topics

    def name_topic(
        self, topic: Topic, *, extractor: Extractor | None = None, synonyms: Synonyms | None = None
    ) -> tuple[str, ...]:
        """Return names for a topic: the concepts of its centre that most other documents of the topic share.

        Args:
            topic: an item of `topics().topics()`.
            extractor: as for `concepts`.
            synonyms: as for `concepts`.

        Returns:
            The names, by descending weight. There are none if the text of the centre is not stored, or if the extractor
            is not installed.

        Raises:
            FormatMismatchError: the extractor or the synonyms differ from those that the store was created with.
        """
        record = read_records(self.store, [topic.centre], load={"text"}).get(topic.centre)
        if record is None:
            return ()
        document = QueryDocument(read_complete_record(self.store, record), self.store.settings)
        concepts = extract_query_concepts(document, extractor, synonyms)
        try:
            names = concepts.load_names()
        except SimdocError:
            return ()
        return names.find_shared_names(set(topic.concepts), topic.concepts)

    @accept_fields_of(DuplicateOptions)
    def duplicates(self, options: DuplicateOptions) -> Duplicates:
        """Find redundant documents, and for each redundant document, an overlapping document that is kept instead.

        Args:
            options: the fields of `DuplicateOptions`, as keyword arguments.

        Returns:
            The counts. `groups()` and `pairs()` return iterators.

        Raises:
            QuerySyntaxError: an argument is malformed or out of range, or `keep_in` matches no document.
            UnknownFieldError: no documents were compared, and no document has the field of a filter.
            StoreError: the store cannot be read.
        """
        from simdoc_search.search.duplicates import find_duplicates_in

        duplicates = find_duplicates_in(self.store, options)
        self._check_filters(duplicates.document_count, options.filters)
        return duplicates

    def mark_duplicates(
        self, duplicates: Duplicates, *, progress: Progress = lambda _stage, _share: None
    ) -> MarkReport:
        """Mark duplicates in the documents of an engine's index.

        A duplicate gets `simdoc.duplicate_of`, the id of the document that is kept. All documents of a group get the
        same `simdoc.cluster`. The marks of compared documents that are no longer in a group are removed. Other fields
        are not changed, and concurrent writes are not lost. A document whose text was replaced since it was compared
        is marked by the next call. If a call is interrupted, repeat it.

        Args:
            duplicates: the result of `duplicates` for this store.
            progress: called with `marking` and the completed share, 0..1.

        Raises:
            StoreError: the store is not in an engine, its index cannot have marks or does not accept updates, or not
                all documents were compared.
        """
        from simdoc_search.duplicates.mark_update import mark_duplicates

        return mark_duplicates(self.store, duplicates, progress=progress)

    def read_kept_ids(self) -> list[str]:
        """Return the ids of the documents that are kept according to the marks, for `duplicates(preferred_ids=...)`.

        Raises:
            StoreError: as for `mark_duplicates`.
        """
        from simdoc_search.duplicates.mark_update import read_kept_ids

        return list(read_kept_ids(self.store))

    def nearest_duplicate(
        self,
        text: str,
        overlap: float | Fraction = Fraction(4, 5),
        *,
        filters: Filters | None = None,
        exclude: DocumentKey | None = None,
    ) -> NearestDuplicate | None:
        """Find the stored document that a text duplicates, for example to warn a user during an upload.

        Args:
            text: the text, which is not stored yet.
            overlap: minimum Jaccard similarity, greater than 0 and at most 1. It is exact if the store has the text of
                the document, otherwise it is estimated.
            filters: compare only documents with these fields, as for `similar`. Select the documents that the user may
                read.
            exclude: the key of a document to ignore, for example because the text is a new version of it.

        Returns:
            A document with the same text, otherwise a document with the same words, otherwise the document with the
            greatest overlap. None: the text is not a duplicate.

        Raises:
            QuerySyntaxError: the overlap or the filters are malformed or out of range.
            UnknownFieldError: there are no hits, and no document has the field of a filter.
            NoFingerprintError: the text has no words.
            StoreError: the store cannot be read.
        """
        from simdoc_search.search.nearest import find_nearest_duplicates, parse_min_overlap

        minimum, settings = parse_min_overlap(overlap), self.store.settings
        (fingerprint,) = fingerprints([text], settings.analysis, settings.sketch, with_words_hash=True)
        token_ids, hashes = fingerprint.token_ids(), (text_hash(text), fingerprint.words_hash)
        source = Record("", token_ids, fingerprint.shingle_count, "", {}, text, None, *hashes)
        (nearest,) = find_nearest_duplicates(self.store, [source], minimum, filters=filters, exclude=exclude)
        return nearest

    def _check_filters(self, document_count: int, filters: Filters | None) -> None:
        if not document_count and (error := find_filter_error(self.store, filters)):
            raise error
