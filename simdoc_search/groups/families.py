"""Groups the versions in a whole collection into families."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from simdoc_search.documents import DocumentKey
from simdoc_search.groups.comparable_documents import ComparableDocuments, Progress, read_documents
from simdoc_search.groups.components import Edge, find_connected_components, group_by_label
from simdoc_search.groups.version_pairs import (
    FREQUENT_SENTENCE_LIMIT,
    MAX_PARTNERS_PER_FREQUENT_SENTENCE,
    VersionPairs,
    find_version_pairs,
)
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import LeftOutIndex
from simdoc_search.versions.equal_texts import (
    TextHashes,
    hash_words_and_punctuation,
    have_same_words_and_punctuation,
)
from simdoc_search.workers import ParallelMapper


class FamilyMembers(NamedTuple):
    """The documents of a family.

    Attributes:
        document_keys: keys of the documents, ordered by id.
        pair_count: number of pairs in the family that are versions of each other.
        lowest_score: lowest score of these pairs, 0.75 to 1.
    """

    document_keys: tuple[DocumentKey, ...]
    pair_count: int
    lowest_score: float


class Families:
    """The families of versions. Two documents are in the same family if a chain of versions connects them.

    Attributes:
        thresholds: the thresholds that decide whether two documents are versions of each other.
        document_count: number of compared documents.
        left_out: for each document that cannot be compared, its key and the reason.
        left_out_indices: the indices behind an alias whose documents were not compared, with the reasons.
        compared_count: number of pairs that were compared.
        pair_count: number of pairs that are versions of each other.
        family_count: number of families, without the groups of copies.
        member_count: number of documents in families.
        copy_group_count: number of groups that are left out, because all documents of the group have the same words and
            punctuation. They are copies, not versions.
        copy_count: number of documents in these groups.
        found_all_similar_sentences: whether all similar sentences were found. Otherwise all equal sentences and a
            sample of the similar ones were found, so versions without an equal sentence may be missing.
        frequent_sentence_document_count: number of documents with so few rare sentences that a frequent sentence was
            used to find their versions. Each was compared with at most `max_compared_per_sentence` documents that
            contain this sentence, so versions may be missing.
        frequent_sentence_limit: a sentence is frequent if more documents than this contain it.
        max_compared_per_sentence: maximum number of documents with which a document is compared because they share a
            frequent sentence.
    """

    frequent_sentence_limit: int = FREQUENT_SENTENCE_LIMIT
    max_compared_per_sentence: int = MAX_PARTNERS_PER_FREQUENT_SENTENCE

    def __init__(
        self,
        documents: ComparableDocuments,
        pairs: VersionPairs,
        thresholds: SimilarityThresholds,
        find_copies: Callable[[Sequence[Sequence[TextHashes]]], list[bool]],
    ) -> None:
        self._document_keys, self._pairs = documents.document_keys, pairs
        labels = find_connected_components(len(documents), pairs.first_documents, pairs.second_documents)
        groups = group_by_label(labels)
        are_copies = find_copies([[documents.text_hashes[number] for number in group.tolist()] for group in groups])
        self._members = [group for group, is_copies in zip(groups, are_copies, strict=True) if not is_copies]
        self._edge_counts = np.bincount(labels[pairs.first_documents], minlength=len(documents))
        self._lowest_scores = np.ones(len(documents))
        np.minimum.at(self._lowest_scores, labels[pairs.first_documents], pairs.scores)
        self.thresholds: SimilarityThresholds = thresholds
        self.document_count: int = len(documents)
        self.left_out: dict[DocumentKey, str] = documents.left_out
        self.left_out_indices: tuple[LeftOutIndex, ...] = ()
        self.compared_count: int = pairs.compared_count
        self.pair_count: int = len(pairs.first_documents)
        self.family_count: int = len(self._members)
        self.member_count: int = sum(map(len, self._members))
        self.copy_group_count: int = len(groups) - len(self._members)
        self.copy_count: int = sum(map(len, groups)) - self.member_count
        self.found_all_similar_sentences: bool = pairs.found_all_similar_sentences
        self.frequent_sentence_document_count: int = pairs.frequent_sentence_document_count

    def families(self, size: int | None = None, offset: int = 0) -> Iterator[FamilyMembers]:
        """Yield the families, the largest first: at most `size` families, starting at `offset`."""
        for numbers in self._members[offset : None if size is None else offset + size]:
            keys = tuple(self._document_keys[number] for number in numbers.tolist())
            yield FamilyMembers(keys, int(self._edge_counts[numbers[0]]), float(self._lowest_scores[numbers[0]]))

    def groups(self) -> Iterator[tuple[DocumentKey, ...]]:
        """Yield the documents of each family, in the order of `families`."""
        return (family.document_keys for family in self.families())

    def edges(self) -> Iterator[Edge]:
        """Yield all pairs of versions, ordered by both ids."""
        for a, b, score in zip(*(column.tolist() for column in self._pairs[:3]), strict=True):
            yield Edge(self._document_keys[a], self._document_keys[b], score, "version")


def find_families(
    store: Store, thresholds: SimilarityThresholds, filters: Filters | None, progress: Progress, workers: int = 1
) -> Families:
    """Find the families among the documents that match the filters; see `SimilaritySearch.version_families`."""
    with ParallelMapper(workers) as mapper:
        documents = read_documents(store, filters, progress, workers=mapper)
    pairs = find_version_pairs(documents, thresholds, progress)
    families = Families(documents, pairs, thresholds, partial(_find_copies, store))
    families.left_out_indices = store.left_out_indices()
    return families


def _find_copies(store: Store, groups: Sequence[Sequence[TextHashes]]) -> list[bool]:
    """Return whether all documents of each group have the same words and punctuation."""
    with_same_words = (group for group in groups if len({hashes.words_hash for hashes in group}) == 1)
    text_forms = hash_words_and_punctuation(store, chain.from_iterable(with_same_words))
    return [have_same_words_and_punctuation(group, text_forms) for group in groups]
