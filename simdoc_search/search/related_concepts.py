"""The concepts of the query document: as numbers, and by name.

Stored concepts are numbers. The names of shared concepts come from the text of the query document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from simdoc_search.concepts import Extractor, Synonyms, codes_of_names, extractor_of_settings
from simdoc_search.errors import FormatMismatchError, NoFingerprintError, SimdocError
from simdoc_search.search.query_document import QueryDocument
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
        text_extractor = _checked_extractor(settings, extractor, synonyms)
        paragraphs = text_extractor.try_concepts(document.text or "")
        if paragraphs is None:
            raise NoFingerprintError(
                f"{text_extractor.settings.extractor} failed on {document.title}, so it has no concepts"
            )
        concepts = QueryConcepts(
            paragraphs_of(text_extractor.codes_of(paragraphs)), partial(NamedConcepts, paragraphs, text_extractor)
        )
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
    extractor = extractor or extractor_of_settings(replace(settings, synonyms=""))
    return NamedConcepts(extractor.concepts(document.text), extractor)


def _checked_extractor(settings: Concepts, extractor: Extractor | None, synonyms: Synonyms | None) -> Extractor:
    if extractor is None:
        return extractor_of_settings(settings, synonyms)
    if extractor.settings != settings:
        raise FormatMismatchError(
            f"the store has concepts of {settings}, and the extractor finds {extractor.settings}; give the one it was "
            "made with",
            settings,
            extractor.settings,
        )
    return extractor


class NamedWord(NamedTuple):
    """A word of concepts, as it is stored.

    Attributes:
        word: the normalised word; for a synonym, the word that it counts as.
        names: concepts of the text with this word, the most frequent first.
        synonyms: other words of the text that count as this word.
    """

    word: str
    names: tuple[str, ...]
    synonyms: tuple[str, ...]


UNNAMED = NamedWord("", (), ())


class NamedConcepts:
    """The concepts of a text by name and by number.

    Args:
        paragraphs: the concepts of each paragraph, by name.
        extractor: their extractor.

    Attributes:
        words: the words of the concepts, by number.
        extractor: the extractor.
    """

    def __init__(self, paragraphs: Sequence[Counter[str]], extractor: Extractor) -> None:
        self.words: dict[int, NamedWord] = named_words(paragraphs, extractor)
        self.extractor: Extractor = extractor
        names = _by_frequency(paragraphs)
        parts = [name.split() for name in names]
        codes = _codes(extractor, names)
        codes_of_parts = iter(_codes(extractor, [part for words in parts for part in words]))
        self._names = [
            (name, whole, [(part, next(codes_of_parts)) for part in words])
            for name, whole, words in zip(names, codes, parts, strict=True)
        ]

    def shared(self, codes: Set[int], weights: Mapping[int, float]) -> tuple[str, ...]:
        """Return the names of the concepts that another document has, greatest weight first.

        A concept of which the other document has only some words is named by these words.

        Args:
            codes: the concepts of the other document.
            weights: weight of each concept of the text.
        """
        codes_by_name = {name: shared for name, shared in self._shared(codes) if shared}
        ranked = sorted(
            codes_by_name, key=lambda name: (-sum(weights.get(code, 0.0) for code in codes_by_name[name]), name)
        )
        kept: list[str] = []
        for name in ranked:  # the parts of a name come after it
            if not any(codes_by_name[name] <= codes_by_name[other] for other in kept):
                kept.append(name)
        return tuple(kept)

    def _shared(self, codes: Set[int]) -> Iterator[tuple[str, frozenset[int]]]:
        for name, whole, parts in self._names:
            if whole and whole <= codes:
                yield name, whole
            else:
                yield from _runs(parts, codes)


def _runs(parts: Sequence[tuple[str, frozenset[int]]], codes: Set[int]) -> Iterator[tuple[str, frozenset[int]]]:
    """Yield the longest runs of words that the other document has. Common words have no code and end no run."""
    run: list[tuple[str, frozenset[int]]] = []
    for word, word_codes in (*parts, ("", frozenset({-1}))):
        if word_codes <= codes and (word_codes or run):
            run.append((word, word_codes))
            continue
        while run and not run[-1][1]:
            run.pop()
        yield " ".join(word for word, _ in run), frozenset().union(*(word_codes for _, word_codes in run))
        run = []


def _codes(extractor: Extractor, names: Sequence[str]) -> list[frozenset[int]]:
    """Return the numbers of the words of each name."""
    words_of_names = extractor.words(names)
    vocabulary = list(dict.fromkeys(chain.from_iterable(words_of_names)))
    numbers = dict(zip(vocabulary, codes_of_names(vocabulary).tolist(), strict=True))
    return [frozenset(numbers[word] for word in words) for words in words_of_names]


def named_words(paragraphs: Sequence[Counter[str]], extractor: Extractor) -> dict[int, NamedWord]:
    """Return the words of the concepts of a text by their numbers."""
    names_with: dict[str, dict[str, None]] = {}
    synonyms: dict[str, dict[str, None]] = {}
    names = _by_frequency(paragraphs)
    for name, words in zip(names, extractor.words_and_synonyms(names), strict=True):
        for word, synonym in words:
            names_with.setdefault(word, {})[name] = None
            if synonym:
                synonyms.setdefault(word, {})[synonym] = None
    codes = codes_of_names(list(names_with)).tolist()
    return {
        code: NamedWord(word, tuple(names), tuple(synonyms.get(word, ())))
        for code, (word, names) in zip(codes, names_with.items(), strict=True)
    }


def _by_frequency(paragraphs: Sequence[Counter[str]]) -> list[str]:
    return [name for name, _ in sum(paragraphs, Counter[str]()).most_common()]
