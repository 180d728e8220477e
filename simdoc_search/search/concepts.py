"""Implements `concepts`, which returns the concepts of a stored document with their weights and names."""

from __future__ import annotations

from dataclasses import dataclass

from simdoc_search.display import format_count
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import SimdocError
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.related_concepts import UNNAMED_WORD, NamedWord, QueryConcepts
from simdoc_search.stores.base import Store
from simdoc_search.versions.idf import ConceptWeights


@dataclass(frozen=True, slots=True)
class ConceptWord:
    """A word that occurs in the concepts of a document.

    Attributes:
        word: the normalised word. A synonym is replaced with the word that it stands for. If only
            the hash of the word is known, `word` is empty.
        weight: 0..1. It is 1 if only one document in the index has the word, and close to 0 if all documents have it.
        document_count: number of documents in the index that have the word.
        occurrence_count: number of times that the word occurs in this document.
        concepts: concepts of this document that contain the word, by descending frequency.
        synonyms: words of this document that are synonyms of the word.
    """

    word: str
    weight: float
    document_count: int
    occurrence_count: int
    concepts: tuple[str, ...]
    synonyms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConceptsResult:
    """The concepts of a document.

    Attributes:
        key: the id of the document, and its index and routing in an engine.
        words: the words that occur in the concepts of the document, by descending weight, then by descending
            frequency.
        paragraph_count: number of paragraphs of the document that have concepts.
        document_count: number of documents in the index that have concepts.
        unknown_words_reason: the reason why some words are not known; empty if all words are known.
    """

    key: DocumentKey
    words: tuple[ConceptWord, ...]
    paragraph_count: int
    document_count: int
    unknown_words_reason: str = ""


def list_concepts(store: Store, document: QueryDocument, concepts: QueryConcepts) -> ConceptsResult:
    """Return the concepts of a stored document."""
    weights = ConceptWeights(concepts.paragraphs, store.concept_frequencies, is_stored=True)
    named_words: dict[int, NamedWord] = {}
    unknown_words_reason = ""
    try:
        named_concepts = concepts.load_names()
    except SimdocError as error:
        unknown_words_reason = str(error)
    else:
        named_words = named_concepts.words
        settings = store.settings.concepts
        if settings is not None and settings.synonyms_checksum and named_concepts.extractor.synonyms is None:
            unknown_words_reason = (
                "the index stores synonyms only as hashes, not as words; give the synonyms that the index was created "
                "with"
            )
    document_concepts = concepts.paragraphs.as_one_paragraph()
    weights_by_token_id, frequencies = weights.weights_by_token_id(), weights.frequencies_by_token_id()
    words_of_document = [
        ConceptWord(
            named.word, weights_by_token_id[token_id], frequencies[token_id], times, named.concepts, named.synonyms
        )
        for token_id, times in zip(
            document_concepts.token_ids.tolist(), document_concepts.frequencies.tolist(), strict=True
        )
        for named in [named_words.get(token_id, UNNAMED_WORD)]
    ]
    words_of_document.sort(key=lambda word: (-word.weight, -word.occurrence_count, word.word))
    unnamed_count = sum(not word.word for word in words_of_document)
    if unnamed_count and not unknown_words_reason:
        unknown_words_reason = (
            f"{format_count(unnamed_count, 'word')} cannot be shown, because the text has changed since it was indexed"
        )
    paragraphs = concepts.paragraphs.paragraph_count
    return ConceptsResult(
        document.record.key, tuple(words_of_document), paragraphs, weights.document_count, unknown_words_reason
    )
