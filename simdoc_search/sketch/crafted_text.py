"""Detects texts that were crafted to look similar to any text.

Without a key, anybody can search for words with very small hashes. Such words win the buckets of a fingerprint, and
texts that contain them seem to overlap. The hashes of n shingles are distributed like random numbers over the B
buckets, so the minimum of each bucket has a known distribution. If the minimum is at the fraction u of its bucket, the
expected number of hashes below it is n u / B. This number is exponentially distributed with mean 1, censored at the end
of the bucket. The minima of words that were found by trying thousands per bucket are far smaller, and so is the sum
over all buckets. The sum of an honest text is that small only by chance.

The test needs the second half of each hash. The stored tokens do not contain it, so the fingerprint must be computed
again from the text.
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

MAX_STANDARD_DEVIATIONS = 6.0
"""A text is implausible if its minima are more than this number of standard deviations below the mean.

For a normal distribution, the probability is 1 in 10**9. Honest texts vary less.
"""


def is_implausible(fp: Fingerprint) -> bool:
    """Return whether the minima of a text are too small for its number of shingles.

    This detects a text whose words were chosen to win a third of 512 buckets, or nearly all of 64. Fewer than 1 in
    10**9 honest texts are reported, and none with fewer than 48 shingles. A text is not detected if it wins fewer
    buckets. Neither is a text with about as many ordinary shingles as the author tried words.

    Raises:
        ValueError: the settings have no bucketed tokens.
    """
    return deviation(fp) < -MAX_STANDARD_DEVIATIONS


def crafted_text_ids(texts: Iterable[tuple[str, str]], settings: Settings) -> Iterator[str]:
    """Yield the ids of texts for which `is_implausible` is true, lazily. `texts` are pairs of an id and a text.

    Raises:
        FormatMismatchError: the secret of the hash key is unknown, or the sketch is not minhash.
    """
    if not isinstance(settings.minhash, MinHash):
        raise FormatMismatchError(
            f"crafted texts can only be detected with minhash sketches, not {settings.minhash.name}"
        )
    for_ids, for_texts = itertools.tee(texts)
    all_fingerprints = fingerprints((text for _, text in for_texts), settings.analysis, settings.minhash)
    return (id for (id, _), fp in zip(for_ids, all_fingerprints, strict=False) if is_implausible(fp))


def deviation(fp: Fingerprint) -> float:
    """Return the deviation of the minima from the expected value, in standard deviations; 0 without shingles.

    The variance is that of a random number of shingles. It is slightly larger than for a fixed number.
    """
    if not isinstance(fp.minhash, MinHash):
        raise ValueError(f"{fp.minhash.name} sketches have no buckets; only minhash sketches do")
    fp.minhash.require_bucketed_tokens()
    count, size = fp.minhash.bucket_count, fp.minhash.bucket_size << 32
    expected = fp.shingles / count  # hashes in a bucket
    if not expected:
        return 0.0
    is_own = (fp.minima.val2 // np.uint64(size)).astype(np.int64) == fp.minima.slots  # false for rotated copies
    bucket_fractions = (fp.minima.val2[is_own] % np.uint64(size)).astype(np.float64) / size
    # An empty bucket counts as a whole bucket.
    total = expected * (float(bucket_fractions.sum()) + count - len(bucket_fractions))
    empty_probability = math.exp(-expected)  # of a bucket
    variance = 1 - 2 * expected * empty_probability - empty_probability**2
    return (total - count * (1 - empty_probability)) / math.sqrt(count * variance)
