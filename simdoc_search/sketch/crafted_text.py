"""Detects texts that were crafted to look similar to any text.

Without a key, anybody can search for words with very small hashes. Such words win the buckets of a fingerprint, and
texts that contain them seem to overlap. The hashes of n shingles are distributed like random numbers, so the minimum of
each of the B buckets has a known distribution. If the minimum is at the fraction u of its bucket, n u / B hashes were
expected below it. This number is exponentially distributed with mean 1, cut off at the end of the bucket. The minima of
words that were found by trying thousands per bucket are far smaller. The sum over all buckets shows this. For an honest
text, such a sum is only possible by chance.

The test needs the values that order a bucket. A fingerprint has these values and its tokens do not, so the test needs
the text.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np

from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprints
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings

LIMIT = 6.0
"""Number of standard deviations below the mean: 1 in 10**9 for a normal distribution. Honest texts vary less."""


def is_implausible(fp: Fingerprint) -> bool:
    """Whether the minima of a text are too small for its number of shingles.

    This detects a text whose words were chosen to win a third of 512 buckets, or nearly all of 64. Fewer than 1 in
    10**9 honest texts are reported, and none with fewer than 48 shingles. A text is not detected if it wins fewer
    buckets, or if it has as many other shingles as the attacker tried to find the chosen words.

    Raises:
        ValueError: the settings have no bucketed tokens.
    """
    return deviation(fp) < -LIMIT


def ids_of_crafted(texts: Iterable[tuple[str, str]], settings: Settings) -> Iterator[str]:
    """Yield the ids of texts for which `is_implausible` is true, lazily. `texts` are pairs of an id and a text.

    Raises:
        FormatMismatchError: the secret of the hash key is not known, or their sketch is not minhash.
    """
    if not isinstance(settings.minhash, MinHash):
        raise FormatMismatchError(
            f"crafted texts can only be detected with minhash sketches, not {settings.minhash.name}"
        )
    for_ids, for_texts = itertools.tee(texts)
    all_fingerprints = fingerprints((text for _, text in for_texts), settings.analysis, settings.minhash)
    return (id for (id, _), fp in zip(for_ids, all_fingerprints, strict=False) if is_implausible(fp))


def deviation(fp: Fingerprint) -> float:
    """Return by how many standard deviations the minima exceed the expected value; 0 for a text without shingles.

    The variance assumes a random number of shingles, which is slightly more than for a fixed number.
    """
    if not isinstance(fp.minhash, MinHash):
        raise ValueError(f"{fp.minhash.name} sketches have no buckets; only minhash sketches do")
    fp.minhash.require_bucketed_tokens()
    count, size = fp.minhash.bucket_count, fp.minhash.bucket_size << 32
    expected = fp.shingles / count  # hashes in a bucket
    if not expected:
        return 0.0
    is_own = (fp.minima.val2 // np.uint64(size)).astype(np.int64) == fp.minima.slots  # false for rotated copies
    below = (fp.minima.val2[is_own] % np.uint64(size)).astype(np.float64) / size
    total = expected * (float(below.sum()) + count - len(below))  # an empty bucket counts as a whole bucket
    empty = math.exp(-expected)  # the probability of an empty bucket
    variance = 1 - 2 * expected * empty - empty**2
    return (total - count * (1 - empty)) / math.sqrt(count * variance)
