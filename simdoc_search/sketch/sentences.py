"""Computes simhashes of sentences, 64 bits each, and the tokens that find similar sentences.

The features of a sentence are the distinct letter triples of its words, with one space between words and around them.
Fowke, Hinze, Heese 2013 (Working paper 12/2013, University of Waikato), section 4.1, use letter pairs, which unrelated
sentences often share. `scripts/sentence_trial.py` compares pairs and triples on 25,000 English sentences with one or
two edited words, and on four million pairs of unrelated sentences. The table shows the share of pairs within the
maximum distance:

    feature, maximum distance    one word edited   two words edited   unrelated
    letter pairs, 7 of 64 bits               .84                .66      .00007
    letter triples, 12 bits                  .96                .84      .00004

Words, runs of four letters, and combinations of features are hardly better than triples. Words do not work in languages
without spaces. To hash a feature, the increment of SplitMix64 is added, and the finaliser of MurmurHash3 is applied.
Without the increment, the hash of 0 would be 0.

A simhash consists of four blocks of 16 bits, and each block is a token. If two numbers differ in up to 7 bits, at least
one block differs in at most one bit (pigeonhole principle). A query contains each block, and all blocks that differ
from it in one bit. It finds all numbers that differ in up to 7 bits, and many that differ in more bits. Source: Manku,
Jain, Das Sarma 2007, "Detecting near-duplicates for web crawling". They sort all numbers in several
tables. This module uses more query tokens instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.ragged_arrays import expand_runs
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import word_batch
from simdoc_search.sketch.hash_functions import mix_bits
from simdoc_search.sketch.simhash import SIMHASH_BITS, Simhashes, simhashes
from simdoc_search.sketch.tokens import TokenIds

BLOCK_COUNT, _BLOCK_BITS = 4, SIMHASH_BITS // 4
SENTENCE_TOKEN_LENGTH = 3
"""Number of characters in a token, 6 bits each. A token contains the index of a block and its 16 bits."""

MAX_MULTI_FLIP_QUERY_TOKENS = 4_384
"""Maximum number of query tokens in `choose_flip_count`. It is enough for 8 sentences with two flips, that is, with all
blocks that differ in up to two bits."""

_MIN_SENTENCE_BYTES = 16
"""Minimum number of UTF-8 bytes in the words of a sentence. Shorter sentences, such as "See also", are too common."""

_SPACE = np.uint16(ord(" "))
_TRIPLE_BITS = np.uint64(48)
_SENTENCES_PER_BATCH = 1 << 16
_SPLITMIX64_STEP = np.uint64(0x9E3779B97F4A7C15)
_SHIFTS = np.arange(BLOCK_COUNT, dtype=np.uint64) * np.uint64(_BLOCK_BITS)
_BLOCK_MASK = np.uint64((1 << _BLOCK_BITS) - 1)


@dataclass(frozen=True, slots=True)
class SentenceSettings:
    """Settings of sentence simhashes. They have no parameters."""


def sentence_simhashes(sentences: Sequence[str], analysis: Analysis) -> tuple[Simhashes, NDArray[np.int64]]:
    """Return the simhashes of the sentences of a text. Short sentences are omitted.

    Returns:
        The simhashes; uint64, shape (kept sentences,). The index of the sentence of each simhash; int64, ascending. If
        all sentences are short, all sentences with words are kept.
    """
    batch = word_batch(sentences, analysis)
    ends = np.cumsum(batch.counts)
    has_words = np.flatnonzero(batch.counts)
    if not len(has_words):
        return np.zeros(0, np.uint64), has_words
    starts, stops = batch.starts[ends[has_words] - batch.counts[has_words]], batch.ends[ends[has_words] - 1]
    is_kept = np.add.reduceat(_count_utf8_bytes(batch.units), starts) >= _MIN_SENTENCE_BYTES
    if not is_kept.any():
        is_kept[:] = True
    starts, stops = starts[is_kept], stops[is_kept]
    units = np.concatenate(([_SPACE], batch.units, [_SPACE])).astype(np.uint64)
    triples = units[:-2] << np.uint64(32) | units[1:-1] << np.uint64(16) | units[2:]  # unit i is the middle of triple i
    parts = (slice(start, start + _SENTENCES_PER_BATCH) for start in range(0, len(starts), _SENTENCES_PER_BATCH))
    values = [_hash_triples(triples, starts[part], stops[part]) for part in parts]
    return np.concatenate(values), has_words[is_kept]


def _hash_triples(triples: NDArray[np.uint64], starts: NDArray[np.int64], stops: NDArray[np.int64]) -> Simhashes:
    """Return the simhash of each sentence.

    `triples` contains one triple per unit of the text. `starts` and `stops` are the positions of the first unit of each
    sentence, and of the unit after its end.
    """
    owner, index = expand_runs(starts, stops - starts)
    keys = distinct(owner.astype(np.uint64) << _TRIPLE_BITS | triples[index])
    counts = np.bincount((keys >> _TRIPLE_BITS).astype(np.int64), minlength=len(starts))
    return simhashes(mix_bits((keys & (np.uint64(1) << _TRIPLE_BITS) - np.uint64(1)) + _SPLITMIX64_STEP), counts)


def _count_utf8_bytes(units: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Return the number of UTF-8 bytes of each UTF-16 unit.

    Half of a surrogate pair counts as two bytes, and a space as 0.
    """
    sizes: NDArray[np.int64] = 1 + (units >= 0x80).astype(np.int64) + (units >= 0x800)
    sizes -= (units >= 0xD800) & (units < 0xE000)
    sizes[units == _SPACE] = 0
    return sizes


