"""What is asked of one document: which are versions of it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from simdoc_search.documents import MetadataValue, Place
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.search.options import asked_limits
from simdoc_search.search.resolving import Question, check_one_is_given
from simdoc_search.search.texts import asked_record
from simdoc_search.search.version_source import source_of_record, source_of_text
from simdoc_search.search.versions import VersionOptions, versions_of
from simdoc_search.search.versions_result import VersionsResult
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.tracing import span

__all__ = ["Versioning"]


class Versioning:
    """The part of a search that finds versions."""

    store: Store

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
        sentences of a document are looked for, see `versions.asking` and `sketch.sentences.asked_codes`. In any other
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
        options = VersionOptions(size, limits, filters, exclude, version_control, offset, fields)
        if text is not None:
            source = source_of_text(text, self.store.settings, str(file or ""), metadata or {})
        else:
            record = asked_record(self.store, query or "", source_filters)
            source = source_of_record(self.store, record, version_control=version_control)
        return versions_of(self.store, source, options)
