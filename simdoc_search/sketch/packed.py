"""Makes the fingerprints of many texts as a few arrays, for a search that needs only their tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.native import kernel
from simdoc_search.analysis.settings import Analysis
from simdoc_search.sketch.base import Minima, Sketch
from simdoc_search.sketch.fingerprint import call_kernel, fingerprints, is_supported_by_kernel, split_into_batches
from simdoc_search.sketch.long_text import MIN_LONG_TEXT_LENGTH
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.tokens import TokenIds, bucketed_token_ids


class PackedFingerprints(NamedTuple):
    """The fingerprints of several texts, as a search for duplicates needs them.

    Attributes:
        token_ids: the token ids of all texts, one text after the other; see `Fingerprint.token_ids`.
        token_counts: number of tokens of each text.
        shingle_counts: number of distinct shingles of each text.
        words_hashes: the `Fingerprint.words_hash` of each text.
        low_hash_bits: the lowest 32 bits of the 64-bit hash of each token. The token id contains the highest 9 bits.
    """

    token_ids: TokenIds
    token_counts: list[int]
    shingle_counts: list[int]
    words_hashes: list[str]
    low_hash_bits: NDArray[np.uint32]


def packed_fingerprints(
    texts: Iterable[str], analysis: Analysis | None = None, sketch: Sketch | None = None
) -> Iterator[PackedFingerprints]:
    """Yield the fingerprints of many texts in order, in batches.

    This is faster than `fingerprints` for texts of a few thousand characters, because it makes no object per text.
    """
    analysis, sketch = analysis or Analysis(), sketch or MinHash()
    for batch in split_into_batches(texts, sketch.slot_count):
        native = kernel()
        is_long = len(batch) == 1 and len(batch[0]) >= MIN_LONG_TEXT_LENGTH
        if native is not None and not is_long and is_supported_by_kernel(sketch, analysis) and not sketch.with_rotation:
            (slots, val1, _, counts, shingles, *_), hashes = call_kernel(
                native, batch, analysis, sketch, (0, True, False)
            )
            token_ids = bucketed_token_ids(Minima(slots, val1, val1), sketch)
            yield PackedFingerprints(token_ids, counts.tolist(), shingles.tolist(), hashes, val1.astype(np.uint32))
        else:
            made = list(fingerprints(batch, analysis, sketch, with_words_hash=True))
            token_ids_of_texts = [fingerprint.token_ids() for fingerprint in made]
            token_ids = np.concatenate(token_ids_of_texts)
            values = np.concatenate([fingerprint.minima.val1 for fingerprint in made])
            yield PackedFingerprints(
                token_ids,
                list(map(len, token_ids_of_texts)),
                [fingerprint.shingle_count for fingerprint in made],
                [fingerprint.words_hash for fingerprint in made],
                values.astype(np.uint32) if len(values) == len(token_ids) else np.zeros(len(token_ids), np.uint32),
            )
