"""Removes stop words, and replaces the other words with their stems, before shingles are made.

The filters only change shingles. Positions in a text, and the hash of its words, refer to the original words. If the
filters depend on the language, it is identified from the text alone, so that query texts and indexed texts are treated
in the same way. The words of a text in several languages, or in an unknown language, are not changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.stemming import STEMMERS, stems
from simdoc_search.analysis.stop_words import AUTO
from simdoc_search.analysis.words import WordBatch, strings, words
from simdoc_search.languages import language_of

_NORWEGIAN_CODES = {"no": "nb", "nn": "nb"}
"""Maps the codes of Norwegian in the module `languages` to the code that stop word lists and stemmers use."""


def filter_words(batch: WordBatch, texts: Sequence[str], analysis: Analysis) -> WordBatch:
    """Return the words from which shingles are formed. Without filters, return the same batch.

    `batch` contains the words of `texts`.

    Raises:
        FormatMismatchError: the stop words of the index are not available.
        MissingExtraError: a package for stop words, stems or languages is not installed.
    """
    if analysis.stop_words is None and not analysis.stem:
        return batch
    languages = map(_identify_language, texts) if analysis.depends_on_language else itertools.repeat("", len(texts))
    all_words = strings(batch.units, batch.starts, batch.ends)
    last = np.cumsum(batch.counts)
    replaced: list[str | None] = []
    for language, group in itertools.groupby(zip(languages, last.tolist(), strict=True), key=lambda pair: pair[0]):
        *_, (_, end) = group
        words_of_group = all_words[len(replaced) : end]
        replaced += map(_map_kept_words(words_of_group, analysis, language).get, words_of_group)
    kept = [word for word in replaced if word is not None]
    is_kept = np.fromiter((word is not None for word in replaced), bool, len(replaced))
    kept_before = np.concatenate(([0], np.cumsum(is_kept)))
    units = np.frombuffer("".join(f"{word} " for word in kept).encode("utf-16-le"), np.uint16)
    after = np.cumsum([len(word.encode("utf-16-le")) // 2 + 1 for word in kept], dtype=np.int64)
    starts = np.concatenate((np.zeros(min(1, len(kept)), np.int64), after[:-1]))
    return WordBatch(units, starts, after - 1, kept_before[last] - kept_before[last - batch.counts])


def _identify_language(text: str) -> str:
    language = language_of(text)
    return _NORWEGIAN_CODES.get(language, language)


def _map_kept_words(all_words: Sequence[str], analysis: Analysis, language: str) -> dict[str, str]:
    """Map each word that is not a stop word to its stem, or to itself without a stemmer."""
    stop_words = analysis.stop_words.words_for(language) if analysis.stop_words else frozenset()
    removed = _normalise_stop_words(stop_words, analysis.profile)
    kept = [word for word in dict.fromkeys(all_words) if word not in removed]
    stemmer = language if analysis.stem == AUTO else analysis.stem
    return dict(zip(kept, stems(kept, stemmer) if stemmer in STEMMERS else kept, strict=True))


@lru_cache(maxsize=64)
def _normalise_stop_words(stop_words: frozenset[str], profile: str) -> frozenset[str]:
    """Return the stop words, normalised in the same way as the words of texts."""
    plain = Analysis(profile="lowercase") if profile == "lowercase" else Analysis()
    return frozenset(words(" ".join(sorted(stop_words)), plain))