def encode_simhashes(values: Simhashes) -> TokenIds:
    """Return the token ids of simhashes; uint32, shape (4 × values,).

    The high bits of a token id are the index of the block. The low 16 bits are the block.
    """
    blocks = np.arange(BLOCK_COUNT, dtype=np.uint64) << np.uint64(_BLOCK_BITS)
    return (blocks | values[:, np.newaxis] >> _SHIFTS & _BLOCK_MASK).astype(np.uint32).reshape(-1)


def decode_simhashes(token_ids: TokenIds) -> Simhashes:
    """Return the simhashes from which `encode_simhashes` made the token ids; uint64.

    Raises:
        ValueError: the token ids are not complete simhashes.
    """
    rows = (
        token_ids.astype(np.uint64).reshape(-1, BLOCK_COUNT)
        if len(token_ids) % BLOCK_COUNT == 0
        else np.ones((1, BLOCK_COUNT), np.uint64)
    )
    if not ((rows >> np.uint64(_BLOCK_BITS)) == np.arange(BLOCK_COUNT, dtype=np.uint64)).all():
        raise ValueError(
            f"{len(token_ids)} sentence tokens are damaged; each sentence must have {BLOCK_COUNT} tokens in order"
        )
    values: Simhashes = np.bitwise_or.reduce((rows & _BLOCK_MASK) << _SHIFTS, axis=1)
    return values


def query_token_ids(values: Simhashes, flip_count: int = 1) -> TokenIds:
    """Return the token ids that find simhashes: each block, and all blocks that differ in up to `flip_count` bits.

    Every sentence that differs in up to 4 × `flip_count` + 3 bits has one of these tokens. Some more distant sentences
    also have one. If the differing bits are random, one flip finds 95 % of the sentences that differ in 8 bits, 74 % of
    those with 10 bits, and 49 % of those with 12 bits. Two flips find 97 % of those with 12 bits.

    Returns:
        uint32, shape (values, tokens). The ids in a row are distinct. A row has 4 ids without flips, 68 ids for
        one flip, and 548 ids for two flips.
    """
    token_ids = encode_simhashes(values).reshape(len(values), BLOCK_COUNT, 1) ^ _flip_masks(flip_count)
    return token_ids.reshape(len(values), token_ids.shape[1] * token_ids.shape[2])


def choose_flip_count(sentence_count: int, max_distance: int) -> int:
    """Return the `flip_count` with which `query_token_ids` finds sentences that differ in up to `max_distance` bits.

    For many query sentences (`sentence_count`), the result is smaller, to limit the number of token ids.
    """
    flip_count = max_distance // BLOCK_COUNT
    while flip_count > 1 and sentence_count * BLOCK_COUNT * len(_flip_masks(flip_count)) > MAX_MULTI_FLIP_QUERY_TOKENS:
        flip_count -= 1
    return flip_count


@cache
def _flip_masks(flip_count: int) -> TokenIds:
    """Return the 16-bit numbers in which at most `flip_count` bits are 1."""
    choices = (bits for count in range(flip_count + 1) for bits in combinations(range(_BLOCK_BITS), count))
    return np.fromiter((sum(1 << bit for bit in bits) for bits in choices), np.uint32)
