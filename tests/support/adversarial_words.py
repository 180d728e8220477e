"""Makes words that determine the fingerprint of any text that contains them."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.shingles import shingle_batch
from simdoc_search.analysis.words import word_batch
from simdoc_search.sketch.hashing import apply_hash_function, compute_minima, hash_shingles
from simdoc_search.sketch.minhash import MinHash

TRIES = 60_000


@functools.cache
def adversarial_words(minhash: MinHash) -> str:
    """Return five words for each bucket. Their shingle has the smallest of many thousand hash values in that bucket.

    The shingles of these words therefore determine the buckets of any text that contains them.
    """
    numbers = np.random.default_rng(1).integers(0, 1 << 40, TRIES).tolist()
    candidates = [f"q{number:x} r{number >> 8:x} s t u{number & 0xFFFF:x}" for number in numbers]
    single = shingle_batch(word_batch(candidates, Analysis()), Analysis())  # each is a text of one shingle
    together = replace(single, counts=np.array([TRIES]))
    h1, h2 = hash_shingles(together, minhash.key)
    (best,) = compute_minima(together, minhash, h1, h2)
    val1, _ = apply_hash_function(h1, h2, 0)
    return " ".join(candidates[place] for place in np.flatnonzero(np.isin(val1, best.val1)).tolist())
