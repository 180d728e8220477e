"""What is asked of one document: who shares passages with it, and which?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from simdoc_search.documents import Document, Place
from simdoc_search.errors import NoTextError, SimdocError
from simdoc_search.passages.align import Alignment, Preset
from simdoc_search.passages.highlight import Highlights, highlight
from simdoc_search.search.passage_result import PassageResult
from simdoc_search.search.resolving import Question, check_one_is_given
from simdoc_search.search.sharing import PassageOptions, passage_answers
from simdoc_search.search.texts import asked_record
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.tracing import span

__all__ = ["Quoting"]


class Quoting:
    """The part of a search that finds shared passages."""

    store: Store

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
            *(size, min_words, preset, filters, exclude, offset, fields, source_filters),
            *(compare_all, ignore, ignore_quotes),
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
            *(size, min_words, preset, filters, None, offset, fields, source_filters),
            *(compare_all, ignore, ignore_quotes),
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
