"""Which concepts tell most of what a document is about? Those that few documents have."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.sketch.concepts import PARAGRAPH_END, Paragraphs
from simdoc_search.versions.relations import Weighted, similarities, weights_of

MOST_ASKED = 256
"""Concepts that are asked for: the rarest of those that another document has."""

MOST_MET = 50_000
"""As often as these stand in documents; of concepts that are in very many fewer are asked for, 8 at least."""

_LEAST_ASKED = 8

Codes = NDArray[np.uint32]
Ints = NDArray[np.int64]


class Telling:
    """The concepts of a document among all documents.

    Args:
        concepts: those of the document.
        frequencies: in how many documents each of some concepts stands; asked only what is to be known.
        stored: whether the document is one of these.

    Attributes:
        concepts: the same.
    """

    def __init__(self, concepts: Paragraphs, frequencies: Callable[[Codes], Ints], *, stored: bool) -> None:
        self.concepts = concepts
        self._codes = distinct(concepts.codes)
        counts = frequencies(np.append(self._codes, np.uint32(PARAGRAPH_END)))
        self._counts, self._documents = counts[:-1], int(counts[-1])  # each document has the end of a paragraph
        self._others = self._counts - int(stored)
        self._weights = weights_of(self._counts, self._documents)
        self._frequencies = frequencies

    def asked(self) -> Codes:
        """The rarest concepts that other documents have too; uint32, shape (concepts,)."""
        order = np.argsort(self._counts, kind="stable")
        order = order[self._others[order] > 0][:MOST_ASKED]
        fits = int(np.count_nonzero(np.cumsum(self._counts[order]) <= MOST_MET))
        return self._codes[order[: max(fits, _LEAST_ASKED)]]

    @property
    def documents(self) -> int:
        """How many documents have concepts."""
        return self._documents

    def weights(self) -> dict[int, float]:
        """What each concept weighs."""
        return dict(zip(self._codes.tolist(), self._weights.tolist(), strict=True))

    def counts(self) -> dict[int, int]:
        """In how many documents each concept is."""
        return dict(zip(self._codes.tolist(), self._counts.tolist(), strict=True))

    def shared(self, other: Paragraphs) -> int:
        """How many of the concepts another document has."""
        return int(np.count_nonzero(np.isin(self._codes, other.codes)))

    def nearness(self, other: Paragraphs) -> float:
        """How much another document shares for its length, for choosing which ones are compared; 0 or more."""
        shared = self._weights[np.isin(self._codes, other.codes)]
        return float((shared**2).sum()) / math.sqrt(max(1, len(distinct(other.codes))))

    def weighted(self, others: Sequence[Paragraphs]) -> Weighted:
        """The document, which is number 0, and others, with their concepts weighted."""
        codes = distinct(np.concatenate([self._codes, *(each.codes for each in others)]))
        mine = np.isin(codes, self._codes)
        weights = np.empty(len(codes))
        weights[mine] = self._weights
        weights[~mine] = weights_of(self._frequencies(codes[~mine]), self._documents)
        return Weighted([self.concepts, *others], codes, weights)

    @staticmethod
    def similarities(weighted: Weighted) -> list[float]:
        """How alike the document, which is number 0, and each other one are, 0..1."""
        others = np.arange(1, len(weighted.counts))
        found: list[float] = similarities(weighted, np.zeros_like(others), others).tolist()
        return found
