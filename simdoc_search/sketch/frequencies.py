"""Shingles that count as often as they occur: each further occurrence is an element of its own.

The Jaccard similarity of such sets is that of the multisets: the sum of the smaller frequencies divided by that of the
larger ones.

Source: Chum, Philbin, Zisserman 2008, "Near duplicate image detection: min-hash and tf-idf weighting", section 4.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.sentences import mixed
from simdoc_search.sketch.slices import Hashes


def numbered(hashes: Hashes, counts: NDArray[np.int64]) -> Hashes:
    """Return hashes that differ for each occurrence of a shingle; the hash of the first occurrence is unchanged.

    Args:
        hashes: hashes of the shingles of some texts, one text after the other; uint64, shape (shingles,).
        counts: number of shingles of each text; int64, shape (texts,).
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
