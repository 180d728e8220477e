"""Detection of texts crafted to win buckets: whoever knows the hash can choose words that any text seems to share.

The hashes of n shingles are distributed like random numbers, so the minimum of each bucket has a known distribution.
The part u of the bucket below the minimum has n u / B expected hashes, which is exponentially distributed (mean 1)
and cut off at the end of the bucket. Words found by trying thousands per bucket have minima far below that. One sum
over all buckets shows it; an honest text gets there only by chance.

The test needs the values that order a bucket. A fingerprint has them, its tokens do not, so the text is needed.
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
"""Standard deviations below the mean; 1 in 10**9 for a normal distribution. Honest texts vary less."""


def implausible(fp: Fingerprint) -> bool:
    """Whether the minima of a text are too small for its number of shingles.

    Detects a text whose words were chosen to win a third of 512 buckets, or nearly all of 64. Fewer than one honest
    text in 10**9 is reported, and none with fewer than 48 shingles. Texts that win fewer buckets, or have as many
    other shingles as were tried to find the chosen ones, are not detected.

    Raises:
        ValueError: the settings have no bucketed tokens.
    """
    return deviation(fp) < -LIMIT


def crafted(texts: Iterable[tuple[str, str]], settings: Settings) -> Iterator[str]:
    """Yield the ids of texts that are `implausible`, lazily.

    Raises:
        FormatMismatchError: the key of the settings is not known, or their sketch is not bucketed.
    """
    if not isinstance(settings.minhash, MinHash):
        raise FormatMismatchError("only the sketch minhash shows which texts were crafted")
    for_ids, for_texts = itertools.tee(texts)
    all_fingerprints = fingerprints((text for _, text in for_texts), settings.analysis, settings.minhash)
    return (id for (id, _), fp in zip(for_ids, all_fingerprints, strict=False) if implausible(fp))


def deviation(fp: Fingerprint) -> float:
    """Return how many standard deviations the minima are above the expected value; 0 for a text without shingles.

    The variance is that of a random number of shingles, slightly more than that of a fixed number.
    """
    if not isinstance(fp.minhash, MinHash):
        raise ValueError(f"only the sketch minhash has buckets, not {fp.minhash.name}")
    fp.minhash.check_tokens()
    count, size = fp.minhash.bucket_count, fp.minhash.bucket_size << 32
    expected = fp.shingles / count  # hashes in a bucket
    if not expected:
        return 0.0
    is_own = (fp.minima.val2 // np.uint64(size)).astype(np.int64) == fp.minima.slots  # not a rotated copy
    below = (fp.minima.val2[is_own] % np.uint64(size)).astype(np.float64) / size
    total = expected * (float(below.sum()) + count - len(below))  # an empty bucket counts whole
    empty = math.exp(-expected)  # the probability of an empty bucket
    variance = 1 - 2 * expected * empty - empty**2
    return (total - count * (1 - empty)) / math.sqrt(count * variance)
