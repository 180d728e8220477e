"""How often a text has a shingle: its first occurrence is one element of a set, its second another one.

The Jaccard similarity of such sets is that of the multisets: the sum of the smaller frequencies by that of the greater.

Source: Chum, Philbin, Zisserman 2008, "Near duplicate image detection: min-hash and tf-idf weighting", section 4.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.sentences import mixed
from simdoc_search.sketch.slices import Hashes


def numbered(hashes: Hashes, counts: NDArray[np.int64]) -> Hashes:
    """Hashes that tell a text's occurrences of one shingle apart; that of the first is as it was.

    Args:
        hashes: of the shingles of some texts, one text after the other; uint64, shape (shingles,).
        counts: how many each text has; int64, shape (texts,).
    """
    owner = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((hashes, owner))
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(hashes[order]) != 0) | (np.diff(owner[order]) != 0)
    places = np.arange(len(order))
    begins = np.maximum.accumulate(np.where(first, places, 0))
    found = np.empty_like(hashes)
    found[order] = hashes[order] + mixed((places - begins).astype(np.uint64))
    return found
