"""Packed fingerprints are the fingerprints of single texts in a few arrays."""

from __future__ import annotations

import random

import numpy as np
import pytest

from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.packed import packed_fingerprints
from tests.support.texts import text


@pytest.mark.parametrize("minhash", [MinHash(), MinHash(with_rotation=True), MinHash(bucket_count=64)])
def test_packed_fingerprints_are_those_of_single_texts(minhash: MinHash) -> None:
    rng = random.Random(9)
    texts = ["", "...", "one two", "Füße 漢字 \U0001f600 \ud800", *(text(rng, 400) for _ in range(80))]
    single = list(fingerprints(texts, None, minhash, with_words_hash=True))
    packed = packed_fingerprints(texts, None, minhash)

    assert np.concatenate([each.token_ids() for each in single]).tolist() == packed.token_ids.tolist()
    assert [(len(each.token_ids()), each.shingle_count, each.words_hash) for each in single] == list(
        zip(packed.token_counts, packed.shingle_counts, packed.words_hashes, strict=True)
    )
