"""The words of texts as an analysis takes them for shingles: without stop words, and as stems.

Places in a text, and what tells texts of the same words apart, are those of its own words: only shingles change.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.stemming import stems
from simdoc_search.analysis.words import WordBatch, slices, words

__all__ = ["represented"]


def represented(batch: WordBatch, analysis: Analysis) -> WordBatch:
    """The words that shingles are made of; the same batch if these are all words as they are.

    Raises:
        FormatMismatchError: the stop words of the index are not known.
        MissingExtraError: the package that has stop words, or stems, is not installed.
    """
    if analysis.stop_words is None and not analysis.stem:
        return batch
    found = slices(batch.units, batch.starts, batch.ends)
    left_out = _normalised(analysis.stop_words.words, analysis.profile) if analysis.stop_words else frozenset()
    distinct = [each for each in dict.fromkeys(found) if each not in left_out]
    stemmed = stems(distinct, analysis.stem) if analysis.stem else distinct
    table = dict(zip(distinct, stemmed, strict=True))
    kept = [table[each] for each in found if each in table]
    is_kept = np.fromiter((each in table for each in found), bool, len(found))
    before = np.concatenate(([0], np.cumsum(is_kept)))
    last = np.cumsum(batch.counts)
    units = np.frombuffer("".join(f"{each} " for each in kept).encode("utf-16-le"), np.uint16)
    after = np.cumsum([len(each.encode("utf-16-le")) // 2 + 1 for each in kept], dtype=np.int64)
    starts = np.concatenate((np.zeros(min(1, len(kept)), np.int64), after[:-1]))
    return WordBatch(units, starts, after - 1, before[last] - before[last - batch.counts])


@lru_cache(maxsize=16)
def _normalised(stop_words: frozenset[str], profile: str) -> frozenset[str]:
    """Stop words as texts have them."""
    plain = Analysis(profile="lowercase") if profile == "lowercase" else Analysis()
    return frozenset(words(" ".join(sorted(stop_words)), plain))
