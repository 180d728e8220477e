"""The document or text to which related ones are looked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from simdoc_search.concepts import Extractor, Synonyms, extractor_of
from simdoc_search.documents import Place
from simdoc_search.errors import FormatMismatchError, NoFingerprintError, SimdocError
from simdoc_search.search.related_names import NamedConcepts
from simdoc_search.sketch.concepts import Concepts, Paragraphs, paragraphs_of
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.sketch.winnow import Codes, no_passages
from simdoc_search.stores.record import Record
from simdoc_search.stores.sketching import sentences_in


@dataclass(frozen=True, slots=True)
class RelatedSource:
    """The document or text to which related ones are looked for.

    Attributes:
        name: what a person calls it: an id, a path, or nothing of a text without one.
        place: where it is stored; None: it is not.
        concepts: its concepts.
        sentences: the simhashes of its sentences; none where the store has none.
        names: makes the names of its concepts, or raises a SimdocError that says why there are none.
    """

    name: str
    place: Place | None
    concepts: Paragraphs
    sentences: Simhashes
    names: Callable[[], NamedConcepts]


def source_of_text(
    text: str, settings: Settings, name: str, extractor: Extractor | None, synonyms: Synonyms | None
) -> RelatedSource:
    """A text that need not be stored.

    Raises:
        NoFingerprintError: it has no concepts.
        FormatMismatchError: the extractor, or the synonyms, are not those of the store.
        MissingExtraError: what finds concepts, or sentences, is not installed.
    """
    finding = _extractor(settings.concepts or Concepts(), extractor, synonyms)
    found = finding.try_concepts(text)
    shown = name or "the text"
    if found is None:
        raise NoFingerprintError(f"{finding.settings.extractor} failed on {shown}, so its concepts are not known")
    concepts = _with_concepts(finding.codes_of(found), shown)
    return RelatedSource(name, None, concepts, _sentences(text, settings), lambda: NamedConcepts(found, finding))


def source_of_record(
    record: Record, settings: Settings, extractor: Extractor | None, synonyms: Synonyms | None
) -> RelatedSource:
    """A stored document, read with its text, its concepts and its sentences.

    Raises:
        NoFingerprintError: it has no concepts.
        FormatMismatchError: an extractor, or synonyms, were given and are not those of the store.
    """
    concepts = settings.concepts or Concepts()
    if extractor or synonyms:
        extractor = _extractor(concepts, extractor, synonyms)

    def names() -> NamedConcepts:
        if record.text is None:
            raise SimdocError("the store does not have the texts")
        # Without the synonyms it can name all that is no synonym.
        finding = extractor or extractor_of(replace(concepts, synonyms=""))
        return NamedConcepts(finding.concepts(record.text), finding)

    found = _with_concepts(record.concepts, f"the document {record.id!r}")
    return RelatedSource(record.id, record.place, found, sentences_of_codes(record.sentences), names)


def _sentences(text: str, settings: Settings) -> Simhashes:
    if settings.sentences is None:
        return sentences_of_codes(no_passages())
    return sentences_in(text, settings.analysis)


def _with_concepts(codes: Codes, shown: str) -> Paragraphs:
    found = paragraphs_of(codes)
    if not found.count:
        raise NoFingerprintError(f"{shown} has no concepts, so nothing is related to it; ask for its versions")
    return found


def _extractor(settings: Concepts, given: Extractor | None, synonyms: Synonyms | None) -> Extractor:
    if given is None:
        return extractor_of(settings, synonyms)
    if given.settings != settings:
        raise FormatMismatchError(
            f"the store has concepts of {settings}, and the extractor finds {given.settings}; give the one it was "
            "made with",
            settings,
            given.settings,
        )
    return given
