"""Which documents of a collection are on the same topic? Those that share rare concepts are compared.

Of each document the rarest concepts are looked up, until `MOST_MET` documents are met. Of the documents that share one
of these, the `MOST_COMPARED` that share most for their length are compared, as `related` compares them. So the cost is
linear. A pair is compared if one of the two is among the nearest of the other. By a concept that very many documents
have, only a few of these are met, always the same: so a large group of documents alike is found by these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.cancellation import check_stopped
from simdoc_search.groups.collection import AllDocuments
from simdoc_search.groups.components import Floats, Ints, Pairs, Progress, documents_of, pair_keys
from simdoc_search.sketch.concepts import PARAGRAPH_END
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.base import Store
from simdoc_search.versions.matching import shares_of_pairs
from simdoc_search.versions.ragged_arrays import at_once, expanded
from simdoc_search.versions.relations import Weighted, relation_score, similarities, weights_of

MOST_MET, ANCHORS = 2_000, 16
"""With so many documents in all the concepts of a document are looked up, the rarest first. Of a concept that more
documents have, only the first few of these are found by it."""

MOST_COMPARED = 50
"""With so many documents each is compared, and with those of which it is among as many."""

_MET_AT_ONCE = 1 << 22
_PAIRS_AT_ONCE = 1 << 15
_OTHER_BITS, _ROW_BITS, _WEIGHT_BITS = 27, 13, 20
_NEARNESS_BITS, _PLACE_BITS = 26, 24
_ROWS_AT_ONCE = 1 << _ROW_BITS
_UNIT = 1 << 10
"""A weight of 1 in the sums of weights, which have room for those of 1,024 concepts."""


class RelatedPairs(NamedTuple):
    """The related documents.

    Attributes:
        pairs: them, and those that are versions.
        is_version: which of the pairs are versions; bool, shape (pairs,).
        codes: all concepts, ascending; uint32, shape (concepts,).
        weights: what each weighs; float64, shape (concepts,).
        frequent: how many concepts stand in more than `MOST_MET` documents, so that few are found by them.
        cut: how many documents share rare concepts with more than `MOST_COMPARED` others.
        alone: how many documents share no concept with those that were met.
    """

    pairs: Pairs
    is_version: NDArray[np.bool_]
    codes: NDArray[np.uint32]
    weights: Floats
    frequent: int
    cut: int
    alone: int


class _Postings:
    """Which documents have each concept."""

    def __init__(self, documents: AllDocuments) -> None:
        keys = [number << 32 | distinct(each.codes).astype(np.int64) for number, each in enumerate(documents.concepts)]
        self.lengths = np.array([len(each) for each in keys], np.int64)
        joined = np.concatenate([np.zeros(0, np.int64), *keys])
        self.codes, self.numbers = np.unique((joined & 0xFFFFFFFF).astype(np.uint32), return_inverse=True)
        who = joined >> 32
        self.documents = who[np.argsort(self.numbers, kind="stable")]
        self.counts = np.bincount(self.numbers, minlength=len(self.codes))
        self.begins = np.cumsum(self.counts) - self.counts
        self.of_document = np.cumsum(self.lengths) - self.lengths


def related_pairs(
    store: Store, documents: AllDocuments, limits: Limits, progress: Progress, *, filtered: bool
) -> RelatedPairs:
    """All pairs of documents that were found to be related, or versions.

    Args:
        store: where they are.
        documents: them.
        limits: what makes versions, and the least score.
        progress: called with what is done now.
        filtered: whether the store has other documents too, of which concepts are to be counted as well.
    """
    postings = _Postings(documents)
    frequencies, total = postings.counts, len(documents)
    if filtered:
        counts = store.frequencies(np.append(postings.codes, np.uint32(PARAGRAPH_END)))
        frequencies, total = counts[:-1], int(counts[-1])
    weights = weights_of(frequencies, total)
    keys, cut, alone = _candidates(postings, weights, progress)
    first, second = documents_of(keys)
    weighted = Weighted(documents.concepts, postings.codes, weights)
    scores, is_version = np.zeros(len(keys)), np.zeros(len(keys), bool)
    for begin in range(0, len(keys), _PAIRS_AT_ONCE):
        some = slice(begin, begin + _PAIRS_AT_ONCE)
        similar = similarities(weighted, first[some], second[some]).tolist()
        of_versions = _version_scores(documents, limits, first[some], second[some])
        is_version[some] = of_versions >= 0
        scores[some] = np.where(is_version[some], of_versions, [relation_score(each) for each in similar])
        progress("comparing", min(1.0, some.stop / len(keys)))
    shown = np.flatnonzero(scores >= limits.min_score)
    pairs = Pairs(first[shown], second[shown], scores[shown], len(keys))
    frequent = int(np.count_nonzero(postings.counts > MOST_MET))
    return RelatedPairs(pairs, is_version[shown], postings.codes, weights, frequent, cut, alone)


def _version_scores(documents: AllDocuments, limits: Limits, first: Ints, second: Ints) -> Floats:
    """The scores of the pairs that are versions, -1 of the others."""
    found = np.full(len(first), -1.0)
    some = np.flatnonzero((documents.counts[first] > 0) & (documents.counts[second] > 0))
    run = documents.sentences, documents.begins, documents.counts
    found[some] = shares_of_pairs(*run, (first[some], second[some]), limits.bits).scores(limits)
    return found


def _candidates(postings: _Postings, weights: Floats, progress: Progress) -> tuple[NDArray[np.uint64], int, int]:
    """The pairs that are compared; how many documents share with more than are compared; and how many with none."""
    counts, owner = postings.lengths, np.repeat(np.arange(len(postings.lengths)), postings.lengths)
    met = postings.counts[postings.numbers]
    order = np.lexsort((postings.numbers, met, owner))
    order = order[met[order] > 1]
    given = np.where(postings.counts > MOST_MET, ANCHORS, postings.counts)
    taken = given[postings.numbers]
    sums = np.cumsum(taken[order])
    first = np.searchsorted(owner[order], np.arange(len(counts)))
    before = np.append(0, sums)[first]
    asked = order[sums - before[owner[order]] <= MOST_MET]
    of_document = np.bincount(owner[asked], minlength=len(counts))
    begins = np.cumsum(of_document) - of_document
    costs = np.bincount(owner[asked], taken[asked], len(counts)).astype(np.int64)
    found, cut, alone = [np.zeros(0, np.uint64)], 0, 0
    for part in at_once(np.maximum(costs, _MET_AT_ONCE // _ROWS_AT_ONCE + 1), _MET_AT_ONCE):
        check_stopped()
        who = np.arange(part.start, part.stop)
        row, at = expanded(begins[part], of_document[part])
        numbers = postings.numbers[asked[at]]
        entry, place = expanded(postings.begins[numbers], given[numbers])
        rows, others = row[entry], postings.documents[place]
        strangers = who[rows] != others
        units = np.maximum(1, np.round(weights[numbers] ** 2 * _UNIT)).astype(np.int64)
        rows, others, sums = _summed(rows[strangers], others[strangers], units[entry][strangers])
        shared = np.bincount(rows, minlength=len(who))
        best = _best(rows, sums / np.sqrt(counts[others]), shared)
        found.append(pair_keys(who[rows[best]], others[best]))
        cut += int(np.count_nonzero(shared > MOST_COMPARED))
        alone += int(np.count_nonzero(shared == 0))
        progress("looking", part.stop / len(counts))
    return distinct(np.concatenate(found)), cut, alone


def _summed(rows: Ints, others: Ints, units: Ints) -> tuple[Ints, Ints, Ints]:
    """For each row and other document once the sum of the units; they are sorted as one number, which is fastest."""
    keys = np.sort(rows << _OTHER_BITS + _WEIGHT_BITS | others << _WEIGHT_BITS | units)
    pairs = keys >> _WEIGHT_BITS
    begins = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1]))[: len(pairs)])
    sums = np.add.reduceat(keys & (1 << _WEIGHT_BITS) - 1, begins) if len(begins) else begins
    pairs = pairs[begins]
    return pairs >> _OTHER_BITS, pairs & (1 << _OTHER_BITS) - 1, sums


def _best(rows: Ints, nearness: Floats, counts: Ints) -> Ints:
    """The places of the nearest ones of each row, `MOST_COMPARED` at most; rows are ascending.

    Row, nearness and place are sorted as one number. The bits of positive floats are in the order of the floats.
    """
    far = (1 << _NEARNESS_BITS) - 1 - (nearness.astype(np.float32).view(np.uint32) >> 31 - _NEARNESS_BITS)
    keys = np.sort(rows << _NEARNESS_BITS + _PLACE_BITS | far.astype(np.int64) << _PLACE_BITS | np.arange(len(rows)))
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    found: Ints = keys[rank < MOST_COMPARED] & (1 << _PLACE_BITS) - 1
    return found
