"""Finds related documents in a whole collection, by comparing documents that share rare concepts.

For each document, the rarest concepts are looked up until they yield MAX_CANDIDATES other documents. The score of such
a candidate is the sum of the squared weights of the shared concepts, divided by the square root of the number of
concepts in the candidate. The MAX_COMPARED_CANDIDATES candidates with the highest scores are compared, as in `related`.
So the cost is linear. A pair is compared if either document is among these candidates of the other.

If more than MAX_CANDIDATES documents have a concept, it yields only a few of these documents, always the same ones. So
all members of a large group of similar documents are compared with the same few documents, which connect the group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.ragged_arrays import expand_runs, positions_in_runs, slices_by_cost
from simdoc_search.cancellation import check_stopped
from simdoc_search.duplicates.arrays import Bools, Floats, Ints, Keys, pair_keys, run_starts, split_pair_keys
from simdoc_search.groups.comparable_documents import ComparableDocuments, Progress
from simdoc_search.sketch.concepts import PARAGRAPH_END
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.stores.base import Store
from simdoc_search.versions.pair_scores import score_pairs
from simdoc_search.versions.relations import WeightedConcepts, concept_weights, relation_score, similarities

MAX_CANDIDATES = 2_000
"""Maximum number of candidates per document. A concept is called frequent if more documents than this have it."""

MAX_DOCUMENTS_PER_FREQUENT_CONCEPT = 16
"""Maximum number of candidates that a frequent concept yields."""

MAX_COMPARED_CANDIDATES = 50
"""Maximum number of candidates with which a document is compared. A document is also compared with the documents that
have it as one of their nearest candidates."""

_CANDIDATES_PER_BATCH = 1 << 22
_PAIRS_PER_BATCH = 1 << 15
_CANDIDATE_BITS, _DOCUMENT_BITS, _WEIGHT_BITS = 27, 13, 20
_NEARNESS_BITS, _POSITION_BITS = 26, 24
_DOCUMENTS_PER_BATCH = 1 << _DOCUMENT_BITS
_WEIGHT_UNIT = 1 << 10
"""The integer that represents a squared weight of 1, which is the maximum."""


class RelatedPairs(NamedTuple):
    """All pairs of documents that are related, or versions of each other."""

    first_documents: Ints  # position of the first document of each pair; int64, shape (pairs,)
    second_documents: Ints  # position of the second document, greater than that of the first
    scores: Floats  # score of each pair; float64, shape (pairs,)
    compared_count: int  # number of pairs that were compared
    is_version: Bools  # whether each pair is a pair of versions; bool, shape (pairs,)
    concept_ids: NDArray[np.uint32]  # token ids of all concepts, ascending; uint32, shape (concepts,)
    weights: Floats  # weight of each concept; float64, shape (concepts,)
    # number of concepts in more than MAX_CANDIDATES documents; see MAX_DOCUMENTS_PER_FREQUENT_CONCEPT
    frequent_concept_count: int
    partly_compared_document_count: int  # number of documents with more than MAX_COMPARED_CANDIDATES candidates
    isolated_document_count: int  # number of documents without candidates


class _Postings:
    """The documents of each concept, and the concepts of each document."""

    def __init__(self, documents: ComparableDocuments) -> None:
        keys = [
            number << 32 | distinct(paragraphs.token_ids).astype(np.int64)
            for number, paragraphs in enumerate(documents.concepts)
        ]
        self.lengths = np.array([len(keys_of_document) for keys_of_document in keys], np.int64)
        joined = np.concatenate([np.zeros(0, np.int64), *keys])
        self.concept_ids, self.concepts = np.unique((joined & 0xFFFFFFFF).astype(np.uint32), return_inverse=True)
        self.documents = (joined >> 32)[np.argsort(self.concepts, kind="stable")]
        self.counts = np.bincount(self.concepts, minlength=len(self.concept_ids))
        self.begins = np.cumsum(self.counts) - self.counts


def find_related_pairs(
    store: Store,
    documents: ComparableDocuments,
    thresholds: SimilarityThresholds,
    progress: Progress,
    *,
    is_filtered: bool,
) -> RelatedPairs:
    """Find all pairs of documents that are related, or versions of each other.

    If the documents were filtered (`is_filtered`), document frequencies also count the other documents in the store.
    """
    postings = _Postings(documents)
    frequencies = store.concept_frequencies(postings.concept_ids) if is_filtered else postings.counts
    (total,) = store.concept_frequencies(np.array([PARAGRAPH_END], np.uint32))  # every document has this token
    weights = concept_weights(frequencies, int(total))
    keys, too_many_count, without_count = _find_candidate_pairs(postings, weights, progress)
    first, second = split_pair_keys(keys)
    weighted = WeightedConcepts(documents.concepts, postings.concept_ids, weights)
    scores, is_version = np.zeros(len(keys)), np.zeros(len(keys), bool)
    for begin in range(0, len(keys), _PAIRS_PER_BATCH):
        batch = slice(begin, begin + _PAIRS_PER_BATCH)
        version_scores = _score_versions(documents, thresholds, first[batch], second[batch])
        relation_scores = map(relation_score, similarities(weighted, first[batch], second[batch]).tolist())
        is_version[batch] = version_scores >= 0
        scores[batch] = np.where(is_version[batch], version_scores, list(relation_scores))
        progress("comparing", min(1.0, batch.stop / len(keys)))
    is_similar = np.flatnonzero(scores >= thresholds.min_score)
    frequent = int(np.count_nonzero(postings.counts > MAX_CANDIDATES))
    pairs = first[is_similar], second[is_similar], scores[is_similar], len(keys)
    return RelatedPairs(
        *pairs, is_version[is_similar], postings.concept_ids, weights, frequent, too_many_count, without_count
    )


def _score_versions(
    documents: ComparableDocuments, thresholds: SimilarityThresholds, first: Ints, second: Ints
) -> Floats:
    """Return the score of each pair of versions, and -1 for all other pairs."""
    scores = np.full(len(first), -1.0)
    with_sentences = np.flatnonzero((documents.simhash_counts[first] > 0) & (documents.simhash_counts[second] > 0))
    pairs = first[with_sentences], second[with_sentences]
    scores[with_sentences] = score_pairs(
        documents.simhashes, documents.simhash_starts, documents.simhash_counts, pairs, thresholds
    )
    return scores


def _find_candidate_pairs(postings: _Postings, weights: Floats, progress: Progress) -> tuple[Keys, int, int]:
    """Return the pairs to compare, the number of documents with too many candidates, and of those without any."""
    count = len(postings.lengths)
    owner = np.repeat(np.arange(count), postings.lengths)
    frequency = postings.counts[postings.concepts]
    order = np.lexsort((postings.concepts, frequency, owner))
    order = order[frequency[order] > 1]
    documents_of_concept = np.where(
        postings.counts > MAX_CANDIDATES, MAX_DOCUMENTS_PER_FREQUENT_CONCEPT, postings.counts
    )
    yields = documents_of_concept[postings.concepts]
    sums = np.cumsum(yields[order])
    before = np.append(0, sums)[np.searchsorted(owner[order], np.arange(count))]
    looked_up = order[sums - before[owner[order]] <= MAX_CANDIDATES]
    concept_counts = np.bincount(owner[looked_up], minlength=count)
    begins = np.cumsum(concept_counts) - concept_counts
    costs = np.bincount(owner[looked_up], yields[looked_up], count).astype(np.int64)
    pairs, too_many_count, without_count = [np.zeros(0, np.uint64)], 0, 0
    for batch in slices_by_cost(
        np.maximum(costs, _CANDIDATES_PER_BATCH // _DOCUMENTS_PER_BATCH + 1), _CANDIDATES_PER_BATCH
    ):
        check_stopped()
        documents = np.arange(batch.start, batch.stop)
        batch_document, position = expand_runs(begins[batch], concept_counts[batch])
        concepts = postings.concepts[looked_up[position]]
        entry, position = expand_runs(postings.begins[concepts], documents_of_concept[concepts])
        batch_documents, others = batch_document[entry], postings.documents[position]
        is_other = documents[batch_documents] != others
        squared_weights = np.maximum(1, np.round(weights[concepts] ** 2 * _WEIGHT_UNIT)).astype(np.int64)
        batch_documents, others, sums_of_pairs = _sum_by_pair(
            batch_documents[is_other], others[is_other], squared_weights[entry][is_other]
        )
        shared = np.bincount(batch_documents, minlength=len(documents))
        best = _find_nearest(batch_documents, sums_of_pairs / np.sqrt(postings.lengths[others]), shared)
        first, second = documents[batch_documents[best]], others[best]
        pairs.append(pair_keys(np.minimum(first, second), np.maximum(first, second)))
        too_many_count += int(np.count_nonzero(shared > MAX_COMPARED_CANDIDATES))
        without_count += int(np.count_nonzero(shared == 0))
        progress("pairing", batch.stop / count)
    return distinct(np.concatenate(pairs)), too_many_count, without_count


def _sum_by_pair(batch_documents: Ints, candidates: Ints, squared_weights: Ints) -> tuple[Ints, Ints, Ints]:
    """Return each pair of a document and a candidate, and the sum of the squared weights of their shared concepts.

    Each entry of the arrays is the position of a document in the batch (`batch_documents`), a candidate (`candidates`),
    and the squared weight of a concept that both have, as a multiple of 1 / _WEIGHT_UNIT. For speed, these three
    integers are packed into one before sorting.
    """
    keys = np.sort(batch_documents << _CANDIDATE_BITS + _WEIGHT_BITS | candidates << _WEIGHT_BITS | squared_weights)
    pairs = keys >> _WEIGHT_BITS
    begins = run_starts(pairs)
    sums = np.add.reduceat(keys & (1 << _WEIGHT_BITS) - 1, begins) if len(begins) else begins
    pairs = pairs[begins]
    return pairs >> _CANDIDATE_BITS, pairs & (1 << _CANDIDATE_BITS) - 1, sums


def _find_nearest(batch_documents: Ints, scores: Floats, candidate_counts: Ints) -> Ints:
    """Return the positions of the best candidates of each document, at most MAX_COMPARED_CANDIDATES per document.

    `batch_documents` contains the document of each candidate, ascending. `candidate_counts` contains the number of
    candidates of each document. For speed, document, score and position are packed into one integer before sorting.
    This works because the bits of positive floats, read as an integer, have the same order as the floats.
    """
    far = (1 << _NEARNESS_BITS) - 1 - (scores.astype(np.float32).view(np.uint32) >> 31 - _NEARNESS_BITS)
    keys = np.sort(
        batch_documents << _NEARNESS_BITS + _POSITION_BITS
        | far.astype(np.int64) << _POSITION_BITS
        | np.arange(len(batch_documents))
    )
    is_near = positions_in_runs(0, candidate_counts) < MAX_COMPARED_CANDIDATES
    nearest: Ints = keys[is_near] & (1 << _POSITION_BITS) - 1
    return nearest
