"""The families of versions of a whole collection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from simdoc_search.documents import Place
from simdoc_search.groups.collection import read_all
from simdoc_search.groups.components import Edge, Progress, components, members_of
from simdoc_search.groups.sentences import ANCHORS, MOST_OWNERS, VersionPairs, version_pairs
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.base import Store
from simdoc_search.stores.excluded_indices import LeftOutIndex, left_out_indices
from simdoc_search.stores.filters import Filters


class FamilyMembers(NamedTuple):
    """The documents of a family.

    Attributes:
        places: where they are, by id.
        edges: how many pairs of them were found to be versions of each other.
        least: the smallest score of these pairs, 0.75 to 1.
    """

    places: tuple[Place, ...]
    edges: int
    least: float


class Families:
    """The families of versions. Two documents are in one family if a chain of versions connects them.

    Attributes:
        limits: what makes versions.
        documents: how many documents were looked at.
        left_out: place to reason, of those that have nothing to compare.
        left_out_indices: the indices behind an alias whose documents were not compared, and why.
        compared: how many pairs were compared.
        edge_count: how many of them are versions.
        family_count: how many families there are.
        member_count: how many documents are in one of them.
        all_near: whether all pairs of near sentences were found. Else all equal sentences were found, and a sample of
            the near ones: a version is missed only if none of its sentences is the same.
        crowded: how many documents share one of their rarer sentences with more than `most_owners` documents. There
            each is compared with `anchors` of these only, so a pair may be missing.
        most_owners: see `crowded`.
        anchors: see `crowded`.
    """

    most_owners: int = MOST_OWNERS
    anchors: int = ANCHORS

    def __init__(self, places: list[Place], found: VersionPairs, limits: Limits, left_out: dict[Place, str]) -> None:
        pairs = found.pairs
        self._places, self._pairs = places, pairs
        labels = components(len(places), pairs.first, pairs.second)
        self._members = members_of(labels)
        edges_of = labels[pairs.first]
        self._edges = np.bincount(edges_of, minlength=len(places))
        self._least = np.ones(len(places))
        np.minimum.at(self._least, edges_of, pairs.scores)
        self.limits: Limits = limits
        self.documents: int = len(places)
        self.left_out: dict[Place, str] = left_out
        self.left_out_indices: tuple[LeftOutIndex, ...] = ()
        self.compared: int = pairs.compared
        self.edge_count: int = len(pairs.first)
        self.family_count: int = len(self._members)
        self.member_count: int = sum(map(len, self._members))
        self.all_near: bool = found.all_near
        self.crowded: int = found.crowded

    def families(self, size: int | None = None, offset: int = 0) -> Iterator[FamilyMembers]:
        """The families, the largest first."""
        for each in self._members[offset : None if size is None else offset + size]:
            who, first = each.tolist(), int(each[0])
            yield FamilyMembers(
                tuple(self._places[one] for one in who), int(self._edges[first]), float(self._least[first])
            )

    def groups(self) -> Iterator[tuple[Place, ...]]:
        """The documents of each family, in the same order."""
        return (each.places for each in self.families())

    def edges(self) -> Iterator[Edge]:
        """All pairs of versions that were found, by the ids of both."""
        for a, b, score in zip(*(each.tolist() for each in self._pairs[:3]), strict=True):
            yield Edge(self._places[a], self._places[b], score, "version")


def find_families(store: Store, limits: Limits, filters: Filters | None, progress: Progress) -> Families:
    """The families of the documents that filters keep; see `SimilaritySearch.version_families`."""
    documents = read_all(store, filters, progress)
    found = Families(documents.places, version_pairs(documents, limits, progress), limits, documents.left_out)
    found.left_out_indices = left_out_indices(store)
    return found
