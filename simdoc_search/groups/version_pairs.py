"""Finds versions in a whole collection, by comparing documents that share similar sentences.

Two documents are versions of each other if at least k of the n distinct sentences of one have a similar sentence in the
other. For each document, the n - k + 1 sentences that the fewest documents contain are looked up. At least one of any k
sentences is among them, so all versions are found (prefix filter: Chaudhuri, Ganti, Kaushik 2006, "A primitive operator
for similarity joins in data cleaning"). Frequent sentences, such as a footer, are rarely looked up.

In a small collection, all similar sentences are found. In a large one, all equal sentences and a sample of the similar
ones are found. If very many documents contain a sentence, or very many sentences are similar to it, each document with
this sentence is only paired with a few of the others. So the cost is linear. Pairs are compared by all their sentences,
as in `versions`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.ragged_arrays import expand_runs, positions_in_runs, slices_by_cost
from simdoc_search.cancellation import check_stopped
from simdoc_search.duplicates.arrays import Bools, Floats, Ints, Keys, is_in_sorted, pair_keys, split_pair_keys
from simdoc_search.groups.comparable_documents import ComparableDocuments, Progress
from simdoc_search.sketch.hamming_search import find_near_pairs, sample_near_pairs
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.versions.pair_scores import score_pairs

MAX_SENTENCES_FOR_EXACT_SEARCH = 1 << 16
"""Maximum number of distinct sentences among which all similar pairs are found."""

_SAMPLE_COUNT = 48
"""Number of random samples of simhash bits. Among more than MAX_SENTENCES_FOR_EXACT_SEARCH sentences, a similar pair is
found if its simhashes are equal in at least one sample."""

FREQUENT_SENTENCE_LIMIT, MAX_PARTNERS_PER_FREQUENT_SENTENCE = 100, 16
"""A sentence in more than FREQUENT_SENTENCE_LIMIT documents is frequent. Each of these documents is only paired with
the first MAX_PARTNERS_PER_FREQUENT_SENTENCE documents that contain the sentence. A sentence with more than
FREQUENT_SENTENCE_LIMIT similar sentences is only paired with the first MAX_PARTNERS_PER_FREQUENT_SENTENCE of them."""

_PAIRS_PER_BATCH = 1 << 22


class VersionPairs(NamedTuple):
    """All pairs of versions."""

    first_documents: Ints  # position of the first document of each pair; int64, shape (pairs,)
    second_documents: Ints  # position of the second document, greater than that of the first
    scores: Floats  # score of each pair; float64, shape (pairs,)
    compared_count: int  # number of pairs that were compared
    # whether all similar sentences were found; otherwise only all equal ones, and a sample of the similar ones
    found_all_similar_sentences: bool
    # number of documents that were not compared with all candidates, because a sentence that was looked up is frequent
    frequent_sentence_document_count: int


def find_version_pairs(
    documents: ComparableDocuments, thresholds: SimilarityThresholds, progress: Progress
) -> VersionPairs:
    """Find all pairs of documents that are versions of each other."""
    search = _VersionSearch(documents, thresholds, progress)
    count = len(search.simhashes)
    progress("pairing", 0.0)
    is_small = count <= MAX_SENTENCES_FOR_EXACT_SEARCH
    if is_small:
        similar_pairs = find_near_pairs(search.simhashes, thresholds.max_distance)
    else:
        similar_pairs = sample_near_pairs(search.simhashes, thresholds.max_distance, _SAMPLE_COUNT)
    progress("pairing", 1.0)
    equal = np.arange(count)[search.containing_documents.counts > 1]
    search.compare_documents(equal, equal, search.lookup_documents.counts)
    limited_counts = np.where(
        search.containing_documents.counts > FREQUENT_SENTENCE_LIMIT,
        MAX_PARTNERS_PER_FREQUENT_SENTENCE,
        search.lookup_documents.counts,
    )
    search.compare_documents(
        *search.limit_similar_pairs(*similar_pairs), np.minimum(search.lookup_documents.counts, limited_counts)
    )
    return search.make_result(found_all_similar_sentences=is_small)


class _DocumentsOfSentences:
    """The documents of each distinct sentence, in one array; see `begins` and `counts`."""

    def __init__(self, sentences: Ints, documents: Ints, count: int) -> None:
        self.documents = documents[np.argsort(sentences, kind="stable")]
        self.counts = np.bincount(sentences, minlength=count)
        self.begins = np.cumsum(self.counts) - self.counts


class _VersionSearch:
    """Compares documents that share similar sentences, and collects the versions.

    Attributes:
        simhashes: the simhashes of the distinct sentences of all documents, ascending.
        containing_documents: the documents that contain each sentence.
        lookup_documents: for each sentence, the documents for which it is looked up.
    """

    def __init__(self, documents: ComparableDocuments, thresholds: SimilarityThresholds, progress: Progress) -> None:
        self._documents, self._thresholds, self._progress = documents, thresholds, progress
        self._is_short = np.array([hashes.is_short for hashes in documents.text_hashes], np.bool_)
        self.simhashes, sentence_of_occurrence = np.unique(documents.simhashes, return_inverse=True)
        document_of_occurrence = np.repeat(np.arange(len(documents)), documents.simhash_counts)
        self.containing_documents = _DocumentsOfSentences(
            sentence_of_occurrence, document_of_occurrence, len(self.simhashes)
        )
        looked_up = _find_rarest_sentences(
            sentence_of_occurrence,
            document_of_occurrence,
            self.containing_documents.counts,
            documents.simhash_counts,
            thresholds,
        )
        self.lookup_documents = _DocumentsOfSentences(
            sentence_of_occurrence[looked_up], document_of_occurrence[looked_up], len(self.simhashes)
        )
        self._affected_documents: list[Ints] = []  # documents for which a frequent sentence was looked up
        self._record_affected_documents(self.containing_documents.counts > FREQUENT_SENTENCE_LIMIT)
        self._compared_keys: Keys = np.zeros(0, np.uint64)
        self._version_parts = [(np.zeros(0, np.uint64), np.zeros(0))]

    def limit_similar_pairs(self, a: Ints, b: Ints) -> tuple[Ints, Ints]:
        """Return pairs of similar sentences in both orders, but only a few pairs per sentence if it has very many."""
        queried, similar = np.append(a, b), np.append(b, a)
        order = np.lexsort((similar, queried))
        queried, similar = queried[order], similar[order]
        counts = np.bincount(queried, minlength=len(self.simhashes))
        ranks = positions_in_runs(0, counts)
        self._record_affected_documents(counts > FREQUENT_SENTENCE_LIMIT)
        is_kept = (
            ranks < np.where(counts > FREQUENT_SENTENCE_LIMIT, MAX_PARTNERS_PER_FREQUENT_SENTENCE, counts)[queried]
        )
        return queried[is_kept], similar[is_kept]

    def compare_documents(self, queried: Ints, similar: Ints, lookup_document_counts: Ints) -> None:
        """For each pair of similar sentences, compare the documents of the first one with those of the second one.

        Args:
            queried: position in `simhashes` of each sentence to look up.
            similar: for each of these sentences, the position in `simhashes` of a similar one.
            lookup_document_counts: for each of `simhashes`, how many of its `lookup_documents` to compare, starting
                with the first.
        """
        document_counts = np.where(
            self.containing_documents.counts > FREQUENT_SENTENCE_LIMIT,
            MAX_PARTNERS_PER_FREQUENT_SENTENCE,
            self.containing_documents.counts,
        )
        costs = lookup_document_counts[queried] * document_counts[similar]
        done, total = 0, max(1, int(costs.sum()))
        for part in slices_by_cost(costs, _PAIRS_PER_BATCH):
            row, position = expand_runs(
                self.lookup_documents.begins[queried[part]], lookup_document_counts[queried[part]]
            )
            lookup_documents = self.lookup_documents.documents[position]
            pair, position = expand_runs(
                self.containing_documents.begins[similar[part]][row], document_counts[similar[part]][row]
            )
            first, second = lookup_documents[pair], self.containing_documents.documents[position]
            keys = pair_keys(np.minimum(first, second), np.maximum(first, second))
            self._compare_pairs(keys[first != second])
            done += int(costs[part].sum())
            self._progress("comparing", done / total)
            check_stopped()

    def make_result(self, *, found_all_similar_sentences: bool) -> VersionPairs:
        keys, scores = (np.concatenate(parts) for parts in zip(*self._version_parts, strict=True))
        order = np.argsort(keys, kind="stable")
        affected_count = len(distinct(np.concatenate(self._affected_documents)))
        compared = len(self._compared_keys)
        return VersionPairs(
            *split_pair_keys(keys[order]), scores[order], compared, found_all_similar_sentences, affected_count
        )

    def _record_affected_documents(self, is_frequent: Bools) -> None:
        """Record the documents for which a frequent sentence is looked up."""
        self._affected_documents.append(
            self.lookup_documents.documents[np.repeat(is_frequent, self.lookup_documents.counts)]
        )

    def _compare_pairs(self, keys: Keys) -> None:
        keys = distinct(keys)
        keys = keys[~is_in_sorted(keys, self._compared_keys)]
        self._compared_keys = np.sort(np.append(self._compared_keys, keys))
        documents, thresholds = self._documents, self._thresholds
        arrays = documents.simhashes, documents.simhash_starts, documents.simhash_counts
        scores = score_pairs(*arrays, split_pair_keys(keys), thresholds)
        is_version = scores >= thresholds.min_score
        if self._is_short.any():
            first, second = split_pair_keys(keys)
            hashes = documents.text_hashes
            for pair in np.flatnonzero(is_version & (self._is_short[first] | self._is_short[second])).tolist():
                is_version[pair] = hashes[first[pair]].may_be_version_of(hashes[second[pair]])
        self._version_parts.append((keys[is_version], scores[is_version]))


def _find_rarest_sentences(
    sentence_of_occurrence: Ints,
    document_of_occurrence: Ints,
    document_counts: Ints,
    sentence_counts: Ints,
    thresholds: SimilarityThresholds,
) -> Ints:
    """Return the occurrences to look up: in each document, those of the sentences that the fewest documents have."""
    order = np.lexsort((sentence_of_occurrence, document_counts[sentence_of_occurrence], document_of_occurrence))
    ranks = positions_in_runs(0, sentence_counts)
    needed = np.maximum(1, np.ceil(sentence_counts * thresholds.min_share - 1e-9)).astype(np.int64)
    looked_up: Ints = order[ranks <= np.repeat(sentence_counts - needed, sentence_counts)]
    return looked_up
