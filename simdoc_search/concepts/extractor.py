"""Extracts concepts from texts, and converts them to the numbers that an index stores.

A `Finder` finds the concepts. The replacement of synonyms and the stored form do not depend on the finder. An index
stores each word of a concept separately, without common words. `Oak Hill` therefore matches `Oak Hill Country Club`,
and `golf title` matches `golf trophy`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby, pairwise

import numpy as np

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import word_batch, words_of_texts
from simdoc_search.chunks.sentences import unify_line_endings
from simdoc_search.concepts.finder import COMMON_WORDS, IDEOGRAPHS, Finder
from simdoc_search.concepts.keywords import KeywordFinder
from simdoc_search.concepts.names import NameFinder
from simdoc_search.concepts.spacy import STORED_NAME_PREFIX, load_spacy
from simdoc_search.concepts.synonyms import Synonyms
from simdoc_search.errors import FormatMismatchError, MissingExtraError
from simdoc_search.sketch.concepts import PARAGRAPH_END, ConceptSettings
from simdoc_search.sketch.hash_functions import murmur3_x64_128
from simdoc_search.sketch.tokens import TokenIds

_TOKEN_ID_BITS = 30
_OPTION_PREFIX = "spacy:"


@dataclass(frozen=True, slots=True)
class Extractor:
    """Extracts the concepts of texts.

    The synonyms replace words of concepts.
    """

    finder: Finder
    synonyms: Synonyms | None = None

    @property
    def settings(self) -> ConceptSettings:
        """The settings that an index stores."""
        return ConceptSettings(self.finder.name, self.synonyms.checksum if self.synonyms else "")

    def concepts(self, text: str) -> list[Counter[str]]:
        """Return the concepts of each paragraph, with their frequencies. Paragraphs without concepts are omitted."""
        return [paragraph for paragraph in self.finder.find(unify_line_endings(text)) if paragraph]

    def try_concepts(self, text: str) -> list[Counter[str]] | None:
        """Return `concepts`, or None if the finder fails on the text.

        Raises:
            MissingExtraError: a package that the finder needs is not installed.
        """
        try:
            return self.concepts(text)
        except MissingExtraError:
            raise
        except Exception:  # a finder may be the user's code, and its errors must not affect other texts
            return None

    def token_ids(self, texts: Sequence[str]) -> list[TokenIds | None]:
        """Return the concepts of each text in stored form, or None if the finder fails on the text.

        Returns:
            For each text, numbers of 30 bits; uint32. For each paragraph with concepts, there is one number per
            occurrence of a word of a concept, and then a 0. For a text without concepts, there is a single 0.

        Raises:
            MissingExtraError: a package that the finder needs is not installed.
        """
        concepts = map(self.try_concepts, texts)
        return [None if paragraphs is None else self.encode_concepts(paragraphs) for paragraphs in concepts]

    def encode_concepts(self, paragraphs: Sequence[Counter[str]]) -> TokenIds:
        """Return concepts in stored form; see `token_ids`."""
        names = list(dict.fromkeys(name for paragraph in paragraphs for name in paragraph))
        words = dict(zip(names, self.words(names), strict=True))
        counts: list[Counter[str]] = [Counter() for _ in paragraphs]
        for paragraph, count in zip(paragraphs, counts, strict=True):
            for name, times in paragraph.items():
                for word in words[name]:
                    count[word] += times
        vocabulary = list(dict.fromkeys(word for count in counts for word in count))
        numbers = dict(zip(vocabulary, hash_words(vocabulary).tolist(), strict=True))
        token_ids: list[int] = []
        for count in filter(None, counts):
            token_ids += [numbers[word] for word in count.elements()]
            token_ids.append(PARAGRAPH_END)
        return np.array(token_ids or [PARAGRAPH_END], np.uint32)

    def words(self, concepts: Sequence[str]) -> list[list[str]]:
        """Return the normalised words of each concept. Synonyms are replaced, and common words are removed."""
        return [[word for word, _ in pairs] for pairs in self.words_and_synonyms(concepts)]

    def words_and_synonyms(self, concepts: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return a pair `(word, replaced)` for each word in the result of `words`.

        If the word is from a synonym, `replaced` contains the words that the synonym replaces, joined by spaces.
        Otherwise, it is empty. Of adjacent ideographs, each two are one word.
        """
        result = []
        for words in words_of_texts(concepts):
            runs = self.synonyms.split_into_runs(words) if self.synonyms else (((word,), (word,)) for word in words)
            pairs = ((word, "" if run == synonym else " ".join(run)) for run, synonym in runs for word in synonym)
            result.append(_pair_ideographs([pair for pair in pairs if pair[0] not in COMMON_WORDS]))
        return result


