"""A sentence as a number of 64 bits, in few of which those of like sentences differ, and the tokens it is found by.

The features of a sentence are the distinct pairs of neighbouring letters of its words, with one space between words and
around them: the shingles of Fowke, Hinze, Heese 2013 (Working paper 12/2013, University of Waikato), section 4.1. Their
hash is not the product of theirs, which gives "ti" and "it" one value, but the finaliser of MurmurHash3, of 64 bits: of
pairs of unrelated sentences 0.00007 are near then, where it is 0.004 with the product and 32 bits. Pairs of words,
which Charikar and Manku et al. have for documents, find half as many sentences in which a word differs.

The number is four blocks of 16 bits, each of them a token. Numbers that differ in up to 7 bits have a block that
differs in at most one (the pigeonhole principle), so who asks with every block and all that differ from it in one bit
finds all of them: of Manku, Jain, Das Sarma 2007, "Detecting near-duplicates for web crawling", with the neighbours of
a block in the question instead of more tables.
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
from simdoc_search.sketch.simhash import BITS, Simhashes, simhashes

__all__ = [
    "BLOCKS",
    "MOST_CODES",
    "SENTENCE_LENGTH",
    "Codes",
    "Sentences",
    "asked_codes",
    "codes_of_sentences",
    "flips_to_ask",
    "mixed",
    "sentence_simhashes",
    "sentences_of_codes",
]

BLOCKS, _BLOCK_BITS = 4, BITS // 4
SENTENCE_LENGTH = 3
"""Characters of a token, of 6 bits each: the number of the block and its 16 bits."""

MOST_CODES = 4_384
"""Tokens that a question asks with at most, where more than one bit of a block may differ: 8 sentences with two."""

LEAST_LETTERS = 16
"""Bytes of UTF-8 that the words of a sentence have: fewer, as of "See also", say nothing about a text."""

_SPACE = np.uint16(ord(" "))

Codes = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Sentences:
    """That an index has the sentences of its documents; there is nothing to choose."""


def sentence_simhashes(sentences: Sequence[str], analysis: Analysis) -> tuple[Simhashes, NDArray[np.int64]]:
    """The simhashes of the sentences of a text, without those of too few letters to say anything.

    Args:
        sentences: all of them, in order.
        analysis: how their words are found and normalised; its shingles make no difference.

    Returns:
        The numbers, uint64, shape (kept,), and which sentences they are of, int64, ascending. Where all sentences have
        too few letters, those with any are kept.
    """
    batch = word_batch(sentences, analysis)
    ends = np.cumsum(batch.counts)
    has_words = np.flatnonzero(batch.counts)
    if not len(has_words):
        return np.zeros(0, np.uint64), has_words
    starts, stops = batch.starts[ends[has_words] - batch.counts[has_words]], batch.ends[ends[has_words] - 1]
    letters = np.add.reduceat(_utf8_bytes(batch.units), starts)
    kept = letters >= LEAST_LETTERS
    if not kept.any():
        kept[:] = True
    starts, stops = starts[kept], stops[kept]
    units = np.concatenate(([_SPACE], batch.units, [_SPACE])).astype(np.uint64)
    pairs = units[:-1] << np.uint64(16) | units[1:]  # that at i is of the units i - 1 and i
    owner = np.repeat(np.arange(len(starts)), stops - starts + 1)
    first = np.cumsum(stops - starts + 1) - (stops - starts + 1)
    at = np.arange(len(owner)) - first[owner] + starts[owner]
    keys = distinct(owner.astype(np.uint64) << np.uint64(32) | pairs[at])
    counts = np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=len(starts))
    return simhashes(mixed(keys & np.uint64(0xFFFFFFFF)), counts), has_words[kept]


def codes_of_sentences(values: Simhashes) -> Codes:
    """The tokens of simhashes as numbers, four for each, in order: as they are stored.

    Returns:
        uint32, shape (4 × values,): the number of the block, then its bits.
    """
    blocks = np.arange(BLOCKS, dtype=np.uint64)
    parts = values[:, np.newaxis] >> (blocks * np.uint64(_BLOCK_BITS)) & np.uint64((1 << _BLOCK_BITS) - 1)
    return (blocks << np.uint64(_BLOCK_BITS) | parts).astype(np.uint32).reshape(-1)


def sentences_of_codes(codes: Codes) -> Simhashes:
    """The simhashes that `codes_of_sentences` wrote.

    Raises:
        ValueError: they are not what it writes.
    """
    rows = codes.astype(np.uint64).reshape(-1, BLOCKS) if len(codes) % BLOCKS == 0 else np.ones((1, BLOCKS), np.uint64)
    if not ((rows >> np.uint64(_BLOCK_BITS)) == np.arange(BLOCKS, dtype=np.uint64)).all():
        raise ValueError(f"{len(codes)} tokens are not those of sentences, {BLOCKS} of each in order")
    shifts = np.arange(BLOCKS, dtype=np.uint64) * np.uint64(_BLOCK_BITS)
    parts = (rows & np.uint64((1 << _BLOCK_BITS) - 1)) << shifts
    values: Simhashes = np.bitwise_or.reduce(parts, axis=1)
    return values


def asked_codes(values: Simhashes, flips: int = 1) -> Codes:
    """The tokens of each block of some sentences, and of all blocks that differ from it in up to `flips` bits.

    Each sentence within 4 `flips` + 3 bits of one of them has one of its tokens. If the bits are any, so has a share of
    the sentences further away: with one flip 95 % of those in 8 bits, 74 % in 10 and 49 % in 12; with two 97 % in 12.

    Returns:
        uint32, shape (values, tokens), no token twice in a row: 4 tokens, 68 with one flip, 548 with two.
    """
    codes = codes_of_sentences(values).reshape(len(values), BLOCKS, 1) ^ _flipped(flips)
    return codes.reshape(len(values), codes.shape[1] * codes.shape[2])


def flips_to_ask(count: int, most: int) -> int:
    """With how many flips `asked_codes` finds sentences within `most` bits, or with as many as make few tokens.

    Args:
        count: how many sentences are asked for.
        most: in how many bits a sentence may differ.
    """
    flips = most // BLOCKS
    while flips > 1 and count * BLOCKS * len(_flipped(flips)) > MOST_CODES:
        flips -= 1
    return flips


@cache
def _flipped(most: int) -> Codes:
    """The numbers of 16 bits of which at most so many are 1."""
    some = (
        sum(1 << bit for bit in bits) for count in range(most + 1) for bits in combinations(range(_BLOCK_BITS), count)
    )
    return np.fromiter(some, np.uint32)


def _utf8_bytes(units: NDArray[np.uint16]) -> NDArray[np.int64]:
    """How many bytes each UTF-16 unit is in UTF-8, a half of a pair two; spaces count nothing."""
    sizes: NDArray[np.int64] = 1 + (units >= 0x80).astype(np.int64) + (units >= 0x800)
    sizes -= (units >= 0xD800) & (units < 0xE000)
    sizes[units == _SPACE] = 0
    return sizes


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """fmix64 of MurmurHash3 (Appleby), which gives 0 for 0."""
    values = values ^ values >> np.uint64(33)
    values = values * np.uint64(0xFF51AFD7ED558CCD)
    values ^= values >> np.uint64(33)
    values *= np.uint64(0xC4CEB9FE1A85EC53)
    values ^= values >> np.uint64(33)
    return values
