"""Runs the search for duplicates: finds candidate pairs, verifies them, groups duplicates and decides their kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, NamedTuple, Protocol

import numpy as np

from simdoc_search.duplicates.arrays import AnyInts, Bools, Floats, Ints, Keys
from simdoc_search.duplicates.clusters import UNASSIGNED, SameWordsSets, assign_duplicates
from simdoc_search.duplicates.contents import HashFields, compare_contents
from simdoc_search.duplicates.document_arrays import Documents
from simdoc_search.duplicates.duplicates_result import Duplicates, Grouping, LargeSets
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import JoinedPairs, choose_run_limit, join
from simdoc_search.duplicates.same_words import find_text_problems
from simdoc_search.duplicates.verdicts import DropScope, Verdicts
from simdoc_search.duplicates.verification import PairOverlaps, ReadTexts, TextsWithoutTemplates, Verifier
from simdoc_search.sketch.settings import Settings
from simdoc_search.workers import ParallelMapper

Stage = Literal["reading", "comparing", "verifying", "hashing", "marking"]
Progress = Callable[[Stage, float], None]
"""Called with the current stage and the share of this stage that is done, 0..1."""

_MAX_ROUNDS = 100
_MAX_SHARE_TO_PAIR_AGAIN = 0.9
"""If a round leaves a larger share of its documents without a group, the next round only compares some documents."""


class FindPairs(Protocol):
    """Finds pairs of documents that may overlap enough, as `join` does."""

    def __call__(
        self,
        documents: AnyInts,
        *,
        known_pairs: Keys,
        compared_documents: AnyInts | None,
        progress: Callable[[float], None],
    ) -> JoinedPairs:
        """Find pairs among these documents, except known pairs. See `join` for `compared_documents`."""


def find_duplicates(
    documents: Documents,
    measure: Measure,
    settings: Settings,
    read_texts: ReadTexts | None,
    *,
    ignore: Sequence[str] = (),
    drop: DropScope | None = None,
    hash_fields: HashFields = lambda _: {},
    progress: Progress = lambda _stage, _share: None,
    workers: ParallelMapper | None = None,
) -> Duplicates:
    """Find the duplicates among documents.

    The documents are in keep order. If `read_texts` is None, overlaps are estimated from fingerprints. Copies of the
    templates in `ignore` are not compared. `drop` says which duplicates a plan drops besides files with equal bytes.
    `workers` hash the shingles of texts.
    """
    without_templates = TextsWithoutTemplates(read_texts, ignore, settings.analysis) if read_texts and ignore else None
    labels = documents.same_words_labels
    if without_templates:
        labels = without_templates.separate_templates(labels)
    compared_texts = without_templates or read_texts
    verifier = (
        Verifier(compared_texts, settings.analysis, shingle_counts=documents.table.shingle_counts, workers=workers)
        if compared_texts
        else None
    )
    grouping = _group(
        documents,
        SameWordsSets(labels),
        PairOverlaps(measure, verifier),
        find_pairs=partial(join, documents.table, measure=measure, first_new_index=documents.first_new_index),
        max_set_size=choose_run_limit(len(documents)),
        progress=progress,
    )
    members = grouping.members()
    contents = compare_contents(documents, members, hash_fields, partial(progress, "hashing"))
    problems = find_text_problems(documents, members, read_texts, settings.analysis) if drop == "same-words" else {}
    verdicts = Verdicts(documents, members, contents, drop, problems, excluded_parts=settings.excluded_parts)
    ignored_word_counts = without_templates.ignored_word_counts if without_templates else {}
    return Duplicates(
        documents, grouping, verdicts, measure, settings,
        read_texts=read_texts, drop_scope=drop, ignored_word_counts=ignored_word_counts,
    )  # fmt: skip


class Assignment(NamedTuple):
    """The kept document of each duplicate. Arrays have one value per document."""

    kept_document_of: Ints  # UNASSIGNED for documents that are not duplicates
    overlaps: Floats  # overlap of each duplicate with its kept document; 1 for all other documents
    is_overlap_exact: Bools  # whether the overlap was computed from the texts, not estimated
    is_partly_compared: Bools  # whether the document was not compared with all of its candidates
    skipped_comparison_count: int  # upper bound of the number of comparisons that were not made


def find_and_assign(
    count: int, documents_to_pair: AnyInts, pairs: PairOverlaps, find_pairs: FindPairs, progress: Progress
) -> Assignment:
    """Find pairs among `count` documents in keep order, and assign each duplicate to its kept document.

    The documents in `documents_to_pair`, which ascend, are compared. `pairs` receives the pairs that `find_pairs`
    returns.
    """
    is_partly_compared, skipped_comparisons = np.zeros(count, bool), 0
    compared_documents: AnyInts | None = None  # None if all documents to pair are compared with each other
    # These arrays are made after the first round has found pairs, because finding pairs needs the most memory.
    kept_document_of = np.zeros(0, np.int64)
    overlap, is_overlap_exact = np.zeros(0), np.zeros(0, bool)
    for round_number in range(_MAX_ROUNDS):
        joined = find_pairs(
            documents_to_pair,
            known_pairs=pairs.keys,
            compared_documents=compared_documents,
            progress=partial(progress, "comparing"),
        )
        is_partly_compared[joined.partly_compared_documents] = True
        postponed_documents = joined.postponed_documents
        if compared_documents is None:
            skipped_comparisons = 0
        skipped_comparisons += joined.skipped_comparison_count
        if round_number and not len(joined.keys):
            break
        pairs.add(joined)
        del joined
        kept_document_of, assigning_pairs = assign_duplicates(
            count, pairs.keys, pairs.overlap_enough, partial(progress, "verifying")
        )
        if not round_number:
            overlap, is_overlap_exact = np.ones(count), np.ones(count, bool)
        _, assigned = pairs.documents_of(assigning_pairs)
        overlap[assigned], is_overlap_exact[assigned] = (
            pairs.overlaps[assigning_pairs],
            pairs.is_overlap_exact[assigning_pairs],
        )
        # Documents that were not compared with all candidates and have no group yet must be compared with each other.
        previous_documents = documents_to_pair
        documents_to_pair = np.flatnonzero(is_partly_compared & (kept_document_of == UNASSIGNED))
        if len(documents_to_pair) < 2:
            break
        compared_documents = None
        if len(documents_to_pair) > _MAX_SHARE_TO_PAIR_AGAIN * len(previous_documents):
            # Most runs are as long as before, so only a few documents have pairs that were not compared: those that may
            # overlap an anchor, and those without a group again because their kept document is now a duplicate.
            without_group_again = np.setdiff1d(documents_to_pair, previous_documents, assume_unique=True)
            postponed = np.intersect1d(documents_to_pair, postponed_documents, assume_unique=True)
            compared_documents = np.union1d(without_group_again, postponed)
            if not len(compared_documents):
                break
    else:
        compared_count = len(documents_to_pair if compared_documents is None else compared_documents)
        skipped_comparisons += compared_count * (len(documents_to_pair) - 1)
    return Assignment(kept_document_of, overlap, is_overlap_exact, is_partly_compared, skipped_comparisons)


def _group(
    documents: Documents,
    same_words_sets: SameWordsSets,
    pairs: PairOverlaps,
    *,
    find_pairs: FindPairs,
    max_set_size: int,
    progress: Progress,
) -> Grouping:
    """Assign each duplicate to its kept document.

    Of several documents with equal words, only one is compared with others.
    """
    kept_document_of, overlap, is_overlap_exact, is_partly_compared, skipped_comparisons = find_and_assign(
        len(documents), same_words_sets.representatives, pairs, find_pairs, progress
    )
    is_in_large_set = is_partly_compared[same_words_sets.representative_of] | (same_words_sets.sizes > max_set_size)
    large_sets = None
    if document_count := int(is_in_large_set.sum()):
        large_sets = LargeSets(document_count, max_set_size, skipped_comparisons)
    # All documents with equal words join the group of their representative.
    representative = same_words_sets.representative_of
    has_kept_representative = (kept_document_of[representative] == UNASSIGNED) & (
        representative != np.arange(len(documents))
    )
    kept_document_of = np.where(has_kept_representative, representative, kept_document_of[representative])
    kept_document_of[: documents.first_new_index] = UNASSIGNED
    overlap = np.where(has_kept_representative, 1.0, overlap[representative])
    return Grouping(
        kept_document_of, overlap, is_overlap_exact[representative] | has_kept_representative,
        same_words_sets, pairs, max_set_size, large_sets,
    )  # fmt: skip
