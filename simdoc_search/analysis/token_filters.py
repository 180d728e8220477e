"""The words of texts as an analysis takes them for shingles: without stop words, and as stems.

Places in a text, and what tells texts of the same words apart, are those of its own words: only shingles change. Where
the language decides, it is identified from the text alone, so that who asks with a text asks for what was indexed; a
text in several languages, or in an unknown one, keeps its words as they are.
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
"""Languages as their identifier names them, and as stop words and stemmers have them."""


def represented(batch: WordBatch, texts: Sequence[str], analysis: Analysis) -> WordBatch:
    """The words that shingles are made of; the same batch if these are all words as they are.

    Args:
        batch: the words of the texts.
        texts: the texts.
        analysis: what is made of them.

    Raises:
        FormatMismatchError: the stop words of the index are not known.
        MissingExtraError: the package that has stop words or stems, or identifies languages, is not installed.
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
    """What becomes of each word that is kept."""
    stop_words = analysis.stop_words.of(language) if analysis.stop_words else frozenset()
    left_out = _normalised(stop_words, analysis.profile)
    distinct = [each for each in dict.fromkeys(found) if each not in left_out]
    stem = language if analysis.stem == AUTO else analysis.stem
    stemmed = stems(distinct, stem) if stem in STEMMERS else distinct
    return dict(zip(distinct, stemmed, strict=True))


@lru_cache(maxsize=64)
def _normalised(stop_words: frozenset[str], profile: str) -> frozenset[str]:
    """Stop words as texts have them."""
    plain = Analysis(profile="lowercase") if profile == "lowercase" else Analysis()
    return frozenset(words(" ".join(sorted(stop_words)), plain))
