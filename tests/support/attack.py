"""Crafts words that decide the fingerprint of any text that contains them."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.shingles import shingle_batch
from simdoc_search.analysis.words import word_batch
from simdoc_search.sketch.hashing import minima_and_hashes
from simdoc_search.sketch.minhash import MinHash

TRIES = 60_000


@functools.cache
def crafted_words(minhash: MinHash, buckets: int | None = None) -> str:
    """Return five words for each bucket, or for the first ones, whose shingle has the smallest of many thousand values.

    In any text that contains these words, their shingles win the buckets.
    """
    numbers = np.random.default_rng(1).integers(0, 1 << 40, TRIES).tolist()
    candidates = [f"q{number:x} r{number >> 8:x} s t u{number & 0xFFFF:x}" for number in numbers]
    single = shingle_batch(word_batch(candidates, Analysis()), Analysis())  # each is a text of one shingle
    together = replace(single, counts=np.array([TRIES]))
    (best,), hashes = minima_and_hashes(together, minhash)
    (first,), _ = minima_and_hashes(shingle_batch(word_batch(candidates[:1], Analysis()), Analysis()), minhash)
    val1 = (hashes - hashes[0]) * np.uint64(37) + first.val1[0]  # as Lucene makes it of the hash
    return " ".join(candidates[place] for place in np.flatnonzero(np.isin(val1, best.val1[:buckets])).tolist())