def _pair_ideographs(words: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Replace each run of several ideographs with the pairs of its neighbours. Other words are kept.

    A single ideograph is in too many texts to show a topic.
    """
    paired: list[tuple[str, str]] = []
    for is_ideographs, group in groupby(words, lambda pair: bool(IDEOGRAPHS.fullmatch(pair[0]))):
        run = list(group)
        if is_ideographs and len(run) > 1:
            run = [(first + second, replaced) for (first, replaced), (second, _) in pairwise(run)]
        paired += run
    return paired


def extractor_from_option(name: str, synonyms: Synonyms | None = None) -> Extractor:
    """Return a built-in extractor.

    `name` is a value of `--extractor`: `keywords`, `names`, or `spacy:` and the name of a model.

    Raises:
        FormatMismatchError: no built-in extractor has this name.
        MissingExtraError: a package that the extractor needs is not installed.
        ConceptsError: the spaCy model is not installed.
    """
    return Extractor(_make_finder(name, _OPTION_PREFIX), synonyms)


def extractor_from_settings(settings: ConceptSettings, synonyms: Synonyms | None = None) -> Extractor:
    """Return the built-in extractor that an index was created with.

    Raises:
        FormatMismatchError: the extractor is not built in, or the index was created with different synonyms.
        MissingExtraError: a package that the extractor needs is not installed.
        ConceptsError: the spaCy model is not installed.
    """
    extractor = Extractor(_make_finder(settings.extractor, STORED_NAME_PREFIX), synonyms)
    if extractor.settings != settings:
        given = f", not {synonyms.checksum}" if synonyms else ""
        checksum = f"{settings.synonyms_checksum}{given}"
        problem = (
            f"with a synonym file whose checksum is {checksum}; give that file with --synonyms"
            if settings.synonyms_checksum
            else "without synonyms; omit --synonyms"
        )
        raise FormatMismatchError(f"the index was created {problem}", settings, extractor.settings)
    return extractor


def _make_finder(name: str, prefix: str) -> Finder:
    if name == KeywordFinder.name:
        if find_spec("stop_words") is None:
            raise MissingExtraError("finding keywords", "language")
        return KeywordFinder()
    if name == NameFinder.name:
        return NameFinder()
    if name.startswith(prefix) and (model := name.removeprefix(prefix)):
        return load_spacy(model)
    raise FormatMismatchError(
        f"there is no built-in extractor {name!r:.60}; choose keywords, names or spacy:MODEL, or pass your "
        "own extractor in Python"
    )


def hash_words(words: Iterable[str]) -> TokenIds:
    """Return the token id of each word: the highest bits of the MurmurHash3 of the normalised word.

    A phrase is hashed like a word, with its normalised words joined by spaces.

    Returns:
        Numbers of 30 bits, never 0; uint32, shape (words,). For a string without words, such as `...`,
            the number is 1.
    """
    batch = word_batch(list(words), Analysis())
    ends = np.cumsum(batch.counts)
    starts = np.append(batch.starts, 0)[ends - batch.counts]
    stops = np.append(batch.ends, 0)[np.maximum(ends - 1, 0)]
    stops = np.where(batch.counts > 0, stops, starts)
    high, _ = murmur3_x64_128(batch.units, starts, stops)
    token_ids: TokenIds = np.maximum(high >> np.uint64(64 - _TOKEN_ID_BITS), 1).astype(np.uint32)
    return token_ids
