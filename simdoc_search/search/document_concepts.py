"""Which concepts does a document have, what does each weigh, and which words of it led to them?"""

from __future__ import annotations

from dataclasses import dataclass

from simdoc_search.display import counted
from simdoc_search.documents import Place
from simdoc_search.errors import SimdocError
from simdoc_search.search.related_names import UNNAMED, NamedWord
from simdoc_search.search.related_source import RelatedSource
from simdoc_search.stores.base import Store
from simdoc_search.versions.idf import Telling


@dataclass(frozen=True, slots=True)
class DocumentConcept:
    """A word of the concepts of a document, as the index has it.

    Attributes:
        word: the normalised word, or the one that it counts as by the synonyms; empty if it cannot be named.
        weight: 1 if a single document of the index has it, near 0 if all have it.
        documents: how many documents of the index have it.
        times: how often this document has it.
        names: the concepts of the document that have the word, the most frequent first.
        synonyms: the words of the document that count as it, and are others.
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
        source: the id of the document.
        place: where it is.
        concepts: those of most weight first, then the most frequent ones.
        paragraphs: how many paragraphs of it have any.
        documents: how many documents of the index have concepts.
        unnamed: why some of them are not named; empty: all are.
    """

    source: str
    place: Place | None
    concepts: tuple[DocumentConcept, ...]
    paragraphs: int
    documents: int
    unnamed: str = ""


def concepts_of(store: Store, source: RelatedSource) -> ConceptsResult:
    """The concepts of a stored document."""
    telling = Telling(source.concepts, store.frequencies, stored=True)
    words: dict[int, NamedWord] = {}
    try:
        names = source.names()
    except SimdocError as error:
        unnamed = str(error)
    else:
        words = names.words
        settings = store.settings.concepts
        is_partial = settings is not None and settings.synonyms and names.extractor.synonyms is None
        unnamed = "words that count as others are not named, as the synonyms of the index are not given"
        unnamed = unnamed if is_partial else ""
    whole = source.concepts.whole()
    weights, counts = telling.weights(), telling.counts()
    found = [
        DocumentConcept(named.word, weights[code], counts[code], times, named.names, named.synonyms)
        for code, times in zip(whole.codes.tolist(), whole.times.tolist(), strict=True)
        for named in [words.get(code, UNNAMED)]
    ]
    found.sort(key=lambda each: (-each.weight, -each.times, each.word))
    missing = sum(not each.word for each in found)
    if missing and not unnamed:
        unnamed = f"{counted(missing, 'word')} cannot be named, as the text has changed since indexing"
    return ConceptsResult(source.name, source.place, tuple(found), source.concepts.count, telling.documents, unnamed)
