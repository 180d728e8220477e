"""The whole way: documents in, FINGERPRINT queries answered. The one file that knows every step."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.concepts import Extractor, Synonyms
from simdoc_search.documents import Document, MetadataValue, Place
from simdoc_search.duplicates import Duplicates, Progress, Via, duplicates_in
from simdoc_search.duplicates.measures import MeasureName
from simdoc_search.duplicates.verdicts import Widened
from simdoc_search.errors import NoTextError, QuerySyntaxError, SimdocError
from simdoc_search.groups import Families, FamilyMembers, Topic, Topics, find_families, find_topics
from simdoc_search.groups import Progress as GroupProgress
from simdoc_search.indexing import FILE_TIMEOUT, IndexReport, Source, delete_documents, index_documents
from simdoc_search.languages import declared_language
from simdoc_search.passages.align import Alignment, Preset
from simdoc_search.passages.highlight import Highlights, highlight
from simdoc_search.query.planner import Planner
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search import related_source, versions_source
from simdoc_search.search.clauses import expanded_in
from simdoc_search.search.document_concepts import ConceptsResult, concepts_of
from simdoc_search.search.filter_check import unknown_field
from simdoc_search.search.nearest import NearestDuplicate, least_overlap, nearest_of
from simdoc_search.search.passages import PassageOptions, passage_answers
from simdoc_search.search.passages_result import PassageResult
from simdoc_search.search.rejection import DuplicateGate
from simdoc_search.search.related import RelatedOptions, related_to
from simdoc_search.search.related_result import RelatedResult
from simdoc_search.search.resolver import Question, Resolver, check_one_is_given
from simdoc_search.search.similar import answer_to_text, answers
from simdoc_search.search.similar_options import Measure, Number, Options, asked_limits
from simdoc_search.search.similar_result import SearchResult
from simdoc_search.search.stored_texts import asked_record, read_records, whole_record
from simdoc_search.search.versions import VersionOptions, versions_of
from simdoc_search.search.versions_family import VersionFamily, in_order
from simdoc_search.search.versions_result import VersionsResult
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import no_passages
from simdoc_search.stores.base import Store, StoreInfo
from simdoc_search.stores.filters import Filters, conditions
from simdoc_search.stores.record import Record
from simdoc_search.tracing import span

if TYPE_CHECKING:
    from simdoc_search.duplicates.mark_update import MarkReport

Self = TypeVar("Self", bound="SimilaritySearch")


class SimilaritySearch:
    """Similarity search over a store, which it closes.

    Its answers have a length and are gone through by their hits::

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

    # --- documents in ---

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
        """Add documents; one with the id of an older one replaces it, unless nothing changed.

        Args:
            documents: documents, or files from `read_corpus`.
            workers: processes that read and fingerprint. With one it is this process, which leaves to another only
                what might crash it: PDF, office and e-mail formats, large HTML.
            checksum: read files again even if size and time of change are as before.
            archives: look into archives (zip, tar) and mailboxes (mbox) too: each member is a document,
                `old.zip!2021/Report.txt`. One that was looked into before, or is named by itself, is in any case.
            prune: remove the documents whose file has vanished from the folders that were read; none of a folder that
                cannot be read or has no file left, nor more than 10 that are more than half: see `problems`.
                None: of folders only some files are given, so none of the others is missed.
            prune_all: the same, and also where no file is left or more than half would go.
            prefix: what the ids of files begin with, before the path below the folder; None: as this folder has it
                in the store already. A folder below one that is in the store has the ids that it has there.
            own_ids: ids of a folder that the store does not have begin with the name of that folder, if the store or
                this run has other documents; so folders with equal names inside do not get in each other's way.
            file_timeout: seconds that a worker process may take to read one file.
            worker_memory: bytes that a worker process may hold; a file that needs more is skipped. None: half of the
                machine's memory shared by the workers, 1 to 4 GB each.
            reject_duplicates: leave out new documents that overlap one in the store, or an earlier one of this run, by
                so much, over 0, up to 1; see `DuplicateGate`. They are among the skipped, as `documents.Rejected`.
            extractor: what finds the concepts of a store that has them; it is sent to the worker processes. None: the
                shipped one that the store names.
            progress: called with the number of documents that are done.
            written: called with the id of each document that is new or replaced.

        Returns:
            The counts, and in `failed` whether all went as it should. A source that cannot be read costs only itself.

        Raises:
            QuerySyntaxError: `reject_duplicates` is out of range.
            StoreLockedError: another process is writing to the store.
            StoreError: the store cannot be written.
            FormatMismatchError: the extractor is not the one of the store.
            MissingExtraError: the store has sentences, and what finds them is not installed.
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
            gate=None if reject_duplicates is None else DuplicateGate(self.store, reject_duplicates),
            extractor=extractor,
            progress=progress,
            written=written,
        )

    def delete(self, ids: Iterable[str]) -> int:
        """Remove documents.

        Returns:
            How many were there.

        Raises:
            UnknownDocumentError: one of them is not stored; then none is removed.
            WriteRefusedError: the store refused to remove some of them; the others are gone.
        """
        return delete_documents(self.store, ids)

    # --- which documents share text ---

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
            overlap=overlap,
            probability=probability,
            planner=planner,
            size=size,
            offset=offset,
            filters=filters,
            source_filters=source_filters,
            include_self=include_self,
            fields=fields,
            verify=verify,
            measure=measure,
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
            overlap=overlap,
            probability=probability,
            planner=planner,
            size=size,
            offset=offset,
            filters=filters,
            source_filters=source_filters,
            include_self=include_self,
            fields=fields,
            verify=verify,
            measure=measure,
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
        options = Options(
            overlap=overlap,
            probability=probability,
            planner=planner,
            size=size,
            offset=offset,
            filters=filters,
            fields=fields,
            verify=verify,
            measure=measure,
        )
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

    # --- which share passages ---

    @span("simdoc_search.passages")
    def passages(
        self,
        query: Question | None = None,
        *,
        text: str | None = None,
        size: int = 10,
        offset: int = 0,
        min_words: int | None = None,
        preset: Preset | Alignment = "edited",
        filters: Filters | None = None,
        source_filters: Filters | None = None,
        exclude: Place | None = None,
        fields: Sequence[str] = (),
        compare_all: bool = False,
        ignore: Sequence[str] = (),
        ignore_quotes: bool = False,
    ) -> PassageResult:
        """The documents that share passages with a stored one, or with a text, and where these are.

        Every shared run of 6 words is found by a text of up to 1,000 words, of 12 words by a longer one; the answer
        says it in `run`. Where texts are not stored, runs of 36 words are found (or as the store was made), and
        shorter ones with a probability, see `Passages.chance`.

        Args:
            query: the id of a stored document, its path, or the `place` of a hit; or else
            text: a text that need not be stored.
            size: most documents to return.
            offset: how many of the best are left out, as they were given already; see `similar`.
            min_words: every equal run of this many words is a passage; None: 6, or 12 of a text of over 1,000 words.
            preset: `edited` finds passages with small changes too, `verbatim` only such as were copied; see `align`.
            filters: keep only documents with these fields, as for `similar`.
            source_filters: which documents may be asked about, as for `similar`; of a text nothing is asked.
            exclude: where a document is that is left out, as the text is a state of it; see `IndexedFiles`.
            fields: what the hits shall have in `fields`, as for `similar`.
            compare_all: compare all candidates. By default, 2,000 documents or 8 million words are the maximum.
            ignore: texts whose words are not counted, such as templates, task sheets or licence headers. Words are
                ignored where the text is slightly edited too.
            ignore_quotes: do not count quotations: those in quotation marks, and lines that begin with `>`.

        Raises:
            QuerySyntaxError: an argument is out of range, or neither a query nor a text is given, or both.
            AmbiguousQueryError: the query can mean several documents.
            UnknownDocumentError: no such document is stored, or none that `source_filters` keep.
            UnknownFieldError: nothing is found, and no document has the field of a filter.
            NoFingerprintError: there are no words.
            NoTextError: words are to be ignored, and the text of the document is not stored.
            FormatMismatchError: the store was made without passage tokens.
        """
        check_one_is_given(query, text)
        asked = Document("", text) if text is not None else query
        options = PassageOptions(
            size=size,
            offset=offset,
            min_words=min_words,
            preset=preset,
            filters=filters,
            source_filters=source_filters,
            exclude=exclude,
            fields=fields,
            compare_all=compare_all,
            ignore=ignore,
            ignore_quotes=ignore_quotes,
        )
        (answer,) = passage_answers(self.store, iter([asked]), options)  # type: ignore[list-item]
        if isinstance(answer, SimdocError):
            raise answer
        return answer

    def passages_of_many(
        self,
        sources: Iterable[Question | Document],
        *,
        size: int = 10,
        offset: int = 0,
        min_words: int | None = None,
        preset: Preset | Alignment = "edited",
        filters: Filters | None = None,
        source_filters: Filters | None = None,
        fields: Sequence[str] = (),
        compare_all: bool = False,
        ignore: Sequence[str] = (),
        ignore_quotes: bool = False,
    ) -> Iterator[PassageResult | SimdocError]:
        """The same for many sources: ids of stored documents, and documents that need not be stored.

        Returns:
            For each source, in order, its result, or the error that `passages` would raise for it alone.

        Raises:
            QuerySyntaxError: at the call, an argument is out of range.
            StoreError: the store cannot be read, or was made without passage tokens.
        """
        options = PassageOptions(
            size=size,
            offset=offset,
            min_words=min_words,
            preset=preset,
            filters=filters,
            source_filters=source_filters,
            fields=fields,
            compare_all=compare_all,
            ignore=ignore,
            ignore_quotes=ignore_quotes,
        )
        return passage_answers(self.store, iter(sources), options)

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
        """What a hit shares with a stored document, or with a text, marked in both; both texts are read now.

        Args:
            hit: the `place` of a hit, or an id.
            query: the document that was asked about: its id, its path, or its place; or else
            text: the text that was.
            preset: what counts as a passage: `edited`, `verbatim`, or settings of your own, see `align`.
            filters: which documents may be shown, as those that were given for the hits: another hit is not stored.
            source_filters: which may be asked about, as for `similar`.

        Raises:
            QuerySyntaxError: there is no such preset, or neither a query nor a text is given, or both.
            AmbiguousQueryError: one of them can mean several documents.
            UnknownDocumentError: one of them is not stored, or none that the filters keep.
            NoTextError: the store does not have a text of theirs.
        """
        check_one_is_given(query, text)
        alignment = PassageOptions(preset=preset, filters=filters, source_filters=source_filters).alignment
        source = text if text is not None else self._text_of(query or "", source_filters)
        return highlight(source, self._text_of(hit, filters), preset=alignment, analysis=self.store.settings.analysis)

    def _text_of(self, query: Question, filters: Filters | None) -> str:
        record = asked_record(self.store, query, filters)
        if record.text is None:
            raise NoTextError(record.id)
        return record.text

    # --- versions, and documents about the same ---

    @span("simdoc_search.versions")
    def versions(
        self,
        query: Question | None = None,
        *,
        text: str | None = None,
        file: str | Path | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
        size: int = 10,
        offset: int = 0,
        bits: int | None = None,
        enough: float | None = None,
        least: float | None = None,
        min_score: float | None = None,
        filters: Filters | None = None,
        source_filters: Filters | None = None,
        exclude: Place | None = None,
        version_control: bool = True,
        fields: Sequence[str] = (),
    ) -> VersionsResult:
        """The versions of a stored document, or of a text, in their order: which is the newest, and what changed?

        Two documents are versions if enough sentences of one have an alike one in the other: one that differs in few
        of 64 bits, as a word or two more, fewer, or in another place make it. In an index with sentences, up to 64
        sentences of a document are looked for, see `versions.asking` and `sketch.sentences.query_codes`. In any other
        index the candidates share passages or a fingerprint with it.

        What is not given of `bits`, `enough`, `least` and `min_score` is what the index stores, see
        `stores.limits.set_limits`, or the default of `sketch.limits.Limits`.

        Args:
            query: the id of a stored document, its path, or the `place` of a hit; or else
            text: a text that need not be stored.
            file: the file that the text is of: its name and its dates are those of the text.
            metadata: what else is known of the text, such as dates.
            size: most versions to return.
            offset: how many of the best are left out, as they were given already; see `similar`. The newest is in the
                timeline of each page.
            bits: in how many of 64 bits two sentences may differ and are alike, 0 to 16.
            enough: the share of sentences that have an alike one in the other, of one of the two at least; 0..1.
            least: the same of the other at least, so that a book that quotes a note is not a version of it.
            min_score: the score that a version must have, 0..1; all score 0.75 or more.
            filters: keep only documents with these fields, as for `similar`.
            source_filters: which documents may be asked about, as for `similar`; of a text nothing is asked.
            exclude: where a document is that is left out, as the text is a state of it; see `IndexedFiles`.
            version_control: ask git when files were last committed, where nothing better says when they were written
                and they lie on this machine.
            fields: what the hits shall have in `fields`, as for `similar`.

        Raises:
            QuerySyntaxError: an argument is out of range, or neither a query nor a text is given, or both.
            AmbiguousQueryError: the query can mean several documents.
            UnknownDocumentError: no such document is stored, or none that `source_filters` keep.
            UnknownFieldError: nothing is found, and no document has the field of a filter.
            NoFingerprintError: there is no sentence.
            StoreError: the store has neither sentences nor texts.
            MissingExtraError: what finds sentences is not installed, and is needed.
        """
        check_one_is_given(query, text)
        if text is None and (file is not None or metadata is not None):
            raise QuerySyntaxError("file and metadata are those of a text; give the text too, or leave them out")
        stored = self.store.settings.limits
        limits = asked_limits(stored, bits=bits, enough=enough, least=least, min_score=min_score)
        options = VersionOptions(
            size=size,
            offset=offset,
            limits=limits,
            filters=filters,
            exclude=exclude,
            version_control=version_control,
            fields=fields,
        )
        if text is not None:
            source = versions_source.source_of_text(text, self.store.settings, str(file or ""), metadata or {})
        else:
            record = asked_record(self.store, query or "", source_filters)
            source = versions_source.source_of_record(self.store, record, version_control=version_control)
        return versions_of(self.store, source, options)

    @span("simdoc_search.related")
    def related(
        self,
        query: Question | None = None,
        *,
        text: str | None = None,
        name: str = "",
        size: int = 10,
        offset: int = 0,
        filters: Filters | None = None,
        source_filters: Filters | None = None,
        exclude: Place | None = None,
        extractor: Extractor | None = None,
        synonyms: Synonyms | None = None,
        fields: Sequence[str] = (),
        bits: int | None = None,
        enough: float | None = None,
        least: float | None = None,
        min_score: float | None = None,
        explain: bool = False,
        name_concepts: bool = True,
    ) -> RelatedResult:
        """The documents that are about the same as a stored one, or as a text, whatever their words.

        Of those that share its rarest concepts up to 200 are looked at, and 50 of them compared, or more where more
        are wanted; the result says how many. A version scores 0.75 to 1.0, if the store has sentences; what is related
        less, from `min_score` on. How two documents are compared is told in `versions.relations`.

        Args:
            query: the id of a stored document, its path, or the `place` of a hit; or else
            text: a text that need not be stored.
            name: what the text is called.
            size: most documents to return.
            offset: how many of the best are left out, as they were given already; see `similar`.
            filters: keep only documents with these fields, as for `similar`.
            source_filters: which documents may be asked about, as for `similar`; of a text nothing is asked.
            exclude: where a document is that is left out, as the text is a state of it; see `IndexedFiles`.
            extractor: what finds the concepts of the text; None: the shipped one that the store was made with.
            synonyms: those that the store was made with. For a stored document they make no difference but to the names
                of what is shared.
            fields: what the hits shall have in `fields`, as for `similar`.
            bits: what makes versions, as for `versions`; what is not given is what the index stores.
            enough: likewise.
            least: likewise.
            min_score: the score that a hit must have, 0..1; None: what the index stores, 0.5 by default.
            explain: say of each hit which concepts both have, what each weighs, and what it adds to the similarity.
            name_concepts: name what is shared. That takes some seconds for a very long text.

        Raises:
            QuerySyntaxError: an argument is out of range, or neither a query nor a text is given, or both.
            AmbiguousQueryError: the query can mean several documents.
            UnknownDocumentError: no such document is stored, or none that `source_filters` keep.
            UnknownFieldError: nothing is found, and no document has the field of a filter.
            NoFingerprintError: there are no concepts.
            FormatMismatchError: the store was made without concepts, or with another extractor or other synonyms.
            MissingExtraError: a text is given, and what finds its concepts is not installed.
        """
        check_one_is_given(query, text)
        settings = self._settings_with_concepts()
        limits = asked_limits(settings.limits, bits=bits, enough=enough, least=least, min_score=min_score)
        options = RelatedOptions(
            size=size,
            offset=offset,
            limits=limits,
            filters=filters,
            exclude=exclude,
            fields=fields,
            explain=explain,
            name_concepts=name_concepts,
        )
        if text is not None:
            source = related_source.source_of_text(text, settings, name, extractor, synonyms)
        else:
            record = asked_record(self.store, query or "", source_filters)
            source = related_source.source_of_record(record, settings, extractor, synonyms)
        return related_to(self.store, source, options)

    @span("simdoc_search.concepts")
    def concepts(
        self,
        query: Question,
        *,
        source_filters: Filters | None = None,
        extractor: Extractor | None = None,
        synonyms: Synonyms | None = None,
    ) -> ConceptsResult:
        """The concepts of a stored document: what each weighs, and which words of the text led to it.

        Args:
            query: the id of a stored document, its path, or the `place` of a hit.
            source_filters: which documents may be asked about, as for `similar`.
            extractor: what found the concepts; None: the shipped one that the store was made with.
            synonyms: those that the store was made with; without them, what counts as another word is not named.

        Raises:
            AmbiguousQueryError: the query can mean several documents.
            UnknownDocumentError: no such document is stored, or none that `source_filters` keep.
            NoFingerprintError: the document has no concepts.
            FormatMismatchError: the store was made without concepts, or with another extractor or other synonyms.
        """
        settings = self._settings_with_concepts()
        record = asked_record(self.store, query, source_filters)
        return concepts_of(self.store, related_source.source_of_record(record, settings, extractor, synonyms))

    def _settings_with_concepts(self) -> Settings:
        """The settings of the store. Raises FormatMismatchError if it has no concepts."""
        if self.store.settings.concepts is None:
            self.store.frequencies(no_passages())  # says so
        return self.store.settings

    # --- all documents at once ---

    def languages(self, *, filters: Filters | None = None) -> Counter[str]:
        """How many documents are in each language, as their metadata field `language` says; `""`: it says none.

        `SimilaritySearch.index` fills the field in a store with `Settings.language`. All records are read.

        Args:
            filters: only documents with these fields, see `similar`.
        """
        return Counter(declared_language(each.metadata) for each in self.store.scan(filters=filters))

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
        drop: Widened | None = None,
        progress: Progress = lambda _stage, _share: None,
        ignore: Sequence[str] = (),
    ) -> Duplicates:
        """Which documents could go, each for one that stays and that it overlaps enough by itself.

        Args:
            overlap: least overlap, over 0, up to 1. Two documents of just that are compared with a probability of
                99.9 %, those that overlap more with a greater one.
            measure: `jaccard`; `containment`, the share of a document that is found in the one that stays; or
                `contained`, the share of the one that stays that is found in it. The last two look at documents of
                which one is at most four times as long as the other.
            filters: only documents with these fields, see `similar`.
            within: only documents whose files lie in one of these folders; absolute paths.
            since: only documents whose files changed then or later are compared, with all; the others stay.
            new: the same for the documents with these ids.
            keep: which one stays: `longest` (by `jaccard`, before that what most documents have word for word), `first`
                (by id), `newest`, `oldest`, `max:FIELD` or `min:FIELD`. Of equal ones it is the one whose name is not
                that of a copy, then that of the shorter id.
            kept_before: ids of documents that stay rather than others, say those that an earlier call kept.
            keep_in: what the ids of such documents begin with, say `originals/`; whatever `keep` says.
            verify: compare the texts, where the store has them; otherwise the fingerprints decide.
            via: who compares: `memory`, where all fingerprints are read, over 1 GB into a temporary file; or the
                `engine` that has them, which is asked about each document while no more than its id, its hashes and
                some numbers are held here. Then two documents of just the overlap are compared with 99 %.
            checkpoint: a file of what the engine was asked, so that another run goes on from there, or asks only about
                what is new or changed. It is made for one index, and for one overlap, measure, rule and filter.
            drop: what a plan drops besides identical documents: `same-text` or `same-words`, which includes the former.
            progress: called with what is done now, `reading`, `comparing`, `verifying` or `hashing`, and the share of
                it, 0..1.
            ignore: texts whose words are not compared, such as templates or licence headers, also where they are
                slightly edited. Documents that share only such words are not duplicates. The fingerprints of the whole
                texts still decide which documents are compared.

        Returns:
            The counts; `groups()` and `pairs()` are iterators.

        Raises:
            QuerySyntaxError: the overlap, the measure, `keep`, `via`, `drop` or the filters are not what they can be,
                or no id begins with one of `keep_in`.
            UnknownFieldError: nothing was compared, and no document has the field of a filter.
            StoreError: the store cannot be read, has no dates of files to compare with `since`, or is in no engine that
                could compare; or the checkpoint cannot be used, or was made for something else.
        """
        found = duplicates_in(
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
        self._check_field(found.documents, filters)
        return found

    def mark_duplicates(self, found: Duplicates, *, progress: Progress = lambda _stage, _share: None) -> MarkReport:
        """Write into the documents of an engine's index which of them duplicates which, as `duplicates` found it.

        A duplicate gets `simdoc.duplicate_of`, the id of the document that is kept for it; all of a group get the same
        `simdoc.cluster`. Of the documents that were looked at, those that are in no group any more lose their marks. No
        write of others is lost, and no other field is changed; a document whose text was replaced since it was compared
        has no mark until the next time. Broken off, it is completed by doing it again.

        Args:
            found: what `duplicates` gave, of this store.
            progress: called with `marking` and the share of it that is done, 0..1.

        Raises:
            StoreError: the store is no engine's; its index cannot have the marks, or takes no updates; or not all were
                compared.
        """
        from simdoc_search.duplicates.mark_update import mark_duplicates  # noqa: PLC0415 - not for the local store

        return mark_duplicates(self.store, found, progress=progress)

    def kept_by_marks(self) -> list[str]:
        """The ids of the documents that marks say are kept, so that `duplicates(kept_before=...)` keeps them again.

        Raises:
            StoreError: as `mark_duplicates`.
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
        """The stored document that a text is a duplicate of, for a warning at upload; None: there is none.

        Args:
            text: what is about to be stored.
            overlap: least Jaccard similarity, over 0, up to 1. It is computed from the texts where the store has them,
                else estimated from the fingerprints.
            filters: only documents with these fields, see `similar`: those that who uploads may know of.
            exclude: where a document is that does not count, as the text is a new version of it.

        Returns:
            The one with the same text, else one with the same words, else the one of the greatest overlap.

        Raises:
            QuerySyntaxError: the overlap or the filters are not what they can be.
            UnknownFieldError: nothing is found, and no document has the field of a filter.
            NoFingerprintError: the text has no words.
            StoreError: the store cannot be read.
        """
        least, settings = least_overlap(overlap), self.store.settings
        (fp,) = fingerprints([text], settings.analysis, settings.minhash, words_hash=True)
        codes, hashes = fp.codes(settings.token_length), (text_hash(text), fp.words_hash)
        source = Record("", codes, fp.shingles, "", {}, text, None, *hashes)
        (found,) = nearest_of(self.store, [source], least, filters=filters, exclude=exclude)
        return found

    @span("simdoc_search.version_families")
    def version_families(
        self,
        *,
        bits: int | None = None,
        enough: float | None = None,
        least: float | None = None,
        min_score: float | None = None,
        filters: Filters | None = None,
        progress: GroupProgress = lambda _stage, _share: None,
    ) -> Families:
        """The families of versions of the whole collection, in linear time.

        Two documents are versions as for `versions`. They are in one family if a chain of versions connects them. The
        sentences are those of the index, or of the texts, which takes longer.

        Args:
            bits: what makes versions, as for `versions`; what is not given is what the index stores.
            enough: likewise.
            least: likewise.
            min_score: likewise.
            filters: only documents with these fields, as for `similar`.
            progress: called with what is done now, and the share of it, 0..1.

        Returns:
            The counts, and what was left out; `families()` and `edges()` are iterators, `ordered` puts a family in its
            order.

        Raises:
            QuerySyntaxError: an argument or the filters are not what they can be.
            UnknownFieldError: there are no documents, and none has the field of a filter.
            StoreError: the store has neither sentences nor texts, or cannot be read.
            MissingExtraError: what finds sentences is not installed, and is needed.
        """
        conditions(filters)
        stored = self.store.settings.limits
        limits = asked_limits(stored, bits=bits, enough=enough, least=least, min_score=min_score)
        found = find_families(self.store, limits, filters, progress)
        self._check_field(found.documents, filters)
        return found

    @span("simdoc_search.topics")
    def topics(
        self,
        *,
        bits: int | None = None,
        enough: float | None = None,
        least: float | None = None,
        min_score: float | None = None,
        filters: Filters | None = None,
        progress: GroupProgress = lambda _stage, _share: None,
    ) -> Topics:
        """The groups of related documents of the whole collection, in linear time.

        Two documents are related as for `related`. All documents of a group are related to one of them, its centre.

        Args:
            bits: what makes versions, as for `versions`; what is not given is what the index stores.
            enough: likewise.
            least: likewise.
            min_score: the score that a pair must have, 0..1.
            filters: only documents with these fields, as for `similar`.
            progress: called with what is done now, and the share of it, 0..1.

        Returns:
            The counts, and what was left out; `topics()` and `edges()` are iterators, `named` says what a topic is.

        Raises:
            QuerySyntaxError: an argument or the filters are not what they can be.
            UnknownFieldError: there are no documents, and none has the field of a filter.
            FormatMismatchError: the store was made without concepts.
            StoreError: the store cannot be read.
        """
        conditions(filters)
        if self.store.settings.concepts is None:
            self.store.frequencies(no_passages())  # says so
        stored = self.store.settings.limits
        limits = asked_limits(stored, bits=bits, enough=enough, least=least, min_score=min_score)
        found = find_topics(self.store, limits, filters, progress)
        self._check_field(found.documents, filters)
        return found

    def ordered(self, family: FamilyMembers, *, version_control: bool = True) -> VersionFamily:
        """A family in the order that its evidence says, see `versions`. Its texts are not compared.

        Args:
            family: one of `version_families().families()`.
            version_control: as for `versions`.
        """
        return in_order(self.store, family, version_control=version_control)

    def named(
        self, topic: Topic, *, extractor: Extractor | None = None, synonyms: Synonyms | None = None
    ) -> tuple[str, ...]:
        """What the documents of a topic are about: the concepts of its centre that most others share.

        Args:
            topic: one of `topics().topics()`.
            extractor: what found the concepts; None: the shipped one that the store was made with.
            synonyms: those that the store was made with.

        Returns:
            The most telling ones first; none if the text of the centre is not stored, or what finds concepts is not
            installed.

        Raises:
            FormatMismatchError: an extractor, or synonyms, were given and are not those of the store.
        """
        found = read_records(self.store, [topic.centre]).get(topic.centre)
        if found is None:
            return ()
        source = related_source.source_of_record(
            whole_record(self.store, found), self.store.settings, extractor, synonyms
        )
        try:
            names = source.names()
        except SimdocError:
            return ()
        return names.shared(set(topic.concepts), topic.concepts)

    def _check_field(self, documents: int, filters: Filters | None) -> None:
        if not documents and (error := unknown_field(self.store, filters)):
            raise error
