"""Was a text made to win buckets? Whoever knows the hash can choose words that look shared by any two texts.

Of n shingles the hashes are spread like random numbers, so how small the smallest of each bucket is, is known: the
part u of the bucket that lies below it has n u / B of the expected hashes, which is exponentially distributed (mean 1),
cut off where the bucket ends. Words that were tried out, thousands for each bucket, have minima far below that in all
buckets that they are to win. One sum over all buckets tells it. Honest texts have no way to get there but chance.

It takes the values that order a bucket, which a fingerprint has and its tokens have not: the text must be at hand.
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
"""Standard deviations below the mean; of a normal distribution 1 in 10**9 lies there. Honest texts vary less."""


def implausible(fp: Fingerprint) -> bool:
    """Whether the minima of a text are too small for its number of shingles.

    A text whose words were chosen to win a third of 512 buckets is seen, of 64 buckets nearly all. Fewer than one
    honest text in 10**9 is taken for such a one; none of fewer than 48 shingles is. What wins fewer buckets, or stands
    among as many other shingles as were tried to find it, is not seen.

    Raises:
        ValueError: the settings have no bucketed tokens.
    """
    return deviation(fp) < -LIMIT


def crafted(texts: Iterable[tuple[str, str]], settings: Settings) -> Iterator[str]:
    """The ids of those texts that are `implausible`, of ids with their texts, read as they are needed.

    Raises:
        FormatMismatchError: the settings are those of a hash key that we do not have, or of another sketch than ours.
    """
    if not isinstance(settings.minhash, MinHash):
        raise FormatMismatchError("only the sketch minhash shows which texts were made to mislead")
    ours, theirs = itertools.tee(texts)
    made = fingerprints((text for _, text in theirs), settings.analysis, settings.minhash)
    return (id for (id, _), fp in zip(ours, made, strict=False) if implausible(fp))


def deviation(fp: Fingerprint) -> float:
    """How many standard deviations the minima lie above what is expected; 0 for a text without shingles.

    The variance is that of a random number of shingles, a little more than that of a fixed one.
    """
    if not isinstance(fp.minhash, MinHash):
        raise ValueError(f"only minima of buckets can be looked at, not those of the sketch {fp.minhash.name}")
    fp.minhash.check_tokens()
    count, size = fp.minhash.bucket_count, fp.minhash.bucket_size << 32
    expected = fp.shingles / count  # hashes in a bucket
    if not expected:
        return 0.0
    own = (fp.minima.val2 // np.uint64(size)).astype(np.int64) == fp.minima.slots  # and no rotated copy
    below = (fp.minima.val2[own] % np.uint64(size)).astype(np.float64) / size
    total = expected * (float(below.sum()) + count - len(below))  # an empty bucket counts whole
    nothing = math.exp(-expected)  # the probability of an empty bucket
    variance = 1 - 2 * expected * nothing - nothing**2
    return (total - count * (1 - nothing)) / math.sqrt(count * variance)
