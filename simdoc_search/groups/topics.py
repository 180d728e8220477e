"""Groups the related documents in a whole collection into topics.

All documents of a topic are related to its centre. Documents with the most related documents are considered first. If
such a document is in no topic yet, it becomes the centre of a topic. The topic contains all related documents that are
in no topic yet. Topics do not follow chains of related documents, because then nearly all documents would be in one
topic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.arrays import Ints, pair_keys
from simdoc_search.duplicates.clusters import UNASSIGNED, assign_duplicates
from simdoc_search.groups.comparable_documents import ComparableDocuments, Progress, read_documents
from simdoc_search.groups.components import Edge, group_by_label
from simdoc_search.groups.related_pairs import (
    MAX_CANDIDATES,
    MAX_COMPARED_CANDIDATES,
    MAX_DOCUMENTS_PER_FREQUENT_CONCEPT,
    RelatedPairs,
    find_related_pairs,
)
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import LeftOutIndex

_MAX_SHARED_CONCEPTS = 20


class TopicMember(NamedTuple):
    """A document of a topic that is not its centre.

    Attributes:
        key: key of the document.
        score: score of the document and the centre; at least 0.75 for a version.
        kind: `related` or `version`.
    """

    key: DocumentKey
    score: float
    kind: str


class Topic(NamedTuple):
    """A group of related documents.

    Attributes:
        centre: the document that all others are related to.
        members: the other documents, the most related first.
        concepts: maps token ids of concepts to values, largest value first. It has at most 20 concepts that the centre
            shares with members. The value of a concept is its weight times the number of members that have it.
    """

    centre: DocumentKey
    members: tuple[TopicMember, ...]
    concepts: dict[int, float]


class Topics:
    """The topics of a collection.

    Attributes:
        document_count: number of compared documents.
        left_out: for each document that cannot be compared, its key and the reason.
        left_out_indices: the indices behind an alias whose documents were not compared, with the reasons.
        compared_count: number of pairs that were compared.
        pair_count: number of pairs that are related, or versions of each other.
        topic_count: number of topics.
        member_count: number of documents in topics.
        frequent_concept_count: number of concepts in more than `frequent_concept_limit` documents. Such a
            concept counts in scores, but only the first `max_documents_per_concept` documents are found by it.
        partly_compared_document_count: number of documents that share their rarest concepts with more than
            `max_compared_candidates` others. Each was only compared with those that share the most, so pairs may be
            missing.
        isolated_document_count: number of documents that share no concept with any other document.
        frequent_concept_limit: a concept is frequent if more documents than this have it.
        max_documents_per_concept: maximum number of documents that are found through a frequent concept.
        max_compared_candidates: maximum number of candidates with which a document is compared.
    """

    frequent_concept_limit: int = MAX_CANDIDATES
    max_documents_per_concept: int = MAX_DOCUMENTS_PER_FREQUENT_CONCEPT
    max_compared_candidates: int = MAX_COMPARED_CANDIDATES

    def __init__(self, documents: ComparableDocuments, pairs: RelatedPairs) -> None:
        self._documents, self._pairs = documents, pairs
        count = len(documents)
        degrees = np.bincount(np.append(pairs.first_documents, pairs.second_documents), minlength=count)
        # The documents with the most related documents come first.
        self._documents_by_rank = np.argsort(-degrees, kind="stable")
        ranks_of_documents = np.empty(count, np.int64)
        ranks_of_documents[self._documents_by_rank] = np.arange(count)
        ends = np.sort(
            np.stack((ranks_of_documents[pairs.first_documents], ranks_of_documents[pairs.second_documents])), axis=0
        )
        order = np.lexsort((ends[1], ends[0]))
        first, second = ends[:, order]
        centre_of, assigning_pairs = assign_duplicates(
            count, pair_keys(first, second), lambda positions: np.ones(len(positions), bool)
        )
        # for each document, by rank: the index of its pair with the centre of its topic; UNASSIGNED without a topic
        self._pairs_of_members = np.full(count, UNASSIGNED, np.int64)
        self._pairs_of_members[second[assigning_pairs]] = order[assigning_pairs]
        self._groups = group_by_label(np.where(centre_of == UNASSIGNED, np.arange(count), centre_of))
        self.document_count: int = count
        self.left_out: dict[DocumentKey, str] = documents.left_out
        self.left_out_indices: tuple[LeftOutIndex, ...] = ()
        self.compared_count: int = pairs.compared_count
        self.pair_count: int = len(pairs.first_documents)
        self.topic_count: int = len(self._groups)
        self.member_count: int = sum(map(len, self._groups))
        self.frequent_concept_count: int = pairs.frequent_concept_count
        self.partly_compared_document_count: int = pairs.partly_compared_document_count
        self.isolated_document_count: int = pairs.isolated_document_count

    def topics(self, size: int | None = None, offset: int = 0) -> Iterator[Topic]:
        """Yield the topics, the largest first: at most `size` topics, starting at `offset`."""
        for ranks in self._groups[offset : None if size is None else offset + size]:
            yield self._make_topic(ranks)

    def groups(self) -> Iterator[tuple[DocumentKey, ...]]:
        """Yield the documents of each topic, in the order of `topics`. The centre comes first."""
        keys = self._documents.document_keys
        return (tuple(keys[number] for number in self._documents_by_rank[ranks].tolist()) for ranks in self._groups)

    def edges(self) -> Iterator[Edge]:
        """Yield all pairs of related documents, ordered by both ids."""
        pairs, keys = self._pairs, self._documents.document_keys
        columns = (
            column.tolist()
            for column in (pairs.first_documents, pairs.second_documents, pairs.scores, pairs.is_version)
        )
        for a, b, score, is_version in zip(*columns, strict=True):
            yield Edge(keys[a], keys[b], score, "version" if is_version else "related")

    def _make_topic(self, ranks: Ints) -> Topic:
        centre, *numbers = self._documents_by_rank[ranks].tolist()
        pairs = self._pairs_of_members[ranks[1:]]
        scores, is_version = self._pairs.scores[pairs].tolist(), self._pairs.is_version[pairs].tolist()
        members = [
            TopicMember(self._documents.document_keys[number], score, "version" if version else "related")
            for number, score, version in zip(numbers, scores, is_version, strict=True)
        ]
        members.sort(key=lambda member: (-member.score, member.key.id, member.key.index or ""))
        return Topic(self._documents.document_keys[centre], tuple(members), self._find_shared_concepts(centre, numbers))

    def _find_shared_concepts(self, centre: int, other_members: Sequence[int]) -> dict[int, float]:
        concepts = self._documents.concepts
        counts: Counter[int] = Counter(
            token_id for number in other_members for token_id in set(concepts[number].token_ids.tolist())
        )
        centre_token_ids = np.unique(concepts[centre].token_ids)
        weights = self._pairs.weights[np.searchsorted(self._pairs.concept_ids, centre_token_ids)].tolist()
        shared = {
            token_id: counts[token_id] * weight
            for token_id, weight in zip(centre_token_ids.tolist(), weights, strict=True)
            if counts[token_id]
        }
        return {
            token_id: shared[token_id]
            for token_id in sorted(shared, key=lambda token_id: (-shared[token_id], token_id))[:_MAX_SHARED_CONCEPTS]
        }


def find_topics(store: Store, thresholds: SimilarityThresholds, filters: Filters | None, progress: Progress) -> Topics:
    """Find the topics among the documents that match the filters; see `SimilaritySearch.topics`."""
    documents = read_documents(store, filters, progress, with_concepts=True)
    topics = Topics(documents, find_related_pairs(store, documents, thresholds, progress, is_filtered=bool(filters)))
    topics.left_out_indices = store.left_out_indices()
    return topics
