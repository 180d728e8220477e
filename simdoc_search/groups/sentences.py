"""Versions among all documents: documents that share similar sentences are compared.

Let a document have n distinct sentences, of which k must have a similar one in a version. Its n - k + 1 sentences that
are in the fewest documents are looked up: one of two versions has all k similar sentences, so at least one of these is
looked up (prefix filter: Chaudhuri, Ganti, Kaushik 2006, "A primitive operator for similarity joins in data cleaning").
Sentences that are in all documents are not looked up.

A small collection is searched for all similar sentences, a large one for all equal ones and a sample of the others. A
sentence that is in very many documents, or similar to very many, pairs each of them with a few, so the cost is linear.
All pairs are compared by all their sentences, as in `versions`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.cancellation import check_stopped
from simdoc_search.duplicates.arrays import Bools, Floats, Ints, Keys, is_in_sorted, pair_keys, split_pair_keys
from simdoc_search.groups.collection import AllDocuments, Progress
from simdoc_search.sketch.limits import Limits
from simdoc_search.sketch.near_bits import near_pairs, sampled_near_pairs
from simdoc_search.sketch.simhash import BITS
from simdoc_search.versions.matching import shares_of_pairs
from simdoc_search.versions.ragged_arrays import at_once, expanded

MAX_SEARCHED = 1 << 16
"""Maximum number of distinct sentences of which all similar pairs are found."""

_SAMPLES = 48
"""Random choices of bits by which similar sentences are found among more."""

MAX_OWNERS, ANCHORS = 100, 16
"""Each document with a sentence that more than MAX_OWNERS documents have is only paired with the first ANCHORS."""

_PAIRS_AT_ONCE = 1 << 22


class VersionPairs(NamedTuple):
    """The versions among all documents."""

    first: Ints  # the document of each pair with the smaller number; int64, shape (pairs,)
    second: Ints  # the other document
    scores: Floats  # their scores; float64, shape (pairs,)
    compared: int  # number of pairs that were compared
    all_near: bool  # whether all similar sentences were found; else the equal ones and a sample of the others
    # number of documents that have a looked up sentence, or a similar one, in common with more than MAX_OWNERS
    # documents
    crowded: int


def version_pairs(documents: AllDocuments, limits: Limits, progress: Progress) -> VersionPairs:
    """Find all pairs of documents that are versions of each other."""
    search = _Search(documents, limits, progress)
    count = len(search.values)
    progress("looking", 0.0)
    all_near = count <= MAX_SEARCHED
    if all_near:
        near = near_pairs(search.values, BITS, limits.bits)
    else:
        near = sampled_near_pairs(search.values, BITS, limits.bits, _SAMPLES)
    progress("looking", 1.0)
    equal = np.arange(count)[search.owners.counts > 1]
    search.compare(equal, equal, search.seekers.counts)
    few = np.where(search.owners.counts > MAX_OWNERS, ANCHORS, search.seekers.counts)
    search.compare(*search.thinned(*near), np.minimum(search.seekers.counts, few))
    return search.result(all_near=all_near)


class _DocumentsOfSentences:
    """The documents of each distinct sentence, sentence after sentence."""

    def __init__(self, sentences: Ints, documents: Ints, count: int) -> None:
        self.documents = documents[np.argsort(sentences, kind="stable")]
        self.counts = np.bincount(sentences, minlength=count)
        self.begins = np.cumsum(self.counts) - self.counts


class _Search:
    """The pairs of documents that were compared.

    Attributes:
        values: the distinct sentences of all documents, ascending.
        owners: the documents that have each sentence.
        seekers: the documents that look it up.
    """

    def __init__(self, documents: AllDocuments, limits: Limits, progress: Progress) -> None:
        self._documents, self._limits, self._progress = documents, limits, progress
        self.values, sentences = np.unique(documents.sentences, return_inverse=True)
        owner = np.repeat(np.arange(len(documents)), documents.counts)
        self.owners = _DocumentsOfSentences(sentences, owner, len(self.values))
        looked_up = _rarest(sentences, owner, self.owners.counts, documents.counts, limits)
        self.seekers = _DocumentsOfSentences(sentences[looked_up], owner[looked_up], len(self.values))
        self._crowded: list[Ints] = []
        self._note_crowded(self.owners.counts > MAX_OWNERS)
        self._compared: Keys = np.zeros(0, np.uint64)
        self._found = [(np.zeros(0, np.uint64), np.zeros(0))]

    def thinned(self, a: Ints, b: Ints) -> tuple[Ints, Ints]:
        """Return pairs of similar sentences in both orders, but only a few of a sentence similar to very many."""
        sought, similar = np.append(a, b), np.append(b, a)
        order = np.lexsort((similar, sought))
        sought, similar = sought[order], similar[order]
        counts = np.bincount(sought, minlength=len(self.values))
        rank = np.arange(len(sought)) - (np.cumsum(counts) - counts)[sought]
        self._note_crowded(counts > MAX_OWNERS)
        is_left = rank < np.where(counts > MAX_OWNERS, ANCHORS, counts)[sought]
        return sought[is_left], similar[is_left]

    def compare(self, sought: Ints, similar: Ints, seeker_counts: Ints) -> None:
        """Compare documents that look up one of some sentences with those that have the similar one.

        Of the documents that look up a sentence, the first `seeker_counts` are compared.
        """
        owner_counts = np.where(self.owners.counts > MAX_OWNERS, ANCHORS, self.owners.counts)
        costs = seeker_counts[sought] * owner_counts[similar]
        done, total = 0, max(1, int(costs.sum()))
        for part in at_once(costs, _PAIRS_AT_ONCE):
            row, at = expanded(self.seekers.begins[sought[part]], seeker_counts[sought[part]])
            seekers = self.seekers.documents[at]
            pair, at = expanded(self.owners.begins[similar[part]][row], owner_counts[similar[part]][row])
            first, second = seekers[pair], self.owners.documents[at]
            keys = pair_keys(np.minimum(first, second), np.maximum(first, second))
            self._compare_pairs(keys[first != second])
            done += int(costs[part].sum())
            self._progress("comparing", done / total)
            check_stopped()

    def result(self, *, all_near: bool) -> VersionPairs:
        """Return the pairs that are versions."""
        keys, scores = (np.concatenate(parts) for parts in zip(*self._found, strict=True))
        order = np.argsort(keys, kind="stable")
        crowded = len(distinct(np.concatenate(self._crowded)))
        return VersionPairs(*split_pair_keys(keys[order]), scores[order], len(self._compared), all_near, crowded)

    def _note_crowded(self, is_crowded: Bools) -> None:
        self._crowded.append(self.seekers.documents[np.repeat(is_crowded, self.seekers.counts)])

    def _compare_pairs(self, keys: Keys) -> None:
        keys = distinct(keys)
        keys = keys[~is_in_sorted(keys, self._compared)]
        self._compared = np.sort(np.append(self._compared, keys))
        documents, limits = self._documents, self._limits
        arrays = documents.sentences, documents.begins, documents.counts
        scores = shares_of_pairs(*arrays, split_pair_keys(keys), limits.bits).scores(limits)
        is_version = scores >= limits.min_score
        self._found.append((keys[is_version], scores[is_version]))


def _rarest(sentences: Ints, owner: Ints, owner_counts: Ints, counts: Ints, limits: Limits) -> Ints:
    """Return the positions of the sentences to look up: of each document those that are in the fewest documents."""
    order = np.lexsort((sentences, owner_counts[sentences], owner))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    needed = np.maximum(1, np.ceil(counts * limits.enough - 1e-9)).astype(np.int64)
    looked_up: Ints = order[rank <= np.repeat(counts - needed, counts)]
    return looked_up
