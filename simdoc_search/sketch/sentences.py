"""Simhashes of sentences, 64 bits each, and the tokens that find similar sentences.

The features of a sentence are the distinct letter triples of its words, with one space between words and around them.
Fowke, Hinze, Heese 2013 (Working paper 12/2013, University of Waikato), section 4.1, use letter pairs, which unrelated
sentences often share. `scripts/sentence_trial.py` measures both on 25,000 English sentences with one or two words
edited, and on four million pairs of unrelated sentences:

    pairs within 7 of 64 bits        .84 and .66 of the edited are near, and .00007 of the unrelated
    triples within 12 bits           .96 and .84, and .00004

Words, runs of four letters, and combinations are hardly better than triples; words fail in languages without spaces.
The hash is the finaliser of MurmurHash3 after the increment of SplitMix64; without it, 0 would be a fixed point.

The number is four blocks of 16 bits, and each block is a token. Numbers that differ in up to 7 bits have a block that
differs in at most one bit (pigeonhole principle). A query with every block and all its neighbours at one bit finds all
of them, and many that differ in more bits. Source: Manku, Jain, Das Sarma 2007, "Detecting near-duplicates for web
crawling", here with more query tokens instead of more tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import word_batch
from simdoc_search.sketch.hash_functions import mixed
from simdoc_search.sketch.simhash import BITS, Simhashes, simhashes

BLOCKS, _BLOCK_BITS = 4, BITS // 4
SENTENCE_LENGTH = 3
"""Characters of a token, 6 bits each: the number of the block and its 16 bits."""

MAX_QUERY_CODES = 4_384
"""Maximum number of query tokens where more than one bit of a block may differ: 8 sentences with two."""

_MIN_BYTES = 16  # of UTF-8 in the words of a sentence; shorter ones, such as "See also", say nothing about a text
_SPACE = np.uint16(ord(" "))
_TRIPLE_BITS = np.uint64(48)
_SENTENCES_AT_ONCE = 1 << 16
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_SHIFTS = np.arange(BLOCKS, dtype=np.uint64) * np.uint64(_BLOCK_BITS)
_BLOCK_MASK = np.uint64((1 << _BLOCK_BITS) - 1)

Codes = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Sentences:
    """Settings of sentence simhashes: present, without parameters."""


def sentence_simhashes(sentences: Sequence[str], analysis: Analysis) -> tuple[Simhashes, NDArray[np.int64]]:
    """Return the simhashes of the sentences of a text, without sentences that are too short to say anything.

    Returns:
        The numbers, uint64, shape (kept,), and the indices of their sentences, int64, ascending. If all sentences are
        too short, those with any letters are kept.
    """
    batch = word_batch(sentences, analysis)
    ends = np.cumsum(batch.counts)
    has_words = np.flatnonzero(batch.counts)
    if not len(has_words):
        return np.zeros(0, np.uint64), has_words
    starts, stops = batch.starts[ends[has_words] - batch.counts[has_words]], batch.ends[ends[has_words] - 1]
    is_kept = np.add.reduceat(_utf8_bytes(batch.units), starts) >= _MIN_BYTES
    if not is_kept.any():
        is_kept[:] = True
    starts, stops = starts[is_kept], stops[is_kept]
    units = np.concatenate(([_SPACE], batch.units, [_SPACE])).astype(np.uint64)
    triples = units[:-2] << np.uint64(32) | units[1:-1] << np.uint64(16) | units[2:]  # triple i is around unit i
    parts = (slice(start, start + _SENTENCES_AT_ONCE) for start in range(0, len(starts), _SENTENCES_AT_ONCE))
    values = [_of_triples(triples, starts[part], stops[part]) for part in parts]
    return np.concatenate(values), has_words[is_kept]


def _of_triples(triples: NDArray[np.uint64], starts: NDArray[np.int64], stops: NDArray[np.int64]) -> Simhashes:
    """Return the simhashes of sentences given by their first and last units."""
    sizes = stops - starts
    owner = np.repeat(np.arange(len(starts)), sizes)
    index = np.arange(len(owner)) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    keys = distinct(owner.astype(np.uint64) << _TRIPLE_BITS | triples[index])
    counts = np.bincount((keys >> _TRIPLE_BITS).astype(np.int64), minlength=len(starts))
    return simhashes(mixed((keys & (np.uint64(1) << _TRIPLE_BITS) - np.uint64(1)) + _INCREMENT), counts)


def _utf8_bytes(units: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Count the UTF-8 bytes of each UTF-16 unit: two for half of a surrogate pair, none for spaces."""
    sizes: NDArray[np.int64] = 1 + (units >= 0x80).astype(np.int64) + (units >= 0x800)
    sizes -= (units >= 0xD800) & (units < 0xE000)
    sizes[units == _SPACE] = 0
    return sizes


def codes_of_sentences(values: Simhashes) -> Codes:
    """Return the tokens of simhashes as stored numbers: uint32, shape (4 × values,); block number, then its bits."""
    blocks = np.arange(BLOCKS, dtype=np.uint64) << np.uint64(_BLOCK_BITS)
    return (blocks | values[:, np.newaxis] >> _SHIFTS & _BLOCK_MASK).astype(np.uint32).reshape(-1)


def sentences_of_codes(codes: Codes) -> Simhashes:
    """Return the simhashes that `codes_of_sentences` wrote. Raises ValueError for malformed codes."""
    rows = codes.astype(np.uint64).reshape(-1, BLOCKS) if len(codes) % BLOCKS == 0 else np.ones((1, BLOCKS), np.uint64)
    if not ((rows >> np.uint64(_BLOCK_BITS)) == np.arange(BLOCKS, dtype=np.uint64)).all():
        raise ValueError(f"{len(codes)} tokens are not those of sentences, {BLOCKS} of each in order")
    values: Simhashes = np.bitwise_or.reduce((rows & _BLOCK_MASK) << _SHIFTS, axis=1)
    return values


def query_codes(values: Simhashes, flips: int = 1) -> Codes:
    """Return the query tokens of some sentences: each block, and all blocks that differ from it in up to `flips` bits.

    Every sentence within 4 `flips` + 3 bits has one of these tokens. If the differing bits are random, so have some
    sentences further away: with one flip 95 % at 8 bits, 74 % at 10 and 49 % at 12; with two flips 97 % at 12.

    Returns:
        uint32, shape (values, tokens), no token twice in a row: 4 tokens, 68 with one flip, 548 with two.
    """
    codes = codes_of_sentences(values).reshape(len(values), BLOCKS, 1) ^ _flipped(flips)
    return codes.reshape(len(values), codes.shape[1] * codes.shape[2])


def flips_for(count: int, most: int) -> int:
    """Return the flips with which `query_codes` finds sentences within `most` bits, fewer for many query sentences."""
    flips = most // BLOCKS
    while flips > 1 and count * BLOCKS * len(_flipped(flips)) > MAX_QUERY_CODES:
        flips -= 1
    return flips


@cache
def _flipped(most: int) -> Codes:
    """Return the 16-bit numbers with at most this many bits set."""
    choices = (bits for count in range(most + 1) for bits in combinations(range(_BLOCK_BITS), count))
    return np.fromiter((sum(1 << bit for bit in bits) for bits in choices), np.uint32)
