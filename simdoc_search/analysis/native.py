"""Loads the native kernel of the package simdoc-search-native, which finds words and computes fingerprints in one pass.

The kernel does not hold the interpreter's lock. It returns exactly the results of the Python code, which is the
reference. To use the Python code, set SIMDOC_NATIVE=0.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from simdoc_search.analysis.word_automaton import word_automaton
from simdoc_search.analysis.word_grammar import CONNECTOR_PROPERTIES, character_classes

_log = logging.getLogger(__name__)

INTERFACE_VERSION = 9
"""The version of the kernel's methods. A kernel with another version is not used."""

Buffers = Sequence[bytearray]


class Aligner(Protocol):
    """Compares one text with others."""

    def matched_words(self, texts: Sequence[str]) -> Buffers:
        """Compare the aligner's text with each of `texts`; see `passages.align`.

        Return two buffers. The first contains a mask (uint8) for each of `texts`: which words of the aligner's text are
        in passages that both share. The second contains the number of words (int64) of each of `texts`.
        """


class PhraseFinder(Protocol):
    """Finds phrases in texts."""

    def find(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the indices of the phrases that each text contains, in ascending order."""


class Kernel(Protocol):
    """The interface of the kernel. Its methods raise UnicodeEncodeError for texts with surrogates.

    `profile` and `short_texts` are settings of `Analysis`. `min_run` and `max_gap` are settings of `AlignmentSettings`.
    `allow_edits` is its setting `edited`: whether a passage may contain small changes.
    """

    def words(self, texts: Sequence[str], profile: str) -> Buffers:
        """Return the words of texts: the buffers `units` (uint16), `starts`, `ends` and `counts` of a `WordBatch`.

        `starts` and `ends` are positions in `units`. Two further buffers are the start and end of each word in its
        text, in code points. All buffers except the first are int64.
        """

    def hashes(self, units: bytes, starts: bytes, ends: bytes) -> Buffers:
        """Return the two halves (uint64) of the MurmurHash3 of each slice of UTF-16 units."""

    def word_numbers(self, texts: Sequence[str], profile: str) -> Buffers:
        """Return the integer id of each word (int32); words that are equal in different texts have the same id.

        Also return, for each text, the number of its words (int64), and whether one of its normalised words contains a
        space (uint8).
        """

    def aligner(self, text: str, profile: str, min_run: int, allow_edits: bool, max_gap: int) -> Aligner:
        """Return an aligner that compares a text with others."""

    def phrase_finder(self, phrases: Sequence[str], profile: str) -> PhraseFinder:
        """Return a finder of phrases. A phrase is a string of normalised words, separated by one space."""

    def passages(self, a: bytes, b: bytes, min_run: int, allow_edits: bool, max_gap: int) -> bytearray:
        """Return the runs of the passages that two texts share; see `passages.align`.

        Each text is an int32 array: the integer id of each of its words. Equal words have equal ids. Each run is four
        int64 values: the index of its passage, the index of its first word in the first text, the same in the second
        text, and its number of words.
        """

    def count_shingles(self, a: bytes, b: bytes, size: int) -> list[int]:
        """Return the numbers of shingles of `size` words: in both texts, in the first text, and in the second text.

        These three numbers are returned twice: first for all occurrences of shingles, then for distinct shingles. The
        texts are int32 arrays of word ids, as in `passages`.
        """

    def fingerprints(  # noqa: PLR0917 - the Rust function has these parameters
        self,
        texts: Sequence[str],
        profile: str,
        shingle_size: int,
        short_texts: bool,
        bucket_count: int,
        window: int,
        with_words_hash: bool,
        with_word_pairs: bool,
    ) -> tuple[Buffers, list[str]]:
        """Return the fingerprints of texts, and the hash of each text's words.

        The buffers are:

        - the minima of all texts, as in `sketch.base.Minima`: `slots` (int64), `val1` and `val2` (uint64)
        - for each text, the number of its minima (int64)
        - for each text, the number of its distinct shingles (int64)
        - the hashes that winnowing selects in all texts (uint32; see `sketch.winnow`), and their number in each text
          (int64)
        - the token ids of all pairs of words (uint32), and their number in each text (int64)
        """


@functools.cache
def kernel() -> Kernel | None:
    """Return the native kernel, or None if it is not installed or is switched off."""
    if os.environ.get("SIMDOC_NATIVE") == "0":
        return None
    try:
        import simdoc_search_native  # noqa: PLC0415 - an optional dependency
    except ImportError:
        return None
    if getattr(simdoc_search_native, "INTERFACE", 1) != INTERFACE_VERSION:
        _log.warning(
            "the installed version of simdoc-search-native does not fit this version of simdoc-search, so the slower "
            "Python code is used; update simdoc-search-native"
        )
        return None
    automaton, table = word_automaton(), character_classes()
    symbols = np.array(automaton.symbols, np.uint8)
    connectors = bytearray(len(automaton.transitions[0]))
    for number, properties in enumerate(table.properties):
        connectors[automaton.symbols[number]] = bool(properties & CONNECTOR_PROPERTIES)
    states = bytes(state for row in automaton.transitions for state in row)
    native: Kernel = simdoc_search_native.Kernel(
        symbols[table.class_ids].tobytes(), bytes(connectors), states, automaton.first_accepting_state
    )
    return native
