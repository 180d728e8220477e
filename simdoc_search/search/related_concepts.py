"""Finds the concepts of the query document and their names.

A store contains concepts as token ids, which are hashes of words. So the names of shared concepts come from the text of
the query document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from simdoc_search.concepts import Extractor, Synonyms, extractor_from_settings, hash_words
from simdoc_search.errors import FormatMismatchError, NoFingerprintError, SimdocError
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.sketch.concepts import ConceptSettings, ParagraphConcepts, decode_paragraph_concepts


@dataclass(frozen=True, slots=True)
class QueryConcepts:
    """The concepts of the query document."""

    paragraphs: ParagraphConcepts  # the concepts of each paragraph, as token ids
    load_names: Callable[[], NamedConcepts]  # raises a SimdocError if the concepts cannot be named


def extract_query_concepts(
    document: QueryDocument, extractor: Extractor | None, synonyms: Synonyms | None
) -> QueryConcepts:
    """Return the concepts of a document or text.

    Without an `extractor`, the built-in one that the store was created with is used. For a stored document, the
    `synonyms` help only to name concepts.

    Raises:
        NoFingerprintError: the document has no concepts.
        FormatMismatchError: the extractor or the synonyms differ from those that the store was created with.
        MissingExtraError: the built-in extractor is not installed. A stored document needs it only with `synonyms`.
    """
    settings = document.settings.concepts or ConceptSettings()
    if not document.is_stored:
        text_extractor = _select_extractor(settings, extractor, synonyms)
        paragraphs = text_extractor.try_concepts(document.text or "")
        if paragraphs is None:
            raise NoFingerprintError(
                f"the extractor {text_extractor.settings.extractor} failed, so the concepts of "
                f"{document.description} are unknown"
            )
        concepts = QueryConcepts(
            decode_paragraph_concepts(text_extractor.encode_concepts(paragraphs)),
            partial(NamedConcepts, paragraphs, text_extractor),
        )
    else:
        given_extractor = _select_extractor(settings, extractor, synonyms) if extractor or synonyms else None
        names = partial(_name_concepts, document, settings, given_extractor)
        concepts = QueryConcepts(decode_paragraph_concepts(document.record.concepts), names)
    if not concepts.paragraphs.paragraph_count:
        raise NoFingerprintError(
            f"{document.description} has no concepts, so related documents cannot be found; use "
            "`simdoc-search versions` instead"
        )
    return concepts


def _name_concepts(document: QueryDocument, settings: ConceptSettings, extractor: Extractor | None) -> NamedConcepts:
    if document.text is None:
        raise SimdocError("the index does not keep texts")
    # The synonyms file is needed only to name concepts that contain a synonym.
    extractor = extractor or extractor_from_settings(replace(settings, synonyms_checksum=""))
    return NamedConcepts(extractor.concepts(document.text), extractor)


def _select_extractor(settings: ConceptSettings, extractor: Extractor | None, synonyms: Synonyms | None) -> Extractor:
    if extractor is None:
        return extractor_from_settings(settings, synonyms)
    if extractor.settings != settings:
        raise FormatMismatchError(
            f"the concept settings of the index are {settings}, but those of the extractor are {extractor.settings}; "
            "pass the extractor and the synonyms that the index was created with",
            settings,
            extractor.settings,
        )
    return extractor


class NamedWord(NamedTuple):
    """A normalised word that occurs in concepts. The store contains only its token id."""

    word: str  # a synonym is replaced with the word that it stands for
    concepts: tuple[str, ...]  # the concepts of the text that contain the word, by descending frequency
    synonyms: tuple[str, ...]  # the words of the text that are synonyms of the word


UNNAMED_WORD = NamedWord("", (), ())


class NamedConcepts:
    """The concepts of a text with their names and token ids. `paragraphs` has the names in each paragraph."""

    def __init__(self, paragraphs: Sequence[Counter[str]], extractor: Extractor) -> None:
        self.words: dict[int, NamedWord] = collect_named_words(paragraphs, extractor)  # by token id
        self.extractor: Extractor = extractor
        names = _sort_by_frequency(paragraphs)
        parts = [name.split() for name in names]
        token_ids = _encode_names(extractor, names)
        part_token_ids = iter(_encode_names(extractor, [part for words in parts for part in words]))
        self._names = [
            (name, whole, [(part, next(part_token_ids)) for part in words])
            for name, whole, words in zip(names, token_ids, parts, strict=True)
        ]

    def find_shared_names(self, token_ids: Set[int], weights: Mapping[int, float]) -> tuple[str, ...]:
        """Return the names of the concepts that another document shares, by descending weight.

        If the other document has only some words of a concept, the name consists of these words.

        Args:
            token_ids: the token ids of the concepts of the other document.
            weights: the weight of each concept of the text, by token id.
        """
        token_ids_by_name = {name: shared for name, shared in self._find_shared_runs(token_ids) if shared}
        ranked = sorted(
            token_ids_by_name,
            key=lambda name: (-sum(weights.get(token_id, 0.0) for token_id in token_ids_by_name[name]), name),
        )
        kept_names: list[str] = []
        for name in ranked:  # longer names come before their parts
            if not any(token_ids_by_name[name] <= token_ids_by_name[other] for other in kept_names):
                kept_names.append(name)
        return tuple(kept_names)

    def _find_shared_runs(self, token_ids: Set[int]) -> Iterator[tuple[str, frozenset[int]]]:
        for name, whole, parts in self._names:
            if whole and whole <= token_ids:
                yield name, whole
            else:
                yield from _find_runs(parts, token_ids)


def _find_runs(
    words: Sequence[tuple[str, frozenset[int]]], token_ids: Set[int]
) -> Iterator[tuple[str, frozenset[int]]]:
    """Yield the longest runs of words that the other document has. `COMMON_WORDS` have no id and do not end a run."""
    run: list[tuple[str, frozenset[int]]] = []
    for word, word_token_ids in (*words, ("", frozenset({-1}))):
        if word_token_ids <= token_ids and (word_token_ids or run):
            run.append((word, word_token_ids))
            continue
        while run and not run[-1][1]:
            run.pop()
        yield " ".join(word for word, _ in run), frozenset().union(*(word_token_ids for _, word_token_ids in run))
        run = []


def _encode_names(extractor: Extractor, names: Sequence[str]) -> list[frozenset[int]]:
    """Return the token ids of the words of each name."""
    words_of_names = extractor.words(names)
    vocabulary = list(dict.fromkeys(chain.from_iterable(words_of_names)))
    token_id_of_word = dict(zip(vocabulary, hash_words(vocabulary).tolist(), strict=True))
    return [frozenset(token_id_of_word[word] for word in words) for words in words_of_names]


def collect_named_words(paragraphs: Sequence[Counter[str]], extractor: Extractor) -> dict[int, NamedWord]:
    """Return the words of the concepts of a text, by token id."""
    names_with: dict[str, dict[str, None]] = {}
    synonyms: dict[str, dict[str, None]] = {}
    names = _sort_by_frequency(paragraphs)
    for name, words in zip(names, extractor.words_and_synonyms(names), strict=True):
        for word, synonym in words:
            names_with.setdefault(word, {})[name] = None
            if synonym:
                synonyms.setdefault(word, {})[synonym] = None
    token_ids = hash_words(list(names_with)).tolist()
    return {
        token_id: NamedWord(word, tuple(names), tuple(synonyms.get(word, ())))
        for token_id, (word, names) in zip(token_ids, names_with.items(), strict=True)
    }


def _sort_by_frequency(names_by_paragraph: Sequence[Counter[str]]) -> list[str]:
    return [name for name, _ in sum(names_by_paragraph, Counter[str]()).most_common()]
