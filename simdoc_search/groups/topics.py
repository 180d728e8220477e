"""The groups of related documents of a whole collection.

A group is a star: all its documents are related to its centre. The centre is the document that is related to most
documents that are in no group yet. Chains would make one group of nearly all documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from simdoc_search.documents import Place
from simdoc_search.duplicates.arrays import Ints
from simdoc_search.duplicates.clusters import UNASSIGNED, assign_duplicates
from simdoc_search.groups.collection import AllDocuments, Progress, read_all
from simdoc_search.groups.components import Edge, members_of
from simdoc_search.groups.concepts import ANCHORS, MAX_COMPARED, MAX_MET, RelatedPairs, related_pairs
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import LeftOutIndex

_MAX_CONCEPTS = 20


class TopicMember(NamedTuple):
    """A document of a group.

    Attributes:
        place: place of the document.
        score: score of the pair of it and the centre; 0.75 and more for a version.
        kind: "related" or "version".
    """

    place: Place
    score: float
    kind: str


class Topic(NamedTuple):
    """A group of related documents.

    Attributes:
        centre: the document that all others are related to.
        members: the others, the most related first.
        concepts: the concepts that the centre shares with them, by number, with their weight times the number of
            members that have it; the greatest first, at most 20.
    """

    centre: Place
    members: tuple[TopicMember, ...]
    concepts: dict[int, float]


class Topics:
    """The groups of related documents.

    Attributes:
        documents: number of compared documents.
        left_out: place to reason, of documents without concepts.
        left_out_indices: the indices behind an alias whose documents were not compared, and why.
        compared: number of pairs that were compared.
        edge_count: number of pairs that are related, or versions.
        topic_count: number of groups.
        member_count: number of documents in groups.
        frequent: number of concepts that are in more than `most_met` documents. They count in scores, but only the
            first `anchors` of these documents are found by them.
        cut: number of documents that share rarer concepts with more than `most_compared` others. They were compared
            with those that share most, so a pair may be missing.
        alone: number of documents that share no concept with others.
        most_met: see `frequent`.
        anchors: see `frequent`.
        most_compared: see `cut`.
    """

    most_met: int = MAX_MET
    anchors: int = ANCHORS
    most_compared: int = MAX_COMPARED

    def __init__(self, documents: AllDocuments, pairs: RelatedPairs) -> None:
        self._documents, self._pairs = documents, pairs
        count = len(documents)
        degrees = np.bincount(np.append(pairs.first, pairs.second), minlength=count)
        self._by_rank = np.argsort(-degrees, kind="stable")  # the possible centres, the best first
        rank_of = np.empty(count, np.int64)
        rank_of[self._by_rank] = np.arange(count)
        ends = np.sort(np.stack((rank_of[pairs.first], rank_of[pairs.second])), axis=0)
        order = np.lexsort((ends[1], ends[0]))
        first, second = ends[:, order]
        centre_of, assigning = assign_duplicates(count, first, second, lambda positions: np.ones(len(positions), bool))
        self._pair_of = np.full(count, UNASSIGNED, np.int64)  # by rank of a member: its pair with the centre
        self._pair_of[second[assigning]] = order[assigning]
        self._groups = members_of(np.where(centre_of == UNASSIGNED, np.arange(count), centre_of))
        self.documents: int = count
        self.left_out: dict[Place, str] = documents.left_out
        self.left_out_indices: tuple[LeftOutIndex, ...] = ()
        self.compared: int = pairs.compared
        self.edge_count: int = len(pairs.first)
        self.topic_count: int = len(self._groups)
        self.member_count: int = sum(map(len, self._groups))
        self.frequent: int = pairs.frequent
        self.cut: int = pairs.cut
        self.alone: int = pairs.alone

    def topics(self, size: int | None = None, offset: int = 0) -> Iterator[Topic]:
        """Yield the groups, the largest first."""
        for ranks in self._groups[offset : None if size is None else offset + size]:
            yield self._topic(ranks)

    def groups(self) -> Iterator[tuple[Place, ...]]:
        """Yield the documents of each group, in the same order, the centre first."""
        places = self._documents.places
        return (tuple(places[number] for number in self._by_rank[ranks].tolist()) for ranks in self._groups)

    def edges(self) -> Iterator[Edge]:
        """Yield all pairs of related documents, by the ids of both."""
        pairs, places = self._pairs, self._documents.places
        columns = (column.tolist() for column in (pairs.first, pairs.second, pairs.scores, pairs.is_version))
        for a, b, score, is_version in zip(*columns, strict=True):
            yield Edge(places[a], places[b], score, "version" if is_version else "related")

    def _topic(self, ranks: Ints) -> Topic:
        centre, *numbers = self._by_rank[ranks].tolist()
        pairs = self._pair_of[ranks[1:]]
        scores, is_version = self._pairs.scores[pairs].tolist(), self._pairs.is_version[pairs].tolist()
        members = [
            TopicMember(self._documents.places[number], score, "version" if version else "related")
            for number, score, version in zip(numbers, scores, is_version, strict=True)
        ]
        members.sort(key=lambda member: (-member.score, member.place.id, member.place.index or ""))
        return Topic(self._documents.places[centre], tuple(members), self._shared_concepts(centre, numbers))

    def _shared_concepts(self, centre: int, others: Sequence[int]) -> dict[int, float]:
        concepts = self._documents.concepts
        counts: Counter[int] = Counter(code for number in others for code in set(concepts[number].codes.tolist()))
        own = np.unique(concepts[centre].codes)
        weights = self._pairs.weights[np.searchsorted(self._pairs.codes, own)].tolist()
        shared = {
            code: counts[code] * weight for code, weight in zip(own.tolist(), weights, strict=True) if counts[code]
        }
        return {code: shared[code] for code in sorted(shared, key=lambda code: (-shared[code], code))[:_MAX_CONCEPTS]}


def find_topics(store: Store, limits: Limits, filters: Filters | None, progress: Progress) -> Topics:
    """Find the topics of the documents that match filters; see `SimilaritySearch.topics`."""
    documents = read_all(store, filters, progress, concepts=True)
    topics = Topics(documents, related_pairs(store, documents, limits, progress, filtered=bool(filters)))
    topics.left_out_indices = store.left_out_indices()
    return topics
