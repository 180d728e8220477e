"""Learns the thresholds of versions and related documents from labelled pairs.

Both documents of a pair are compared directly, as `versions` and `related` compare candidates. The search for
candidates among all documents is not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.concepts import decode_paragraph_concepts
from simdoc_search.sketch.sentences import decode_simhashes
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.sketch.thresholds import MAX_DISTANCE_LIMIT, SentenceShares, SimilarityThresholds
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record, RecordPart
from simdoc_search.stores.sentences_and_concepts import compute_sentence_simhashes
from simdoc_search.tuning.labelled_pairs import (
    ConfusionCounts,
    LabelledPair,
    LearnedThreshold,
    check_ids,
    count_classifications,
    learn_threshold,
)
from simdoc_search.versions import match_sentences
from simdoc_search.versions.idf import ConceptWeights
from simdoc_search.versions.matching import shares_by_max_distance
from simdoc_search.versions.relations import relation_score


@dataclass(frozen=True, slots=True)
class LearnedSimilarityThresholds:
    """The thresholds that best classify labelled pairs."""

    purpose: Literal["versions", "related"]  # what the label yes means
    current_thresholds: SimilarityThresholds  # the thresholds of the index
    best_thresholds: SimilarityThresholds  # the best thresholds; the thresholds of the index unless others are better
    current_counts: ConfusionCounts  # how the thresholds of the index classify the pairs
    learned_threshold: LearnedThreshold[int]  # how the best thresholds classify the pairs


def learn_version_thresholds(store: Store, pairs: Sequence[LabelledPair]) -> LearnedSimilarityThresholds:
    """Learn the `max_distance` and the `min_share` that best separate versions from other pairs.

    Other thresholds are unchanged.

    Raises:
        CorpusError: a document is not in the store.
        StoreError: the store has neither sentences nor texts.
    """
    current = store.settings.thresholds
    sentences = {id: _get_simhashes(store, record) for id, record in _read_records(store, pairs).items()}
    shares = [
        shares_by_max_distance(sentences[pair.first_id], sentences[pair.second_id], MAX_DISTANCE_LIMIT)
        for pair in pairs
    ]
    distances = sorted(range(MAX_DISTANCE_LIMIT + 1), key=lambda distance: abs(distance - current.max_distance))
    values = {
        distance: [_compute_version_share(pair_shares[distance], current.min_smaller_share) for pair_shares in shares]
        for distance in distances
    }
    best = learn_threshold(
        values, pairs, current_choice=(current.max_distance, current.min_share), min_threshold=current.min_smaller_share
    )
    thresholds = replace(current, max_distance=best.setting, min_share=best.threshold)
    return LearnedSimilarityThresholds(
        "versions",
        current,
        thresholds,
        count_classifications(values[current.max_distance], pairs, current.min_share),
        best,
    )


def learn_related_thresholds(store: Store, pairs: Sequence[LabelledPair]) -> LearnedSimilarityThresholds:
    """Learn the `min_score` that best separates related documents from unrelated ones. Other thresholds are unchanged.

    The first document of a pair is the query document.

    Raises:
        CorpusError: a document is not in the store.
        FormatMismatchError: the store has no concepts.
    """
    if store.settings.concepts is None:
        raise FormatMismatchError(
            "`--for related` needs concepts, but the index has none; index the documents again with --with related"
        )
    current, records = store.settings.thresholds, _read_records(store, pairs)
    scores = [_compute_related_score(store, records[pair.first_id], records[pair.second_id]) for pair in pairs]
    best = learn_threshold(
        {current.max_distance: scores}, pairs, current_choice=(current.max_distance, current.min_score)
    )
    thresholds = replace(current, min_score=best.threshold)
    return LearnedSimilarityThresholds(
        "related", current, thresholds, count_classifications(scores, pairs, current.min_score), best
    )


def _compute_version_share(shares: SentenceShares, min_smaller_share: float) -> float:
    """Return the larger share of similar sentences; 0 if the other thresholds exclude the pair."""
    larger, smaller = max(shares.share, shares.share_of_other), min(shares.share, shares.share_of_other)
    return 0.0 if shares.has_too_few_matches or smaller < min_smaller_share else larger


def _compute_related_score(store: Store, query_record: Record, other: Record) -> float:
    """Return the score that `related` gives to the other document for the query document."""
    thresholds = store.settings.thresholds
    version_score = thresholds.score_matches(
        match_sentences(
            decode_simhashes(query_record.sentences), decode_simhashes(other.sentences), thresholds.max_distance
        )
    )
    concepts, other_concepts = (
        decode_paragraph_concepts(query_record.concepts),
        decode_paragraph_concepts(other.concepts),
    )
    if version_score is not None or not concepts.paragraph_count:
        return version_score or 0.0
    weights = ConceptWeights(concepts, store.concept_frequencies, is_stored=True)
    (similarity,) = weights.similarities(weights.make_weighted_concepts([other_concepts]))
    return relation_score(similarity)


def _read_records(store: Store, pairs: Sequence[LabelledPair]) -> Mapping[str, Record]:
    load: set[RecordPart] = {"concepts", "text" if store.settings.sentences is None else "sentences"}
    records: dict[str, Record] = {}
    for id in {id for pair in pairs for id in (pair.first_id, pair.second_id)}:
        record = store.get(id, load=load)
        if record is not None:
            records[id] = record
    check_ids(pairs, records)
    return records


def _get_simhashes(store: Store, record: Record) -> Simhashes:
    if store.settings.sentences is not None:
        return decode_simhashes(record.sentences)
    if record.text is None:
        raise StoreError("the index has neither sentences nor texts; index the documents again with --with versions")
    return compute_sentence_simhashes(record.text, store.settings.analysis)
