"""Related documents among all documents: those that share rare concepts are compared.

The rarest concepts of each document are looked up until MAX_MET documents are met. Among the documents that share one
of these concepts, the MAX_COMPARED that share most for their length are compared, as in `related`. So the cost is
linear. A pair is compared if one of the two is among the nearest of the other. By a concept of very many documents,
only a few of them are met, always the same, so a large group of similar documents is found by these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.cancellation import check_stopped
from simdoc_search.duplicates.arrays import Bools, Floats, Ints, Keys, pair_keys, run_starts, split_pair_keys
from simdoc_search.groups.collection import AllDocuments, Progress
from simdoc_search.sketch.concepts import PARAGRAPH_END
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.base import Store
from simdoc_search.versions.matching import shares_of_pairs
from simdoc_search.versions.ragged_arrays import at_once, expanded
from simdoc_search.versions.relations import Weighted, relation_score, similarities, weights_of

MAX_MET, ANCHORS = 2_000, 16
"""Maximum number of documents that a document meets by its concepts. By a concept that more documents have, only the
first ANCHORS of them are met."""

MAX_COMPARED = 50
"""Number of documents with which each document is compared, besides those of which it is one of the nearest."""

_MET_AT_ONCE = 1 << 22
_PAIRS_AT_ONCE = 1 << 15
_OTHER_BITS, _ROW_BITS, _WEIGHT_BITS = 27, 13, 20
_NEARNESS_BITS, _PLACE_BITS = 26, 24
_ROWS_AT_ONCE = 1 << _ROW_BITS
_UNIT = 1 << 10
"""A weight of 1 in sums of weights. There is room for 1,024 concepts."""


class RelatedPairs(NamedTuple):
    """The related documents and the versions among all documents."""

    first: Ints  # the document of each pair with the smaller number; int64, shape (pairs,)
    second: Ints  # the other document
    scores: Floats  # their scores; float64, shape (pairs,)
    compared: int  # number of pairs that were compared
    is_version: Bools  # which of the pairs are versions; bool, shape (pairs,)
    codes: NDArray[np.uint32]  # all concepts, ascending; uint32, shape (concepts,)
    weights: Floats  # the weight of each concept; float64, shape (concepts,)
    frequent: int  # number of concepts that are in more than MAX_MET documents, so that few are met by them
    cut: int  # number of documents that share rare concepts with more than MAX_COMPARED others
    alone: int  # number of documents that share no concept with the documents that were met


class _Postings:
    """The documents of each concept, and the concepts of each document."""

    def __init__(self, documents: AllDocuments) -> None:
        keys = [number << 32 | distinct(each.codes).astype(np.int64) for number, each in enumerate(documents.concepts)]
        self.lengths = np.array([len(of_document) for of_document in keys], np.int64)
        joined = np.concatenate([np.zeros(0, np.int64), *keys])
        self.codes, self.concepts = np.unique((joined & 0xFFFFFFFF).astype(np.uint32), return_inverse=True)
        self.documents = (joined >> 32)[np.argsort(self.concepts, kind="stable")]
        self.counts = np.bincount(self.concepts, minlength=len(self.codes))
        self.begins = np.cumsum(self.counts) - self.counts


def related_pairs(
    store: Store, documents: AllDocuments, limits: Limits, progress: Progress, *, filtered: bool
) -> RelatedPairs:
    """Find all pairs of documents that are related, or versions.

    If the documents were `filtered`, the concepts of the others in the store are counted too.
    """
    postings = _Postings(documents)
    frequencies = store.concept_frequencies(postings.codes) if filtered else postings.counts
    (total,) = store.concept_frequencies(np.array([PARAGRAPH_END], np.uint32))  # every document has it, as in `related`
    weights = weights_of(frequencies, int(total))
    keys, cut, alone = _candidates(postings, weights, progress)
    first, second = split_pair_keys(keys)
    weighted = Weighted(documents.concepts, postings.codes, weights)
    scores, is_version = np.zeros(len(keys)), np.zeros(len(keys), bool)
    for begin in range(0, len(keys), _PAIRS_AT_ONCE):
        part = slice(begin, begin + _PAIRS_AT_ONCE)
        version_scores = _version_scores(documents, limits, first[part], second[part])
        relation_scores = map(relation_score, similarities(weighted, first[part], second[part]).tolist())
        is_version[part] = version_scores >= 0
        scores[part] = np.where(is_version[part], version_scores, list(relation_scores))
        progress("comparing", min(1.0, part.stop / len(keys)))
    shown = np.flatnonzero(scores >= limits.min_score)
    frequent = int(np.count_nonzero(postings.counts > MAX_MET))
    pairs = first[shown], second[shown], scores[shown], len(keys)
    return RelatedPairs(*pairs, is_version[shown], postings.codes, weights, frequent, cut, alone)


def _version_scores(documents: AllDocuments, limits: Limits, first: Ints, second: Ints) -> Floats:
    """Return the scores of the pairs that are versions, -1 for the others."""
    scores = np.full(len(first), -1.0)
    with_sentences = np.flatnonzero((documents.counts[first] > 0) & (documents.counts[second] > 0))
    pairs = first[with_sentences], second[with_sentences]
    shares = shares_of_pairs(documents.sentences, documents.begins, documents.counts, pairs, limits.bits)
    scores[with_sentences] = shares.scores(limits)
    return scores


def _candidates(postings: _Postings, weights: Floats, progress: Progress) -> tuple[Keys, int, int]:
    """Return the pairs to compare, and the numbers `cut` and `alone`."""
    count = len(postings.lengths)
    owner = np.repeat(np.arange(count), postings.lengths)
    frequency = postings.counts[postings.concepts]
    order = np.lexsort((postings.concepts, frequency, owner))
    order = order[frequency[order] > 1]
    met_by_concept = np.where(postings.counts > MAX_MET, ANCHORS, postings.counts)
    met = met_by_concept[postings.concepts]
    sums = np.cumsum(met[order])
    before = np.append(0, sums)[np.searchsorted(owner[order], np.arange(count))]
    looked_up = order[sums - before[owner[order]] <= MAX_MET]
    of_document = np.bincount(owner[looked_up], minlength=count)
    begins = np.cumsum(of_document) - of_document
    costs = np.bincount(owner[looked_up], met[looked_up], count).astype(np.int64)
    found, cut, alone = [np.zeros(0, np.uint64)], 0, 0
    for part in at_once(np.maximum(costs, _MET_AT_ONCE // _ROWS_AT_ONCE + 1), _MET_AT_ONCE):
        check_stopped()
        documents = np.arange(part.start, part.stop)
        row, at = expanded(begins[part], of_document[part])
        concepts = postings.concepts[looked_up[at]]
        entry, place = expanded(postings.begins[concepts], met_by_concept[concepts])
        rows, others = row[entry], postings.documents[place]
        is_other = documents[rows] != others
        units = np.maximum(1, np.round(weights[concepts] ** 2 * _UNIT)).astype(np.int64)
        rows, others, shared_units = _summed(rows[is_other], others[is_other], units[entry][is_other])
        shared = np.bincount(rows, minlength=len(documents))
        best = _nearest(rows, shared_units / np.sqrt(postings.lengths[others]), shared)
        first, second = documents[rows[best]], others[best]
        found.append(pair_keys(np.minimum(first, second), np.maximum(first, second)))
        cut += int(np.count_nonzero(shared > MAX_COMPARED))
        alone += int(np.count_nonzero(shared == 0))
        progress("looking", part.stop / count)
    return distinct(np.concatenate(found)), cut, alone


def _summed(rows: Ints, others: Ints, units: Ints) -> tuple[Ints, Ints, Ints]:
    """Sum the units of each row and other document. All three are sorted as one number, which is fastest."""
    keys = np.sort(rows << _OTHER_BITS + _WEIGHT_BITS | others << _WEIGHT_BITS | units)
    pairs = keys >> _WEIGHT_BITS
    begins = run_starts(pairs)
    sums = np.add.reduceat(keys & (1 << _WEIGHT_BITS) - 1, begins) if len(begins) else begins
    pairs = pairs[begins]
    return pairs >> _OTHER_BITS, pairs & (1 << _OTHER_BITS) - 1, sums


def _nearest(rows: Ints, nearness: Floats, counts: Ints) -> Ints:
    """Return the positions of the nearest ones of each row, MAX_COMPARED at most; rows are ascending.

    Row, nearness and position are sorted as one number. The bits of positive floats are in the order of the floats.
    """
    far = (1 << _NEARNESS_BITS) - 1 - (nearness.astype(np.float32).view(np.uint32) >> 31 - _NEARNESS_BITS)
    keys = np.sort(rows << _NEARNESS_BITS + _PLACE_BITS | far.astype(np.int64) << _PLACE_BITS | np.arange(len(rows)))
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    nearest: Ints = keys[rank < MAX_COMPARED] & (1 << _PLACE_BITS) - 1
    return nearest
