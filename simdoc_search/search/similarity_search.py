"""The facade `SimilaritySearch`: one method per question."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.concepts import Extractor, Synonyms
from simdoc_search.corpus import Source
from simdoc_search.documents import Document, Place
from simdoc_search.duplicates import Duplicates, Progress, Via, duplicates_in
from simdoc_search.duplicates.measures import MeasureName
from simdoc_search.duplicates.verdicts import DropScope
from simdoc_search.errors import NoTextError, SimdocError
from simdoc_search.groups import Families, FamilyMembers, Topic, Topics, find_families, find_topics
from simdoc_search.indexing import FILE_TIMEOUT, IndexReport, delete_documents, index_documents
from simdoc_search.languages import declared_language
from simdoc_search.passages.align import Alignment, Preset
from simdoc_search.passages.highlight import Highlights, highlight
from simdoc_search.query.planner import Planner
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.answers import raise_error
from simdoc_search.search.concepts import ConceptsResult, concepts_of
from simdoc_search.search.filter_check import unknown_field
from simdoc_search.search.keywords import takes
from simdoc_search.search.nearest import NearestDuplicate, min_overlap, nearest_duplicates
from simdoc_search.search.options import (
    GroupOptions,
    Number,
    PageOptions,
    PassageOptions,
    PassageQuery,
    RelatedQuery,
    SimilarOptions,
    SimilarQuery,
    VersionQuery,
    alignment_of,
    check_one_is_given,
)
from simdoc_search.search.passages import passages_of_many
from simdoc_search.search.passages_result import PassageResult
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.rejection import DuplicateFilter
from simdoc_search.search.related import related_to
from simdoc_search.search.related_concepts import query_concepts
from simdoc_search.search.related_result import RelatedResult
from simdoc_search.search.resolver import Question, Resolver
from simdoc_search.search.similar import similar_to_many, similar_to_text
from simdoc_search.search.similar_candidates import expand_clauses
from simdoc_search.search.similar_result import SearchResult
from simdoc_search.search.stored_texts import complete_record, read_records, resolved_record
from simdoc_search.search.versions import order_family, versions_of
from simdoc_search.search.versions_result import VersionFamily, VersionsResult
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.winnow import no_passages
from simdoc_search.stores.base import Store, StoreInfo
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record
from simdoc_search.tracing import span

if TYPE_CHECKING:
    from simdoc_search.duplicates.mark_update import MarkReport

Self = TypeVar("Self", bound="SimilaritySearch")


class SimilaritySearch:
    """Similarity search over a store. It closes the store.

    Results are sized and iterable::

        with SimilaritySearch(open_store("./.simdoc")) as search:
            for hit in search.similar("doc123_20_80"):
                print(hit.id, hit.overlap)

    Args:
        store: the store, see `open_store`.
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
        """Return the number of documents, the size on disk and the settings."""
        return self.store.info()

    # --- documents ---

    @span("simdoc_search.index")
    def index(
        self,
        documents: Iterable[Source],
        *,
        workers: int = 1,
        checksum: bool = False,
        archives: bool = False,
        prune: bool | None = False,
        prune_all: bool = False,
        prefix: str | None = None,
        own_ids: bool = False,
        file_timeout: float = FILE_TIMEOUT,
        worker_memory: int | None = None,
        reject_duplicates: Number = None,
        extractor: Extractor | None = None,
        progress: Callable[[int], None] = lambda _: None,
        written: Callable[[str], None] = lambda _: None,
    ) -> IndexReport:
        """Add documents. A document replaces an older one with the same id, unless nothing changed.

        Args:
            documents: documents, or files from `read_corpus`.
            workers: number of processes that read and fingerprint. With 1, this process does it, except for files that
                might crash it: PDF, office and e-mail formats, and large HTML files.
            checksum: read files again even if their size and modification time did not change.
            archives: also index the members of archives (zip, tar) and mailboxes (mbox), with ids like
                `old.zip!2021/Report.txt`. Archives that were indexed this way before, or that are named themselves, are
                always read.
            prune: remove documents whose file is gone from the folders that were read. Documents of an unreadable or
                empty folder are kept, and so are more than 10 if they are more than half of a folder; see `problems`.
                None: only some files of the folders are given, so no other file is gone.
            prune_all: as `prune`, but also from empty folders, and more than half of a folder.
            prefix: prefix of the ids of files, before the path below the folder; None: the prefix that the store has
                for this folder. A folder below a stored one has the ids that it has there.
            own_ids: let the ids of a new folder begin with its name, if the store or this run has other documents.
                Equal file names in two folders then have different ids.
            file_timeout: maximum number of seconds per file in a worker process.
            worker_memory: maximum number of bytes per worker process. A file that needs more is skipped. None: half of
                the machine's memory divided by the workers, 1 to 4 GB each.
            reject_duplicates: reject new documents with at least this overlap with a stored document, or with an
                earlier one of this run; over 0, up to 1. They are reported as `documents.Rejected`; see
                `DuplicateFilter`.
            extractor: extractor of concepts; None: the built-in one that the store names.
            progress: called with the number of documents that are done.
            written: called with the id of each new or replaced document.

        Returns:
            The counts, and in `failed` whether anything went wrong. A source that cannot be read does not stop the run.

        Raises:
            QuerySyntaxError: `reject_duplicates` is out of range.
            StoreLockedError: another process is writing to the store.
            StoreError: the store cannot be written.
            FormatMismatchError: the extractor is not that of the store.
            MissingExtraError: the store has sentences, and the package that splits texts is not installed.
        """
        return index_documents(
            self.store,
            documents,
            workers=workers,
            checksum=checksum,
            archives=archives,
            prune=prune,
            prune_all=prune_all,
            prefix=prefix,
            own_ids=own_ids,
            file_timeout=file_timeout,
            worker_memory=worker_memory,
            document_filter=None if reject_duplicates is None else DuplicateFilter(self.store, reject_duplicates),
            extractor=extractor,
            progress=progress,
            written=written,
        )

    def delete(self, ids: Iterable[str]) -> int:
        """Remove documents.

        Returns:
            The number of removed documents.

        Raises:
            UnknownDocumentError: an id is not stored; then no document is removed.
            WriteRefusedError: the store refused to remove some documents; the others are removed.
        """
        return delete_documents(self.store, ids)

    def languages(self, *, filters: Filters | None = None) -> Counter[str]:
        """Return the number of documents per language, by their metadata field `language`; `""` if they have none.

        `index` fills the field in a store with `Settings.language`. All records are read.

        Args:
            filters: only documents with these fields, as for `similar`.
        """
        return Counter(declared_language(record.metadata) for record in self.store.scan(filters=filters))

    # --- similar documents ---

    @span("simdoc_search.similar")
    @takes(SimilarQuery)
    def similar(self, options: SimilarQuery) -> SearchResult:
        """Find the documents that share text with a stored document.

        Args:
            options: the fields of `SimilarQuery`, as keyword arguments.

        Raises:
            NoFingerprintError: the document has no words.
        """
        (answer,) = similar_to_many(self.store, iter([options.query]), options)
        return raise_error(answer)

    @takes(SimilarOptions)
    def similar_many(
        self, queries: Iterable[Question], options: SimilarOptions
    ) -> Iterator[SearchResult | SimdocError]:
        """Find the documents that share text with each of many stored documents. Many queries run at once.

        Args:
            queries: the queries, as for `similar`.
            options: the fields of `SimilarOptions`, as keyword arguments.

        Returns:
            For each query in order its result, or the error that `similar` would raise for it.

        Raises:
            StoreError: the store cannot be read.
        """
        return similar_to_many(self.store, iter(queries), options)

    @span("simdoc_search.similar_to_text")
    @takes(SimilarOptions)
    def similar_to_text(self, text: str, options: SimilarOptions) -> SearchResult:
        """Find the documents that share text with a text.

        Args:
            text: the text. It need not be stored.
            options: the fields of `SimilarOptions`, as keyword arguments.

        Raises:
            UnknownFieldError: nothing is found, and no document has the field of a filter.
            NoFingerprintError: the text has no words.
        """
        return raise_error(similar_to_text(self.store, text, options))

    def resolve(
        self,
        query: Question,
        *,
        overlap: Number = None,
        probability: Number = None,
        source_filters: Filters | None = None,
    ) -> FingerprintQuery:
        """Return the one reading of a query whose document exists, with its full id. An id comes before a file name.

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
        """Rewrite the FINGERPRINT clauses of an application's own query for an engine.

        The engine then finds documents with enough equal tokens for the overlap. Unlike the hits of `similar`, they are
        not compared by their texts. Use `Similar.refine` or `compare` for that.

        Args:
            query: a query in `query_string` syntax, such as `FINGERPRINT:doc123_20 AND team:legal`; or a request body,
                or a part of it, whose `query_string` clauses are rewritten. It is not changed.
            planner: as for `similar`.
            include_self: as for `similar`.
            source_filters: as for `similar`.

        Returns:
            A clause; for a body, the same body.

        Raises:
            QuerySyntaxError: the query is malformed, or the store is not in an engine.
            AmbiguousQueryError: as for `similar`.
            UnknownDocumentError: as for `similar`.
            NoFingerprintError: as for `similar`.
            MissingExtraError: luqum is not installed.
        """
        return expand_clauses(self.store, query, planner, source_filters, include_self=include_self)

    def tokens(self, id: str) -> list[str]:
        """Return the tokens of a stored document, as they are queried, in the order of their buckets.

        Raises:
            UnknownDocumentError: no such document is stored.
        """
        return Resolver(self.store).record(id).tokens(self.store.settings.token_length)

    # --- shared passages ---

    @span("simdoc_search.passages")
    @takes(PassageQuery)
    def passages(self, options: PassageQuery) -> PassageResult:
        """Find the documents that share passages with a stored document or a text, and where the passages are.

        Every shared run of 6 words is found for a text of up to 1,000 words, and of 12 words for a longer one; `run` of
        the result says which. If texts are not stored, every run of 36 words is found, or as the store was made.
        Shorter runs are then found with the probability `Passages.chance`.

        Args:
            options: the fields of `PassageQuery`, as keyword arguments.

        Raises:
            NoFingerprintError: the document has no words.
            NoTextError: words are to be ignored, and the text of the document is not stored.
            FormatMismatchError: the store has no passage tokens.
        """
        source = options.query if options.text is None else Document("", options.text)
        (answer,) = passages_of_many(self.store, iter([source or ""]), options, options.exclude)
        return raise_error(answer)

    @takes(PassageOptions)
    def passages_of_many(
        self, sources: Iterable[Question | Document], options: PassageOptions
    ) -> Iterator[PassageResult | SimdocError]:
        """Find the documents that share passages with each of many documents.

        Args:
            sources: queries for stored documents, and documents that need not be stored.
            options: the fields of `PassageOptions`, as keyword arguments.

        Returns:
            For each source in order its result, or the error that `passages` would raise for it.

        Raises:
            StoreError: the store cannot be read, or has no passage tokens.
        """
        return passages_of_many(self.store, iter(sources), options)

    @span("simdoc_search.highlight")
    def highlight(
        self,
        hit: Question,
        query: Question | None = None,
        *,
        text: str | None = None,
        preset: Preset | Alignment = "edited",
        filters: Filters | None = None,
        source_filters: Filters | None = None,
    ) -> Highlights:
        """Mark what a hit shares with a stored document or a text, in the current texts of both.

        Args:
            hit: the `place` of a hit, or an id.
            query: the query document: its id, its path, or its place.
            text: the query text, in place of `query`.
            preset: `edited`, `verbatim`, or settings of your own, see `passages.align`.
            filters: the filters of the hits. A document that does not match is treated like an unknown one.
            source_filters: the filters of the query document, as for `similar`.

        Raises:
            QuerySyntaxError: the preset does not exist, or neither a query nor a text is given, or both.
            AmbiguousQueryError: the hit or the query can mean several documents.
            UnknownDocumentError: a document is not stored, or does not match the filters.
            NoTextError: the text of a document is not stored.
        """
        check_one_is_given(query, text)
        alignment = alignment_of(preset)
        PageOptions(filters=filters, source_filters=source_filters)
        source = text if text is not None else self._text_of(query or "", source_filters)
        return highlight(source, self._text_of(hit, filters), preset=alignment, analysis=self.store.settings.analysis)

    def _text_of(self, query: Question, filters: Filters | None) -> str:
        record = resolved_record(self.store, query, filters)
        if record.text is None:
            raise NoTextError(record.id)
        return record.text

    # --- versions and related documents ---

    @span("simdoc_search.versions")
    @takes(VersionQuery)
    def versions(self, options: VersionQuery) -> VersionsResult:
        """Find the versions of a stored document or a text, order them, and list what changed.

        Two documents are versions if enough sentences of one have a similar sentence in the other: one that differs by
        a word or two, or by their order. In an index with sentences, up to 64 sentences of the document are queried,
        see `versions.query_sentences`. In any other index, shared passages and fingerprints find the candidates.

        A limit that is not given (`bits`, `enough`, `least`, `min_score`) is the one that the index stores, see
        `stores.upgrade.set_limits`, else the default of `sketch.limits.Limits`. The newest version is in the timeline
        of each page.

        Args:
            options: the fields of `VersionQuery`, as keyword arguments.

        Raises:
            NoFingerprintError: the document has no sentences.
            StoreError: the store has neither sentences nor texts.
            MissingExtraError: the package that splits texts into sentences is not installed, and is needed.
        """
        return versions_of(self.store, options)

    @span("simdoc_search.related")
    @takes(RelatedQuery)
    def related(self, options: RelatedQuery) -> RelatedResult:
        """Find the documents on the same topic as a stored document or a text, in whatever words.

        Of the documents that share rare concepts up to 200 are read, and 50 of these compared, or more if more hits are
        needed. Versions score 0.75 to 1 if the store has sentences, related documents score less. See
        `versions.relations` for how two documents are compared.

        Args:
            options: the fields of `RelatedQuery`, as keyword arguments.

        Raises:
            NoFingerprintError: the document has no concepts.
            FormatMismatchError: the store has no concepts, or has those of another extractor or of other synonyms.
            MissingExtraError: the extractor of a text is not installed.
        """
        self._check_has_concepts()
        return related_to(self.store, options)

    def concepts(
        self,
        query: Question,
        *,
        source_filters: Filters | None = None,
        extractor: Extractor | None = None,
        synonyms: Synonyms | None = None,
    ) -> ConceptsResult:
        """Return the concepts of a stored document, with their weights and the words that led to them.

        Args:
            query: the id of a stored document, its path, or the `place` of a hit.
            source_filters: as for `similar`.
            extractor: the extractor of the concepts; None: the built-in one that the store was made with.
            synonyms: the synonyms that the store was made with. Without them, words that count as others have no name.

        Raises:
            AmbiguousQueryError: the query can mean several documents.
            UnknownDocumentError: no such document is stored, or none that matches `source_filters`.
            NoFingerprintError: the document has no concepts.
            FormatMismatchError: the store has no concepts, or has those of another extractor or of other synonyms.
        """
        self._check_has_concepts()
        document = QueryDocument(resolved_record(self.store, query, source_filters), self.store.settings)
        return concepts_of(self.store, document, query_concepts(document, extractor, synonyms))

    def _check_has_concepts(self) -> None:
        if self.store.settings.concepts is None:
            self.store.concept_frequencies(no_passages())  # raises FormatMismatchError with the advice of the store

    # --- the whole collection ---

    @span("simdoc_search.version_families")
    @takes(GroupOptions)
    def version_families(self, options: GroupOptions) -> Families:
        """Group the versions of the whole collection into families, in linear time.

        A chain of versions connects all documents of a family. The sentences are those of the index, or else of the
        texts, which takes longer.

        Args:
            options: the fields of `GroupOptions`, as keyword arguments.

        Returns:
            The counts, and what was left out. `families()` and `edges()` are iterators; `ordered` orders a family.

        Raises:
            UnknownFieldError: there are no documents, and none has the field of a filter.
            StoreError: the store has neither sentences nor texts, or cannot be read.
            MissingExtraError: the package that splits texts into sentences is not installed, and is needed.
        """
        limits = options.limits(self.store.settings.limits)
        families = find_families(self.store, limits, options.filters, options.progress)
        self._check_field(families.documents, options.filters)
        return families

    def ordered(self, family: FamilyMembers, *, version_control: bool = True) -> VersionFamily:
        """Order a family by its evidence, as `versions` does. Texts are not compared.

        Args:
            family: one of `version_families().families()`.
            version_control: whether to read the last commits of files from git.
        """
        return order_family(self.store, family, version_control=version_control)

    @span("simdoc_search.topics")
    @takes(GroupOptions)
    def topics(self, options: GroupOptions) -> Topics:
        """Group the related documents of the whole collection by topic, in linear time.

        All documents of a group are related to one of them, its centre.

        Args:
            options: the fields of `GroupOptions`, as keyword arguments.

        Returns:
            The counts, and what was left out. `topics()` and `edges()` are iterators; `named` names a topic.

        Raises:
            UnknownFieldError: there are no documents, and none has the field of a filter.
            FormatMismatchError: the store has no concepts.
            StoreError: the store cannot be read.
        """
        self._check_has_concepts()
        limits = options.limits(self.store.settings.limits)
        topics = find_topics(self.store, limits, options.filters, options.progress)
        self._check_field(topics.documents, options.filters)
        return topics

    def named(
        self, topic: Topic, *, extractor: Extractor | None = None, synonyms: Synonyms | None = None
    ) -> tuple[str, ...]:
        """Return the concepts of a topic: those of its centre that most other documents share.

        Args:
            topic: one of `topics().topics()`.
            extractor: as for `concepts`.
            synonyms: as for `concepts`.

        Returns:
            The names, greatest weight first; empty if the text of the centre is not stored, or the extractor is not
            installed.

        Raises:
            FormatMismatchError: the extractor or the synonyms are not those of the store.
        """
        record = read_records(self.store, [topic.centre]).get(topic.centre)
        if record is None:
            return ()
        document = QueryDocument(complete_record(self.store, record), self.store.settings)
        concepts = query_concepts(document, extractor, synonyms)
        try:
            names = concepts.names()
        except SimdocError:
            return ()
        return names.shared(set(topic.concepts), topic.concepts)

    def duplicates(
        self,
        *,
        overlap: float | Fraction = Fraction(4, 5),
        measure: MeasureName = "jaccard",
        filters: Filters | None = None,
        within: Collection[str] = (),
        since: datetime | None = None,
        new: Collection[str] | None = None,
        keep: str = "longest",
        kept_before: Collection[str] = (),
        keep_in: Collection[str] = (),
        verify: bool = True,
        via: Via = "memory",
        checkpoint: str | os.PathLike[str] | None = None,
        drop: DropScope | None = None,
        progress: Progress = lambda _stage, _share: None,
        ignore: Sequence[str] = (),
    ) -> Duplicates:
        """Find redundant documents, and for each the document that is kept and that overlaps it enough.

        Args:
            overlap: minimum overlap, over 0, up to 1. Two documents with exactly this overlap are compared with a
                probability of 99.9 % (99 % via `engine`); a greater overlap has a greater probability.
            measure: `jaccard`; `containment`, the share of a duplicate that is in the kept document; or `contained`,
                the share of the kept document that is in the duplicate. The last two compare documents of which one is
                at most four times as long as the other.
            filters: only documents with these fields, as for `similar`.
            within: only documents whose files are in one of these folders; absolute paths.
            since: only documents whose files changed at or after this time are compared with all others. Other
                documents are kept.
            new: as `since`, for the documents with these ids.
            keep: which document is kept: `longest` (with `jaccard`, the text that most copies share verbatim comes
                first), `first` (by id), `newest`, `oldest`, `max:FIELD` or `min:FIELD`. Among equal ones, a name that
                is not that of a copy comes first, then the shorter id.
            kept_before: ids of documents that are kept rather than others, such as those that an earlier run kept.
            keep_in: prefixes of such ids, such as `originals/`. They come before `keep`.
            verify: whether to compare the texts that the store has. Otherwise fingerprints decide.
            via: `memory` reads all fingerprints, over 1 GB into a temporary file. `engine` queries the engine for each
                document, and holds only ids, hashes and some numbers.
            checkpoint: file with the queries that are done, so that another run resumes, or only queries what changed.
                It belongs to one index, overlap, measure, rule and filter.
            drop: what a plan drops besides identical documents: `same-text`, or `same-words`, which includes it.
            progress: called with the current stage (`reading`, `comparing`, `verifying`, `hashing`) and the share of it
                that is done, 0..1.
            ignore: texts whose words are not compared, also where they are slightly edited, such as templates or
                licence headers. Documents that share only these words are not duplicates. Fingerprints of the whole
                texts still find the candidates.

        Returns:
            The counts; `groups()` and `pairs()` are iterators.

        Raises:
            QuerySyntaxError: an argument is malformed or out of range, or no id begins with a prefix of `keep_in`.
            UnknownFieldError: nothing was compared, and no document has the field of a filter.
            StoreError: the store cannot be read, or is not in an engine; or the checkpoint cannot be used, or belongs
                to other arguments.
        """
        duplicates = duplicates_in(
            self.store,
            overlap=overlap,
            measure=measure,
            filters=filters,
            within=within,
            since=since,
            new=new,
            keep=keep,
            kept_before=kept_before,
            keep_in=keep_in,
            verify=verify,
            via=via,
            checkpoint=checkpoint,
            drop=drop,
            progress=progress,
            ignore=ignore,
        )
        self._check_field(duplicates.documents, filters)
        return duplicates

    def mark_duplicates(
        self, duplicates: Duplicates, *, progress: Progress = lambda _stage, _share: None
    ) -> MarkReport:
        """Mark duplicates in the documents of an engine's index.

        A duplicate gets `simdoc.duplicate_of`, the id of the document that is kept. All documents of a group get the
        same `simdoc.cluster`. Compared documents that are no longer in a group lose their marks. Other fields are not
        changed, and concurrent writes are not lost. A document whose text was replaced since it was compared gets its
        mark the next time. If the call is interrupted, repeat it.

        Args:
            duplicates: the result of `duplicates` for this store.
            progress: called with `marking` and the share that is done, 0..1.

        Raises:
            StoreError: the store is not in an engine, its index cannot have marks or takes no updates, or not all
                documents were compared.
        """
        from simdoc_search.duplicates.mark_update import mark_duplicates  # noqa: PLC0415 - not for the local store

        return mark_duplicates(self.store, duplicates, progress=progress)

    def kept_by_marks(self) -> list[str]:
        """Return the ids of the documents that marks name as kept, for `duplicates(kept_before=...)`.

        Raises:
            StoreError: as for `mark_duplicates`.
        """
        from simdoc_search.duplicates.mark_update import kept_by_marks  # noqa: PLC0415 - not for the local store

        return list(kept_by_marks(self.store))

    def nearest_duplicate(
        self,
        text: str,
        overlap: float | Fraction = Fraction(4, 5),
        *,
        filters: Filters | None = None,
        exclude: Place | None = None,
    ) -> NearestDuplicate | None:
        """Find the stored document that a text duplicates, such as for a warning at upload.

        Args:
            text: the text, which is not stored yet.
            overlap: minimum Jaccard similarity, over 0, up to 1: exact where the store has the text, else estimated.
            filters: only documents with these fields, as for `similar`: those that the user may know.
            exclude: the place of a document that is not a duplicate, because the text is its new version.

        Returns:
            A document with the same text, else one with the same words, else the one with the greatest overlap; None if
            there is none.

        Raises:
            QuerySyntaxError: the overlap or the filters are malformed or out of range.
            UnknownFieldError: nothing is found, and no document has the field of a filter.
            NoFingerprintError: the text has no words.
            StoreError: the store cannot be read.
        """
        least, settings = min_overlap(overlap), self.store.settings
        (made,) = fingerprints([text], settings.analysis, settings.minhash, words_hash=True)
        codes, hashes = made.codes(settings.token_length), (text_hash(text), made.words_hash)
        source = Record("", codes, made.shingles, "", {}, text, None, *hashes)
        (nearest,) = nearest_duplicates(self.store, [source], least, filters=filters, exclude=exclude)
        return nearest

    def _check_field(self, documents: int, filters: Filters | None) -> None:
        if not documents and (error := unknown_field(self.store, filters)):
            raise error
