"""Which documents are related to this one? Its rarest concepts choose, all concepts of both decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import Place
from simdoc_search.errors import QuerySyntaxError, SimdocError
from simdoc_search.search.filtering import unknown_field
from simdoc_search.search.related_result import RelatedHit, RelatedResult
from simdoc_search.search.related_source import RelatedSource
from simdoc_search.search.texts import read_records
from simdoc_search.sketch.concepts import PARAGRAPH_END, Paragraphs, paragraphs_of
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters, conditions
from simdoc_search.stores.record import Record
from simdoc_search.versions import THETA, Limits, matched_with_many
from simdoc_search.versions.relations import SHOWN, Weighted, relation_score, similarity, weights_of

__all__ = ["RelatedOptions", "related_to"]

MOST_ASKED = 256
"""Concepts that are asked for: the rarest of those that another document has."""

MOST_MET = 50_000
"""As often as these stand in documents; of concepts that are in very many fewer are asked for, 8 at least."""

_LEAST_ASKED = 8

MOST_LOOKED_AT = 200
"""Documents whose concepts are read, or four times as many as are wanted: those that share most of the rare ones."""

MOST_COMPARED = 50
"""Documents that are compared, or twice as many as are wanted: those of them that share most for their length."""

_LOOKED_AT_PER_HIT, _COMPARED_PER_HIT = 4, 2

Codes = NDArray[np.uint32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RelatedOptions:
    """How related documents are asked for.

    Attributes:
        size: most documents to give, at least 1.
        filters: which documents are looked at.
        exclude: one that is not: for a text, the document that it is.

    Raises:
        QuerySyntaxError: one of them is not what it can be.
    """

    size: int = 10
    filters: Filters | None = None
    exclude: Place | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.size, int) or isinstance(self.size, bool) or self.size < 1:
            raise QuerySyntaxError(f"size must be at least 1, not {self.size!r}")
        conditions(self.filters)


def related_to(store: Store, source: RelatedSource, options: RelatedOptions) -> RelatedResult:
    """The documents that are related to a source.

    Raises:
        UnknownFieldError: nothing is found, and no document has the field of a filter.
        FormatMismatchError: the store has no concepts.
    """
    known = _Known(store, source)
    most = max(MOST_LOOKED_AT, _LOOKED_AT_PER_HIT * options.size)
    left_out = source.place or options.exclude
    found = store.sharing(known.asked(), among="concepts", filters=options.filters, exclude=left_out, size=most)
    if not found.total and (error := unknown_field(store, options.filters)):
        raise error
    records = list(read_records(store, [each.place for each in found.documents], text=False, sketches=True).values())
    most = max(MOST_COMPARED, _COMPARED_PER_HIT * options.size)
    compared = known.nearest([(each, paragraphs_of(each.concepts)) for each in records])[:most]
    hits = [each for each in _scored(known, source, compared) if each.score >= SHOWN]
    best = sorted(hits, key=lambda hit: (-hit.score, hit.id, str(hit.place.index)))[: options.size]
    shown, unnamed = _named(known, source, best, {record.place: its for record, its in compared})
    return RelatedResult(source.name, shown, found.total, len(compared), unnamed)


class _Known:
    """In how many documents concepts are, as far as that was asked.

    Attributes:
        codes: the concepts of the source, ascending.
        weights: what each of them weighs.
    """

    def __init__(self, store: Store, source: RelatedSource) -> None:
        self._store = store
        self.codes = np.unique(source.concepts.codes)
        counts = store.frequencies(np.append(self.codes, np.uint32(PARAGRAPH_END)))
        self._frequencies, self._documents = counts[:-1], int(counts[-1])  # each document has the end of a paragraph
        self._others = self._frequencies - (source.place is not None)
        self.weights = weights_of(self._frequencies, self._documents)

    def asked(self) -> Codes:
        """The rarest concepts that other documents have too."""
        order = np.argsort(self._frequencies, kind="stable")
        order = order[self._others[order] > 0][:MOST_ASKED]
        fits = int(np.count_nonzero(np.cumsum(self._frequencies[order]) <= MOST_MET))
        return self.codes[order[: max(fits, _LEAST_ASKED)]]

    def shared(self, other: Paragraphs) -> NDArray[np.bool_]:
        """Which concepts of the source another document has; shape (codes,)."""
        return np.isin(self.codes, other.codes)

    def nearest(self, others: Sequence[tuple[Record, Paragraphs]]) -> list[tuple[Record, Paragraphs]]:
        """Those that share most for their length first; without those that have no concepts any more."""

        def nearness(each: Paragraphs) -> float:
            return float((self.weights[self.shared(each)] ** 2).sum()) / math.sqrt(len(np.unique(each.codes)))

        return sorted((each for each in others if each[1].count), key=lambda each: (-nearness(each[1]), each[0].id))

    def weighted(self, documents: Sequence[Paragraphs]) -> list[Weighted]:
        """Documents with their concepts weighted."""
        codes = np.unique(np.concatenate([self.codes, *(each.codes for each in documents)]))
        weights = np.empty(len(codes))
        mine = np.isin(codes, self.codes)
        weights[mine] = self.weights
        weights[~mine] = weights_of(self._store.frequencies(codes[~mine]), self._documents)
        return [Weighted(each, codes, weights) for each in documents]


def _scored(known: _Known, source: RelatedSource, compared: Sequence[tuple[Record, Paragraphs]]) -> list[RelatedHit]:
    """All that were compared, with their scores: that of versions for those that are such."""
    mine, *others = known.weighted([source.concepts, *(each for _, each in compared)])
    scores = [relation_score(similarity(mine, each)) for each in others]
    matched = matched_with_many(source.sentences, [sentences_of_codes(each.sentences) for each, _ in compared])
    hits = []
    for (record, its), score, sentences in zip(compared, scores, matched, strict=True):
        version = Limits().score(sentences.share, sentences.share_of_other)
        shared = int(np.count_nonzero(known.shared(its)))
        if version is not None and version >= THETA:
            hits.append(RelatedHit(record.place, version, "version", shared))
        else:
            hits.append(RelatedHit(record.place, score, "related", shared))
    return hits


def _named(
    known: _Known, source: RelatedSource, hits: list[RelatedHit], concepts: dict[Place, Paragraphs]
) -> tuple[list[RelatedHit], str]:
    """The hits with the names of what they share, or why there are none."""
    if not hits:
        return hits, ""
    try:
        names = source.names()
    except SimdocError as error:
        return hits, str(error)
    weights = dict(zip(known.codes.tolist(), known.weights.tolist(), strict=True))
    shared = [names.shared(set(concepts[each.place].codes.tolist()), weights) for each in hits]
    return [replace(each, concepts=its) for each, its in zip(hits, shared, strict=True)], ""
