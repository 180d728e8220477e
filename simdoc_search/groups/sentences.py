"""Which documents of a collection are versions of each other? Those that share near sentences are compared.

Of a document of n distinct sentences, of which k or more must have a near one in the other, the n - k + 1 that stand in
fewest documents are looked up: of two versions one has all the k, so at least one of these is among them. That is the
prefix filter of Chaudhuri, Ganti, Kaushik 2006, "A primitive operator for similarity joins in data cleaning". What
stands everywhere is looked up by nobody then. All sentences that differ in few bits are found in a small collection,
and equal ones with most of the near ones in a large one.

A sentence that is in very many documents, or near to very many, pairs each of them with a few, so the cost is linear.
All pairs that are found are compared by all their sentences, as in `versions`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.cancellation import check_stopped
from simdoc_search.groups.collection import AllDocuments
from simdoc_search.groups.components import Ints, Pairs, Progress, among, documents_of, pair_keys
from simdoc_search.sketch.limits import Limits
from simdoc_search.sketch.near_bits import near_pairs, sampled_near_pairs
from simdoc_search.sketch.simhash import BITS
from simdoc_search.versions.matching import shares_of_pairs
from simdoc_search.versions.ragged_arrays import at_once, expanded

ALL_NEAR = 1 << 16
"""Up to so many distinct sentences all near ones are found; of more the equal ones, and a sample of the near ones."""

TIMES = 48
"""Random choices of bits by which near ones are found among more."""

MOST_OWNERS, ANCHORS = 100, 16
"""A sentence that more documents have pairs each of these with the first few of them only."""

_PAIRS_AT_ONCE = 1 << 22


class VersionPairs(NamedTuple):
    """The versions among all documents.

    Attributes:
        pairs: them.
        all_near: whether all near sentences were found; else the equal ones and a sample of the others.
        crowded: how many documents have one of the looked up sentences, or a near one, in common with more than
            `MOST_OWNERS`.
    """

    pairs: Pairs
    all_near: bool
    crowded: int


def version_pairs(documents: AllDocuments, limits: Limits, progress: Progress) -> VersionPairs:
    """All pairs of documents that were found to be versions of each other."""
    search = _Search(documents, limits)
    numbers = np.arange(len(search.values))
    progress("looking", 0.0)
    equal = numbers[search.owners.counts > 1]
    all_near = len(numbers) <= ALL_NEAR
    near = (
        near_pairs(search.values, BITS, limits.bits)
        if all_near
        else sampled_near_pairs(search.values, BITS, limits.bits, TIMES)
    )
    progress("looking", 1.0)
    search.compare(equal, equal, search.askers.counts, progress)
    few = np.where(search.owners.counts > MOST_OWNERS, ANCHORS, search.askers.counts)
    search.compare(*search.uncrowded(*near), np.minimum(search.askers.counts, few), progress)
    return VersionPairs(search.pairs(), all_near, len(distinct(np.concatenate(search.crowded))))


class _Owners:
    """Which documents have each distinct sentence, in order."""

    def __init__(self, numbers: Ints, documents: Ints, count: int) -> None:
        self.documents = documents[np.argsort(numbers, kind="stable")]
        self.counts = np.bincount(numbers, minlength=count)
        self.begins = np.cumsum(self.counts) - self.counts


class _Search:
    """The distinct sentences of all documents, and the pairs of documents that were compared.

    Attributes:
        values: the sentences, ascending.
        owners: who has them.
        askers: who looks them up.
        crowded: the documents that look up a sentence, but not in all documents that have it or a near one.
    """

    def __init__(self, documents: AllDocuments, limits: Limits) -> None:
        self._documents, self._limits = documents, limits
        self.values, numbers = np.unique(documents.sentences, return_inverse=True)
        who = np.repeat(np.arange(len(documents)), documents.counts)
        self.owners = _Owners(numbers, who, len(self.values))
        looked_up = _rarest(numbers, who, self.owners.counts, documents.counts, limits)
        self.askers = _Owners(numbers[looked_up], who[looked_up], len(self.values))
        self.crowded: list[Ints] = []
        self._note_crowd(self.owners.counts > MOST_OWNERS)
        self._seen = np.zeros(0, np.uint64)
        self._found = [(np.zeros(0, np.uint64), np.zeros(0))]

    def uncrowded(self, a: Ints, b: Ints) -> tuple[Ints, Ints]:
        """Pairs of near sentences in both orders, but of a sentence that is near to very many a few only."""
        asking, asked = np.append(a, b), np.append(b, a)
        order = np.lexsort((asked, asking))
        asking, asked = asking[order], asked[order]
        counts = np.bincount(asking, minlength=len(self.values))
        rank = np.arange(len(asking)) - (np.cumsum(counts) - counts)[asking]
        self._note_crowd(counts > MOST_OWNERS)
        kept = rank < np.where(counts > MOST_OWNERS, ANCHORS, counts)[asking]
        return asking[kept], asked[kept]

    def compare(self, asking: Ints, asked: Ints, askers: Ints, progress: Progress) -> None:
        """Compare documents that look up one of some sentences with those that have the near one.

        Args:
            asking: the number of the sentence that is looked up.
            asked: that of the one that is equal or near to it.
            askers: how many of the documents that look each sentence up are compared.
            progress: called with what is done.
        """
        given = np.where(self.owners.counts > MOST_OWNERS, ANCHORS, self.owners.counts)
        costs = askers[asking] * given[asked]
        done, total = 0, max(1, int(costs.sum()))
        for part in at_once(costs, _PAIRS_AT_ONCE):
            one, other = asking[part], asked[part]
            run, at = expanded(self.askers.begins[one], askers[one])
            mine = self.askers.documents[at]
            pair, at = expanded(self.owners.begins[other][run], given[other][run])
            first, second = mine[pair], self.owners.documents[at]
            self._judge(pair_keys(first, second)[first != second])
            done += int(costs[part].sum())
            progress("comparing", done / total)
            check_stopped()

    def pairs(self) -> Pairs:
        """Those that are versions."""
        keys, scores = (np.concatenate(each) for each in zip(*self._found, strict=True))
        order = np.argsort(keys, kind="stable")
        return Pairs(*documents_of(keys[order]), scores[order], len(self._seen))

    def _note_crowd(self, crowded: NDArray[np.bool_]) -> None:
        self.crowded.append(self.askers.documents[np.repeat(crowded, self.askers.counts)])

    def _judge(self, keys: NDArray[np.uint64]) -> None:
        fresh = distinct(keys)
        fresh = fresh[~among(fresh, self._seen)]
        self._seen = np.sort(np.append(self._seen, fresh))
        documents = self._documents
        shares = shares_of_pairs(
            documents.sentences, documents.begins, documents.counts, documents_of(fresh), self._limits.bits
        )
        scores = shares.scores(self._limits)
        shown = scores >= self._limits.min_score
        self._found.append((fresh[shown], scores[shown]))


def _rarest(numbers: Ints, who: Ints, owners: Ints, counts: Ints, limits: Limits) -> Ints:
    """The places of the sentences that are looked up: of each document those that stand in fewest documents."""
    order = np.lexsort((numbers, owners[numbers], who))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    needed = np.maximum(1, np.ceil(counts * limits.enough - 1e-9)).astype(np.int64)
    found: Ints = order[rank <= np.repeat(counts - needed, counts)]
    return found
