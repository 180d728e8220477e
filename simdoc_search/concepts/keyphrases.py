"""Keyphrases of a text by YAKE, beside its names, and where it has them.

YAKE (Campos, Mangaravite, Pasquali, Jorge, Nunes, Jatowt 2020, "YAKE! Keyword extraction from single documents using
multiple local features") knows a text by the text alone, and the words of 34 languages that say nothing. Phrases have
up to two words: of documents on the same topics more are found so than with three, as longer ones are rarely the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from simdoc_search.chunks.paragraphs import paragraph_spans
from simdoc_search.concepts.names import names_in
from simdoc_search.concepts.occurrences import Found, by_paragraph

AT_ONCE = 40_000
"""Characters of which the keyphrases are looked for together: those of a long text change from part to part."""

MOST_PARTS = 12
"""In what comes after them only names are found: YAKE reads 50 to 100 kB a second."""

MOST_PHRASES = 300
"""Of each such part; a text of 700 words has as many candidates."""

_MOST_WORDS = 2
_TO_TELL_LANGUAGE = 5_000
_LONGEST_WORD = 100
_WORD = re.compile(r"[^\W_]+(?:[’'\-][^\W_]+)*")
_LONG_WORD = re.compile(rf"\S{{{_LONGEST_WORD},}}")
_LISTS = "StopwordsList"


class Keyphrases:
    """Finds the keyphrases and the names of each paragraph; a word that is part of a name is no keyphrase there."""

    name = "yake"

    def find(self, text: str) -> list[Counter[str]]:
        """The keyphrases, in lower case, and the names of each paragraph."""
        spans = paragraph_spans(text)
        names = names_in(text)
        taken = {place for each in names for place in range(each.begin, each.end)}
        words = [each for each in _WORD.finditer(text) if each.start() not in taken]
        extractor = _extractor(_language(text))
        parts = islice(_parts(spans), MOST_PARTS)
        found = [each for begin, end in parts for each in _located(extractor, text, begin, end, words)]
        return by_paragraph(spans, [*names, *found])


def _parts(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Whole paragraphs of about so many characters as are looked at together."""
    begin = 0
    for number, (_, end) in enumerate(spans):
        if end - spans[begin][0] >= AT_ONCE or number == len(spans) - 1:
            yield spans[begin][0], end
            begin = number + 1


def _located(extractor: Any, text: str, begin: int, end: int, words: Sequence[re.Match[str]]) -> Iterator[Found]:
    """The keyphrases of a part of a text wherever it has them, the longest first."""
    inside = [each for each in words if begin <= each.start() < end and len(each[0]) <= _LONGEST_WORD]
    lower = [each[0].lower() for each in inside]
    phrases: defaultdict[str, list[list[str]]] = defaultdict(list)
    for phrase, _ in extractor.extract_keywords(_without_long_words(text[begin:end])):
        if parts := _WORD.findall(phrase.lower()):
            phrases[parts[0]].append(parts)
    at = 0
    while at < len(lower):
        fitting = (each for each in phrases.get(lower[at], ()) if each == lower[at : at + len(each)])
        longest = max(map(len, fitting), default=0)
        if longest:
            last = at + longest - 1
            yield Found(inside[at].start(), inside[last].end(), " ".join(lower[at : last + 1]))
        at += max(longest, 1)


def _without_long_words(text: str) -> str:
    """A text without what is no word of any language: its tokenizer takes minutes for a word of a million letters."""
    return _LONG_WORD.sub(" ", text)


def _language(text: str) -> str:
    """The language most of whose small words a text has; English of a text that has none."""
    words = Counter(each.lower() for each in _WORD.findall(text[:_TO_TELL_LANGUAGE]))
    shares = {name: sum(words[each] for each in small & words.keys()) for name, small in _small_words().items()}
    return max(shares, key=lambda name: (shares[name], name == "en"))


@cache
def _small_words() -> dict[str, frozenset[str]]:
    """The words of each language that say nothing, as YAKE has them."""
    found = {}
    for file in (files("yake.core") / _LISTS).iterdir():
        language = file.name.removeprefix("stopwords_").removesuffix(".txt")
        if len(language) == 2:
            found[language] = frozenset(_decoded(file.read_bytes()).lower().split())
    return dict(sorted(found.items()))


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:  # two of them
        return content.decode("iso-8859-1")


@cache
def _extractor(language: str) -> Any:
    from yake import KeywordExtractor  # noqa: PLC0415 - of the extra, and slow to load

    # With dedup_lim=1 no phrase is left out for being like another: they are to be found, not to be read.
    return KeywordExtractor(n=_MOST_WORDS, dedup_lim=1.0, top=MOST_PHRASES, stopwords=set(_small_words()[language]))
