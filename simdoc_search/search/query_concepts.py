"""The concepts of the query document, as numbers and by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from simdoc_search.concepts import Extractor, Synonyms, extractor_of
from simdoc_search.errors import FormatMismatchError, NoFingerprintError, SimdocError
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.related_names import NamedConcepts
from simdoc_search.sketch.concepts import Concepts, Paragraphs, paragraphs_of


@dataclass(frozen=True, slots=True)
class QueryConcepts:
    """The concepts of the query document.

    Attributes:
        paragraphs: its concepts as numbers.
        names: returns their names, or raises a SimdocError that says why there are none.
    """

    paragraphs: Paragraphs
    names: Callable[[], NamedConcepts]


def query_concepts(document: QueryDocument, extractor: Extractor | None, synonyms: Synonyms | None) -> QueryConcepts:
    """Return the concepts of a document or text.

    Args:
        document: the document; if it is stored, with its text and its concepts.
        extractor: extractor of the concepts; None: the built-in one that the store was made with.
        synonyms: synonyms that the store was made with. A stored document does not need them.

    Raises:
        NoFingerprintError: it has no concepts.
        FormatMismatchError: the extractor or the synonyms are not those of the store.
        MissingExtraError: the extractor of a text is not installed.
    """
    settings = document.settings.concepts or Concepts()
    if not document.is_stored:
        own = _checked_extractor(settings, extractor, synonyms)
        paragraphs = own.found(document.text or "")
        if paragraphs is None:
            raise NoFingerprintError(f"{own.settings.extractor} failed on {document.title}, so it has no concepts")
        concepts = QueryConcepts(paragraphs_of(own.codes_of(paragraphs)), partial(NamedConcepts, paragraphs, own))
    else:
        given = _checked_extractor(settings, extractor, synonyms) if extractor or synonyms else None
        names = partial(_names_of_text, document, settings, given)
        concepts = QueryConcepts(paragraphs_of(document.record.concepts), names)
    if not concepts.paragraphs.count:
        raise NoFingerprintError(f"{document.title} has no concepts, so nothing is related to it; ask for its versions")
    return concepts


def _names_of_text(document: QueryDocument, settings: Concepts, extractor: Extractor | None) -> NamedConcepts:
    if document.text is None:
        raise SimdocError("the store does not have the texts")
    # Without the synonyms, everything but synonyms can be named.
    extractor = extractor or extractor_of(replace(settings, synonyms=""))
    return NamedConcepts(extractor.concepts(document.text), extractor)


def _checked_extractor(settings: Concepts, extractor: Extractor | None, synonyms: Synonyms | None) -> Extractor:
    if extractor is None:
        return extractor_of(settings, synonyms)
    if extractor.settings != settings:
        raise FormatMismatchError(
            f"the store has concepts of {settings}, and the extractor finds {extractor.settings}; give the one it was "
            "made with",
            settings,
            extractor.settings,
        )
    return extractor
