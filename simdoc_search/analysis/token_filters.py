"""Token filters: words of texts without stop words, and as stems, before shingles are made.

Positions in a text, and the hash of its words, refer to the original words; only shingles change. Where the language
matters, it is identified from the text alone, so that a query text is treated like an indexed one. A text in several
languages, or in an unknown one, keeps its words unchanged.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter

import numpy as np

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.stemming import STEMMERS, stems
from simdoc_search.analysis.stop_words import AUTO
from simdoc_search.analysis.words import WordBatch, slices, words
from simdoc_search.languages import language_of

_SAME = {"no": "nb", "nn": "nb"}
"""Language codes of the identifier that stop words and stemmers name differently."""


def represented(batch: WordBatch, texts: Sequence[str], analysis: Analysis) -> WordBatch:
    """Return the words that shingles are made of; the same batch if nothing changes.

    Args:
        batch: the words of the texts.
        texts: the texts.
        analysis: the settings.

    Raises:
        FormatMismatchError: the stop words of the index are not known.
        MissingExtraError: a package for stop words, stems or languages is not installed.
    """
    if analysis.stop_words is None and not analysis.stem:
        return batch
    found = slices(batch.units, batch.starts, batch.ends)
    last = np.cumsum(batch.counts)
    languages = map(_language_of, texts) if analysis.by_language else itertools.repeat("", len(texts))
    replaced: list[str | None] = []
    for language, group in itertools.groupby(zip(languages, last.tolist(), strict=True), key=itemgetter(0)):
        *_, (_, end) = group
        its = found[len(replaced) : end]
        replaced += map(_table(its, analysis, language).get, its)
    kept = [each for each in replaced if each is not None]
    is_kept = np.fromiter((each is not None for each in replaced), bool, len(replaced))
    before = np.concatenate(([0], np.cumsum(is_kept)))
    units = np.frombuffer("".join(f"{each} " for each in kept).encode("utf-16-le"), np.uint16)
    after = np.cumsum([len(each.encode("utf-16-le")) // 2 + 1 for each in kept], dtype=np.int64)
    starts = np.concatenate((np.zeros(min(1, len(kept)), np.int64), after[:-1]))
    return WordBatch(units, starts, after - 1, before[last] - before[last - batch.counts])


def _language_of(text: str) -> str:
    language = language_of(text)
    return _SAME.get(language, language)


def _table(found: Sequence[str], analysis: Analysis, language: str) -> dict[str, str]:
    """Map each word that is kept to its replacement."""
    stop_words = analysis.stop_words.of(language) if analysis.stop_words else frozenset()
    left_out = _normalised(stop_words, analysis.profile)
    distinct = [each for each in dict.fromkeys(found) if each not in left_out]
    stem = language if analysis.stem == AUTO else analysis.stem
    stemmed = stems(distinct, stem) if stem in STEMMERS else distinct
    return dict(zip(distinct, stemmed, strict=True))


@lru_cache(maxsize=64)
def _normalised(stop_words: frozenset[str], profile: str) -> frozenset[str]:
    """Return stop words normalised like the words of texts."""
    plain = Analysis(profile="lowercase") if profile == "lowercase" else Analysis()
    return frozenset(words(" ".join(sorted(stop_words)), plain))
