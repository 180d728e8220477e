"""Finds the keyphrases of a text with YAKE, and the names in it.

YAKE (Campos, Mangaravite, Pasquali, Jorge, Nunes, Jatowt 2020, "YAKE! Keyword extraction from single documents using
multiple local features") needs only the text and a list of stop words. It has such lists for 34 languages. Phrases have
up to two words. Longer phrases rarely occur in two documents, so fewer related documents would be found.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from simdoc_search.chunks import paragraph_spans
from simdoc_search.concepts.finder import Occurrence, count_by_paragraph, guess_language
from simdoc_search.concepts.names import find_names

MIN_PART_LENGTH = 40_000
"""Minimum size of the parts of a long text, in characters. Keyphrases are found in each part separately."""

MAX_PARTS = 12
"""Maximum number of parts in which keyphrases are found. YAKE reads 50 to 100 kB per second.

In the remaining parts, only names are found.
"""

_MAX_PHRASES_PER_PART = 300  # a text of about 700 words has this many candidates
_MAX_PHRASE_WORDS = 2
_LANGUAGE_SAMPLE_LENGTH = 5_000  # characters
_MAX_WORD_LENGTH = 100
_WORD = re.compile(r"[^\W_]+(?:[’'\-][^\W_]+)*")
_LONG_WORD = re.compile(rf"\S{{{_MAX_WORD_LENGTH},}}")


class KeyphraseFinder:
    """Finds the keyphrases and names of each paragraph. A word that is in a name is never in a keyphrase."""

    name = "yake"

    def find(self, text: str) -> list[Counter[str]]:
        """Return the keyphrases, in lower case, and the names of each paragraph."""
        spans = paragraph_spans(text)
        names = find_names(text)
        in_names = {index for name in names for index in range(name.begin, name.end)}
        words = [word for word in _WORD.finditer(text) if word.start() not in in_names]
        sample = (word.lower() for word in _WORD.findall(text[:_LANGUAGE_SAMPLE_LENGTH]))
        extractor = _yake_extractor(guess_language(sample, _stop_words()))
        parts = islice(_split_into_parts(spans), MAX_PARTS)
        phrases = (phrase for begin, end in parts for phrase in _locate_keyphrases(extractor, text, begin, end, words))
        return count_by_paragraph(spans, [*names, *phrases])


def _split_into_parts(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each part. A part consists of whole paragraphs.

    All parts except the last have at least `MIN_PART_LENGTH` characters.
    """
    first = 0
    for number, (_, end) in enumerate(spans):
        if end - spans[first][0] >= MIN_PART_LENGTH or number == len(spans) - 1:
            yield spans[first][0], end
            first = number + 1


def _locate_keyphrases(
    extractor: Any, text: str, begin: int, end: int, words: Sequence[re.Match[str]]
) -> Iterator[Occurrence]:
    """Yield all occurrences of a part's keyphrases. At each word, only the longest phrase that begins there counts."""
    inside = [word for word in words if begin <= word.start() < end and len(word[0]) <= _MAX_WORD_LENGTH]
    lower = [word[0].lower() for word in inside]
    phrases: defaultdict[str, list[list[str]]] = defaultdict(list)
    # YAKE's tokenizer takes minutes for a word of a million letters.
    for phrase, _ in extractor.extract_keywords(_LONG_WORD.sub(" ", text[begin:end])):
        if phrase_words := _WORD.findall(phrase.lower()):
            phrases[phrase_words[0]].append(phrase_words)
    first = 0
    while first < len(lower):
        matching = (phrase for phrase in phrases.get(lower[first], ()) if phrase == lower[first : first + len(phrase)])
        if length := max(map(len, matching), default=0):
            after = first + length
            yield Occurrence(inside[first].start(), inside[after - 1].end(), " ".join(lower[first:after]))
        first += max(length, 1)


@cache
def _stop_words() -> dict[str, frozenset[str]]:
    """Return YAKE's stop words of each language."""
    lists = {}
    for file in (files("yake.core") / "StopwordsList").iterdir():
        language = file.name.removeprefix("stopwords_").removesuffix(".txt")
        if len(language) == 2:
            lists[language] = frozenset(_decode(file.read_bytes()).lower().split())
    return dict(sorted(lists.items()))


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:  # two of the lists are in ISO 8859-1
        return content.decode("iso-8859-1")


@cache
def _yake_extractor(language: str) -> Any:
    from yake import KeywordExtractor  # noqa: PLC0415 - an optional dependency, and slow to import

    # With dedup_lim=1, YAKE keeps similar phrases. They are harmless, because phrases are compared word by word.
    return KeywordExtractor(
        n=_MAX_PHRASE_WORDS, dedup_lim=1.0, top=_MAX_PHRASES_PER_PART, stopwords=set(_stop_words()[language])
    )
