"""The groups of related documents of a whole collection.

A group is a star: all its documents are related to one of them, its centre. The centre is the document that is related
to most documents that are in no group yet. Chains would make one group of nearly all documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from simdoc_search.documents import Place
from simdoc_search.duplicates.clusters import UNASSIGNED, assign_duplicates
from simdoc_search.groups.collection import AllDocuments, read_all
from simdoc_search.groups.components import Edge, Ints, Progress, members_of
from simdoc_search.groups.concepts import ANCHORS, MOST_COMPARED, MOST_MET, RelatedPairs, related_pairs
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.base import Store
from simdoc_search.stores.excluded_indices import LeftOutIndex, left_out_indices
from simdoc_search.stores.filters import Filters


class TopicMember(NamedTuple):
    """A document of a group.

    Attributes:
        place: where it is.
        score: how related it is to the centre; 0.75 and more of a version.
        kind: which of both it is: "related" or "version".
    """

    place: Place
    score: float
    kind: str


class Topic(NamedTuple):
    """A group of related documents.

    Attributes:
        centre: the document that all others are related to.
        members: these, the most related first.
        concepts: the concepts that the centre shares with them, by number: what each weighs times how many have it.
            Those that tell most first; at most 20.
    """

    centre: Place
    members: tuple[TopicMember, ...]
    concepts: dict[int, float]


_MOST_CONCEPTS = 20


class Topics:
    """The groups of related documents.

    Attributes:
        documents: how many documents were looked at.
        left_out: place to reason, of those that have no concepts.
        left_out_indices: the indices behind an alias whose documents were not compared, and why.
        compared: how many pairs were compared.
        edge_count: how many of them are related, or versions.
        topic_count: how many groups there are.
        member_count: how many documents are in one of them.
        frequent: how many concepts stand in more than `most_met` documents. They count in scores, but only the first
            `anchors` of these documents are found by them.
        cut: how many documents share rarer concepts with more than `most_compared` others. With those that share most
            they were compared, so a pair may be missing.
        alone: how many documents share no concept with others.
        most_met: see `frequent`.
        anchors: see `frequent`.
        most_compared: see `cut`.
    """

    most_met: int = MOST_MET
    anchors: int = ANCHORS
    most_compared: int = MOST_COMPARED

    def __init__(self, documents: AllDocuments, found: RelatedPairs) -> None:
        self._documents, self._found = documents, found
        pairs = found.pairs
        count = len(documents)
        self._preferred = np.argsort(-np.bincount(np.append(pairs.first, pairs.second), minlength=count), kind="stable")
        rank = np.empty(count, np.int64)
        rank[self._preferred] = np.arange(count)
        ends = np.sort(np.stack((rank[pairs.first], rank[pairs.second])), axis=0)
        order = np.lexsort((ends[1], ends[0]))
        kept_for, taken = assign_duplicates(
            count, ends[0][order], ends[1][order], lambda positions: np.ones(len(positions), bool)
        )
        self._edge_of = np.full(count, UNASSIGNED, np.int64)  # by rank of the member: its pair with the centre
        self._edge_of[ends[1][order][taken]] = order[taken]
        labels = np.where(kept_for == UNASSIGNED, np.arange(count), kept_for)
        self._groups = members_of(labels)
        self.documents: int = count
        self.left_out: dict[Place, str] = documents.left_out
        self.left_out_indices: tuple[LeftOutIndex, ...] = ()
        self.compared: int = pairs.compared
        self.edge_count: int = len(pairs.first)
        self.topic_count: int = len(self._groups)
        self.member_count: int = sum(map(len, self._groups))
        self.frequent: int = found.frequent
        self.cut: int = found.cut
        self.alone: int = found.alone

    def topics(self, size: int | None = None, offset: int = 0) -> Iterator[Topic]:
        """The groups, the largest first."""
        for ranks in self._groups[offset : None if size is None else offset + size]:
            yield self._topic(ranks)

    def groups(self) -> Iterator[tuple[Place, ...]]:
        """The documents of each group, in the same order, the centre first."""
        places = self._documents.places
        return (tuple(places[each] for each in self._preferred[ranks].tolist()) for ranks in self._groups)

    def edges(self) -> Iterator[Edge]:
        """All pairs of related documents that were found, by the ids of both."""
        pairs, places = self._found.pairs, self._documents.places
        rows = zip(pairs.first.tolist(), pairs.second.tolist(), pairs.scores.tolist(), strict=True)
        for (a, b, score), is_version in zip(rows, self._found.is_version.tolist(), strict=True):
            yield Edge(places[a], places[b], score, "version" if is_version else "related")

    def _topic(self, ranks: Ints) -> Topic:
        who, centre = self._preferred[ranks[1:]].tolist(), int(self._preferred[ranks[0]])
        edges = self._edge_of[ranks[1:]]
        scores = self._found.pairs.scores[edges].tolist()
        kinds = self._found.is_version[edges].tolist()
        members = [
            TopicMember(self._documents.places[each], score, "version" if is_version else "related")
            for each, score, is_version in zip(who, scores, kinds, strict=True)
        ]
        members.sort(key=lambda each: (-each.score, each.place.id, each.place.index or ""))
        return Topic(self._documents.places[centre], tuple(members), self._shared(centre, who))

    def _shared(self, centre: int, others: Sequence[int]) -> dict[int, float]:
        """What the centre shares with others: how many of them have it, times its weight."""
        concepts = self._documents.concepts
        counts: Counter[int] = Counter(code for each in others for code in set(concepts[each].codes.tolist()))
        own = np.unique(concepts[centre].codes)
        weights = self._found.weights[np.searchsorted(self._found.codes, own)].tolist()
        told = {code: counts[code] * weight for code, weight in zip(own.tolist(), weights, strict=True) if counts[code]}
        return {code: told[code] for code in sorted(told, key=lambda code: (-told[code], code))[:_MOST_CONCEPTS]}


def find_topics(store: Store, limits: Limits, filters: Filters | None, progress: Progress) -> Topics:
    """The topics of the documents that filters keep; see `SimilaritySearch.topics`."""
    documents = read_all(store, filters, progress, concepts=True)
    found = Topics(documents, related_pairs(store, documents, limits, progress, filtered=bool(filters)))
    found.left_out_indices = left_out_indices(store)
    return found
