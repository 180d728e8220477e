"""The query document: a stored document, or a text that need not be stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from simdoc_search.analysis.words import WordPositions
from simdoc_search.documents import DocumentKey, MetadataValue
from simdoc_search.errors import NoFingerprintError, NoTextError
from simdoc_search.passages.bibliography import find_bibliography
from simdoc_search.passages.disguise import locate_shown_words, undo_disguise
from simdoc_search.passages.exact_overlap import Measures
from simdoc_search.passages.ignored_words import find_ignored_words, remove_words_from_text
from simdoc_search.passages.passage import Span
from simdoc_search.passages.quotations import find_quotations
from simdoc_search.passages.typography import list_typographic_variants
from simdoc_search.passages.word_spans import Mask, empty_mask
from simdoc_search.search.stored_texts import AnalysedText
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprint, shingle_token_ids
from simdoc_search.sketch.sentences import decode_simhashes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.sketch.tokens import TokenIds, empty_token_ids, unite_token_ids
from simdoc_search.stores.record import Record
from simdoc_search.stores.sentences_and_concepts import compute_sentence_simhashes

MAX_QUERY_SHINGLES = 1_000
"""A text with up to this many shingles is queried by the hashes of all its shingles.

A longer text is queried by its passage tokens, which are the hashes that winnowing selects.
"""


@dataclass(frozen=True, eq=False)
class QueryDocument:
    """The document or text of a query. Its properties are computed when they are first used."""

    record: Record  # with its text; if the query is a text, only the id, text and metadata are set
    settings: Settings  # of the store
    is_stored: bool = True  # otherwise it is a text
    ignored_texts: Sequence[WordPositions] = ()  # passages that occur in these texts are ignored
    ignore_quotes: bool = False
    ignore_bibliography: bool = False
    reads_as_shown: bool = False  # whether its words are those that a reader sees; see `read_as_shown`

    @classmethod
    def from_text(
        cls, text: str, settings: Settings, name: str = "", metadata: Mapping[str, MetadataValue] | None = None
    ) -> QueryDocument:
        """Return the query document for a text, which need not be stored."""
        return cls(Record(name, empty_token_ids(), 0, "", metadata or {}, text), settings, is_stored=False)

    @property
    def name(self) -> str:
        """The id of a stored document, or the name of a text; empty for a text without a name."""
        return self.record.id

    @property
    def description(self) -> str:
        """The description of the document in messages."""
        return f"the document {self.name!r}" if self.is_stored else self.name or "the text"

    @property
    def key(self) -> DocumentKey | None:
        """The key of a stored document."""
        return self.record.key if self.is_stored else None

    @property
    def text(self) -> str | None:
        """The text; None if it is not stored."""
        return self.record.text

    @cached_property
    def analysed_text(self) -> AnalysedText | None:
        """The text with its words; None if the text is not stored."""
        if self.text is None:
            return None
        if self.reads_as_shown:
            return AnalysedText(self.text, locate_shown_words(self.text, self.settings.analysis))
        return AnalysedText.from_text(self.text, self.settings.analysis)

    def list_variants(self, text: str) -> list[str]:
        """Return the ways to write a text of the document that other documents may contain, without disguise first."""
        if not self.reads_as_shown:
            return [text]
        return list(dict.fromkeys([*list_typographic_variants(undo_disguise(text)), text]))

    @cached_property
    def ignored_word_mask(self) -> Mask:
        """Whether each word of the text is ignored; bool, shape (words,).

        Raises:
            NoTextError: there are words to ignore, but the text is not stored.
        """
        ignores_words = self.ignored_texts or self.ignore_quotes or self.ignore_bibliography
        if self.analysed_text is None:
            if ignores_words:
                raise NoTextError(self.name)
            return empty_mask()
        if not ignores_words:
            return empty_mask(len(self.analysed_text.words.words))
        spans = find_quotations(self.analysed_text.text) if self.ignore_quotes else []
        if self.bibliography_span:
            spans.append(self.bibliography_span)
        return find_ignored_words(self.analysed_text.words, self.ignored_texts, spans)

    @cached_property
    def bibliography_span(self) -> Span | None:
        """The span of the bibliography; None if it is not ignored or not found."""
        return find_bibliography(self.text) if self.ignore_bibliography and self.text is not None else None

    @cached_property
    def word_count(self) -> int:
        """The number of words that are not ignored. If the text is not stored, it is a lower bound."""
        if self.analysed_text is not None:
            return int((~self.ignored_word_mask).sum())
        return min_word_count(self.record.shingle_count, self.settings)

    @cached_property
    def _unignored_variants(self) -> list[str]:
        """The variants of the text without its ignored words; empty if the text is not stored."""
        if self.text is None or self.analysed_text is None:
            return []
        if not self.ignored_word_mask.any():
            return self.list_variants(self.text)
        return self.list_variants(remove_words_from_text(self.text, self.analysed_text.words, self.ignored_word_mask))

    @cached_property
    def _fingerprint(self) -> Fingerprint | None:
        """The fingerprint of the text without its ignored words; None if the text is not stored."""
        return self._compute_fingerprint(self._unignored_variants[0]) if self._unignored_variants else None

    def _compute_fingerprint(self, text: str) -> Fingerprint:
        return fingerprint(text, self.settings.analysis, self.settings.sketch, passages=self.settings.passages)

    @cached_property
    def shingle_count(self) -> int:
        """The number of distinct shingles."""
        return self.record.shingle_count if self._fingerprint is None else self._fingerprint.shingle_count

    @cached_property
    def fingerprint_record(self) -> Record:
        """The record with the fingerprint tokens of the text."""
        text_fingerprint, settings = self._fingerprint, self.settings
        if text_fingerprint is None:
            return self.record
        token_ids, terms = settings.token_ids_and_terms(text_fingerprint)
        is_short = not len(token_ids) and not settings.analysis.short_texts
        fault = f"has fewer than {settings.analysis.shingle_size} words" if is_short else ""
        id = self.name if self.is_stored else ""
        return Record(id, token_ids, text_fingerprint.shingle_count, "", text=self.text, fault=fault, terms=terms)

    @cached_property
    def passage_tokens(self) -> TokenIds:
        """The passage tokens: the hashes of shingles that winnowing selects."""
        return self.record.passages if self._fingerprint is None else self._fingerprint.passages

    @cached_property
    def passage_tokens_to_query(self) -> TokenIds:
        """The tokens to query: the hashes of all shingles of all variants of the text.

        If there are over `MAX_QUERY_SHINGLES`, or if the text is not stored, they are the passage tokens.
        """
        texts, settings = self._unignored_variants, self.settings
        if self.shingle_count > MAX_QUERY_SHINGLES or not texts:
            others = (self._compute_fingerprint(text).passages for text in texts[1:])
            return reduce(unite_token_ids, others, self.passage_tokens)
        return reduce(unite_token_ids, (shingle_token_ids(text, settings.analysis, settings.sketch) for text in texts))

    def check_has_passages(self) -> None:
        """Raise a NoFingerprintError if the document has no words, or is stored without text and passage tokens."""
        if self.text is None and not len(self.passage_tokens):
            raise NoFingerprintError(
                f"{self.description} is stored without its text and without its passages, so shared passages cannot be "
                "found; index the document again"
            )
        if self.text is not None and not self.shingle_count:
            raise NoFingerprintError(f"{self.description} has no words, so nothing can share a passage with it")

    @cached_property
    def sentence_simhashes(self) -> Simhashes:
        """The simhashes of the sentences. If the store does not have them, they are computed from the text.

        Raises:
            MissingExtraError: the text must be split into sentences, and sentencex is not installed.
        """
        if self.text is not None and (not self.is_stored or self.settings.sentences is None):
            return compute_sentence_simhashes(self.text, self.settings.analysis)
        return decode_simhashes(self.record.sentences)


def min_word_count(shingle_count: int, settings: Settings) -> int:
    """Return the minimum number of words of a text with this number of distinct shingles."""
    return shingle_count + settings.analysis.shingle_size - 1 if shingle_count else 0


def estimate_similarity(document: QueryDocument, record: Record) -> Measures:
    """Estimate the similarity of two documents from their passage tokens, which are a sample of their shingles."""
    shared = count_common(document.passage_tokens, record.passages)
    query_count, record_count = len(document.passage_tokens), len(record.passages)
    jaccard, containment, reverse_containment = (
        shared / count if count else 0.0 for count in (query_count + record_count - shared, query_count, record_count)
    )
    return Measures(jaccard, containment, reverse_containment, (jaccard, containment, reverse_containment))
