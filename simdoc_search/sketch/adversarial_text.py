"""Detects adversarial texts, which were written to look similar to every text.

Without a secret hash key (`key.py`), anybody can search for words with very small hashes. Such words fill the buckets
of a fingerprint, so texts that contain them seem to overlap. The hashes of n shingles are distributed like random
numbers over the B buckets, so the minimum of each bucket has a known distribution. If the minimum lies a fraction u of
the way into its bucket, the expected number of hashes below it is x = n u / B. Over all buckets, x is exponentially
distributed with mean 1, censored at the end of the bucket. If an author tries thousands of words per bucket, x is far
smaller in each bucket. In an honest text, such a small sum of x over all buckets is very unlikely.

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

For a normal distribution, the probability of such a deviation is 1 in 10**9. Honest texts vary less.
"""


def is_implausible(fingerprint: Fingerprint) -> bool:
    """Return whether the minima of a text are too small for its number of shingles.

    An adversarial text is detected if its author found words with very small hashes for a third of 512 buckets, or for
    nearly all of 64 buckets. If the author tried only N words, about N ordinary shingles in the text prevent detection.
    Fewer than 1 in 10**9 honest texts are reported. Texts with fewer than 48 shingles are never reported.

    Raises:
        ValueError: the sketch does not support tokens in the format `bucketed`.
    """
    return compute_deviation(fingerprint) < -MAX_STANDARD_DEVIATIONS


def adversarial_text_ids(texts: Iterable[tuple[str, str]], settings: Settings) -> Iterator[str]:
    """Yield, lazily, the id of each text for which `is_implausible` is true. `texts` are pairs of an id and a text.

    Raises:
        FormatMismatchError: the secret of the hash key is unknown, or the sketch is not minhash.
    """
    if not isinstance(settings.sketch, MinHash):
        raise FormatMismatchError(
            "adversarial texts, which look similar to every text, can only be detected with minhash sketches, not "
            f"{settings.sketch.name}"
        )
    for_ids, for_texts = itertools.tee(texts)
    all_fingerprints = fingerprints((text for _, text in for_texts), settings.analysis, settings.sketch)
    return (id for (id, _), fingerprint in zip(for_ids, all_fingerprints, strict=False) if is_implausible(fingerprint))


def compute_deviation(fingerprint: Fingerprint) -> float:
    """Return the deviation of the minima from the expected value, in standard deviations. It is 0 without shingles.

    The variance is computed as if the number of shingles were random (Poisson). For a fixed number, it would be
    slightly smaller.
    """
    if not isinstance(fingerprint.sketch, MinHash):
        raise ValueError(f"{fingerprint.sketch.name} sketches have no buckets; use a minhash sketch")
    fingerprint.sketch.require_bucketed_tokens()
    count, size = fingerprint.sketch.bucket_count, fingerprint.sketch.bucket_size << 32
    expected = fingerprint.shingle_count / count  # the mean number of hashes in a bucket
    if not expected:
        return 0.0
    # Rotation copies values into other buckets. A copied value is outside the range of the bucket that contains it.
    is_own = (fingerprint.minima.val2 // np.uint64(size)).astype(np.int64) == fingerprint.minima.slots
    bucket_fractions = (fingerprint.minima.val2[is_own] % np.uint64(size)).astype(np.float64) / size
    # An empty bucket counts as if its smallest hash were at the end of the bucket.
    total = expected * (float(bucket_fractions.sum()) + count - len(bucket_fractions))
    empty_probability = math.exp(-expected)  # probability that a bucket is empty
    variance = 1 - 2 * expected * empty_probability - empty_probability**2
    return (total - count * (1 - empty_probability)) / math.sqrt(count * variance)
