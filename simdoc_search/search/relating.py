"""What is asked of one document: which are about the same, and which concepts does it have?"""

from __future__ import annotations

from collections.abc import Sequence

from simdoc_search.concepts import Extractor, Synonyms
from simdoc_search.documents import Place
from simdoc_search.search.document_concepts import ConceptsResult, concepts_of
from simdoc_search.search.options import asked_limits
from simdoc_search.search.related import RelatedOptions, related_to
from simdoc_search.search.related_result import RelatedResult
from simdoc_search.search.related_source import source_of_record, source_of_text
from simdoc_search.search.resolving import Question, check_one_is_given
from simdoc_search.search.texts import asked_record
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import no_passages
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.tracing import span

__all__ = ["Relating"]


class Relating:
    """The part of a search that finds documents about the same."""

    store: Store

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
        options = RelatedOptions(size, filters, exclude, offset, fields, limits, explain, name_concepts)
        if text is not None:
            source = source_of_text(text, settings, name, extractor, synonyms)
        else:
            record = asked_record(self.store, query or "", source_filters)
            source = source_of_record(record, settings, extractor, synonyms)
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
        return concepts_of(self.store, source_of_record(record, settings, extractor, synonyms))

    def _settings_with_concepts(self) -> Settings:
        """The settings of the store. Raises FormatMismatchError if it has no concepts."""
        if self.store.settings.concepts is None:
            self.store.frequencies(no_passages())  # says so
        return self.store.settings
