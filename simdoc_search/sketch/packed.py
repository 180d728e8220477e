"""Makes the fingerprints of many texts as a few arrays, for a search that needs only their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
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
    """The fingerprints of several texts, as a search for duplicates needs them."""

    token_ids: TokenIds  # the token ids of all texts, one text after the other; see `Fingerprint.token_ids`
    token_counts: NDArray[np.int64]  # number of tokens of each text
    shingle_counts: NDArray[np.int64]  # number of distinct shingles of each text
    words_hashes: list[str]  # the `Fingerprint.words_hash` of each text
    low_hash_bits: NDArray[np.uint32]  # the lowest 32 of the 64 hash bits of each token. The token id has the top 9.


def packed_fingerprints(
    texts: Sequence[str], analysis: Analysis | None = None, sketch: Sketch | None = None
) -> PackedFingerprints:
    """Return the fingerprints of one or more texts.

    This is faster than `fingerprints` for texts of a few thousand characters, because it makes no object per text.
    """
    analysis, sketch = analysis or Analysis(), sketch or MinHash()
    batches = [_pack_batch(batch, analysis, sketch) for batch in split_into_batches(texts, sketch.slot_count)]
    token_ids, token_counts, shingle_counts, words_hashes, low_bits = zip(*batches, strict=True)
    return PackedFingerprints(
        np.concatenate(token_ids),
        np.concatenate(token_counts),
        np.concatenate(shingle_counts),
        list(chain.from_iterable(words_hashes)),
        np.concatenate(low_bits),
    )


def _pack_batch(texts: list[str], analysis: Analysis, sketch: Sketch) -> PackedFingerprints:
    native = kernel()
    is_long = len(texts) == 1 and len(texts[0]) >= MIN_LONG_TEXT_LENGTH
    if native is not None and not is_long and is_supported_by_kernel(sketch, analysis) and not sketch.with_rotation:
        (slots, val1, _, counts, shingles, *_), hashes = call_kernel(native, texts, analysis, sketch, (0, True, False))
        token_ids = bucketed_token_ids(Minima(slots, val1, val1), sketch)
        return PackedFingerprints(token_ids, counts, shingles, hashes, val1.astype(np.uint32))
    made = list(fingerprints(texts, analysis, sketch, with_words_hash=True))
    token_ids_of_texts = [fingerprint.token_ids() for fingerprint in made]
    token_ids = np.concatenate(token_ids_of_texts)
    values = np.concatenate([fingerprint.minima.val1 for fingerprint in made])
    return PackedFingerprints(
        token_ids,
        np.array(list(map(len, token_ids_of_texts))),
        np.array([fingerprint.shingle_count for fingerprint in made]),
        [fingerprint.words_hash for fingerprint in made],
        values.astype(np.uint32) if len(values) == len(token_ids) else np.zeros(len(token_ids), np.uint32),
    )
