"""Answers `concepts`: the concepts of a stored document, with their weights and names."""

from __future__ import annotations

from dataclasses import dataclass

from simdoc_search.display import counted
from simdoc_search.documents import Place
from simdoc_search.errors import SimdocError
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.related_concepts import UNNAMED, NamedWord, QueryConcepts
from simdoc_search.stores.base import Store
from simdoc_search.versions.idf import ConceptWeights


@dataclass(frozen=True, slots=True)
class DocumentConcept:
    """A word of the concepts of a document.

    Attributes:
        word: the normalised word, or the word that it counts as by the synonyms; empty if it has no known name.
        weight: 1 if only one document of the index has it, near 0 if all have it.
        documents: number of documents in the index that have it.
        times: how often this document has it.
        names: the document's concepts with this word, the most frequent first.
        synonyms: other words of the document that count as this word.
    """

    word: str
    weight: float
    documents: int
    times: int
    names: tuple[str, ...]
    synonyms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConceptsResult:
    """The concepts of a document.

    Attributes:
        source: id of the document.
        place: place of the document.
        concepts: the concepts, greatest weight first, then the most frequent ones.
        paragraphs: number of its paragraphs that have concepts.
        documents: number of documents in the index that have concepts.
        unnamed: why some concepts have no name; empty if all have one.
    """

    source: str
    place: Place | None
    concepts: tuple[DocumentConcept, ...]
    paragraphs: int
    documents: int
    unnamed: str = ""


def concepts_of(store: Store, document: QueryDocument, concepts: QueryConcepts) -> ConceptsResult:
    """Return the concepts of a stored document."""
    weights = ConceptWeights(concepts.paragraphs, store.concept_frequencies, is_stored=True)
    words: dict[int, NamedWord] = {}
    unnamed = ""
    try:
        names = concepts.names()
    except SimdocError as error:
        unnamed = str(error)
    else:
        words = names.words
        settings = store.settings.concepts
        if settings is not None and settings.synonyms and names.extractor.synonyms is None:
            unnamed = "words that count as others are not named, as the synonyms of the index are not given"
    whole = concepts.paragraphs.as_one_paragraph()
    by_code, frequencies = weights.weights_by_code(), weights.frequencies()
    own_concepts = [
        DocumentConcept(named.word, by_code[code], frequencies[code], times, named.names, named.synonyms)
        for code, times in zip(whole.codes.tolist(), whole.frequencies.tolist(), strict=True)
        for named in [words.get(code, UNNAMED)]
    ]
    own_concepts.sort(key=lambda concept: (-concept.weight, -concept.times, concept.word))
    missing = sum(not concept.word for concept in own_concepts)
    if missing and not unnamed:
        unnamed = f"{counted(missing, 'word')} cannot be named, as the text has changed since indexing"
    paragraphs = concepts.paragraphs.count
    return ConceptsResult(document.name, document.place, tuple(own_concepts), paragraphs, weights.documents, unnamed)
