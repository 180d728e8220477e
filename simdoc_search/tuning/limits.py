"""Limits of versions and related documents, learned from labelled pairs.

Pairs are compared directly, as `versions` and `related` compare candidates. Whether a query would find the pair among
all documents is not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.concepts import paragraphs_of
from simdoc_search.sketch.limits import MOST_BITS, Limits
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record
from simdoc_search.stores.sketching import sentences_in
from simdoc_search.tuning.labelled_pairs import LabelledPair, Lesson, Outcome, check_ids, learn, outcome_of
from simdoc_search.versions import matched
from simdoc_search.versions.idf import ConceptWeights
from simdoc_search.versions.matching import SharesAt, shares_by_bits
from simdoc_search.versions.relations import relation_score


@dataclass(frozen=True, slots=True)
class LearnedLimits:
    """Limits that classify labelled pairs best."""

    about: Literal["versions", "related"]  # what a yes means
    before: Limits  # the limits of the index
    limits: Limits  # the best limits; those of the index unless others are better
    outcome_before: Outcome  # how the limits of the index classify the pairs
    lesson: Lesson[int]  # how the best ones do, and the pairs that they classify wrongly


def learn_version_limits(store: Store, pairs: Sequence[LabelledPair]) -> LearnedLimits:
    """Learn `bits` and `enough`, which tell versions best; the other limits are kept.

    Raises:
        CorpusError: a document is not in the store.
        StoreError: the store has neither sentences nor texts.
    """
    before = store.settings.limits
    sentences = {id: _sentences(store, record) for id, record in _records(store, pairs).items()}
    shares = [shares_by_bits(sentences[pair.a], sentences[pair.b], MOST_BITS) for pair in pairs]
    nearest_first = sorted(range(MOST_BITS + 1), key=lambda bits: abs(bits - before.bits))
    values = {bits: [_version_value(of_pair[bits], before.least) for of_pair in shares] for bits in nearest_first}
    lesson = learn(values, pairs, before=(before.bits, before.enough), minimum=before.least)
    limits = replace(before, bits=lesson.setting, enough=lesson.threshold)
    return LearnedLimits("versions", before, limits, outcome_of(values[before.bits], pairs, before.enough), lesson)


def learn_related_limits(store: Store, pairs: Sequence[LabelledPair]) -> LearnedLimits:
    """Learn `min_score`, from which documents are related; the other limits are kept.

    The first document of a pair is the query document.

    Raises:
        CorpusError: a document is not in the store.
        FormatMismatchError: the store has no concepts.
    """
    if store.settings.concepts is None:
        raise FormatMismatchError("--for related needs concepts; index with --with relations first")
    before, records = store.settings.limits, _records(store, pairs)
    scores = [_related_score(store, records[pair.a], records[pair.b]) for pair in pairs]
    lesson = learn({before.bits: scores}, pairs, before=(before.bits, before.min_score))
    limits = replace(before, min_score=lesson.threshold)
    return LearnedLimits("related", before, limits, outcome_of(scores, pairs, before.min_score), lesson)


def _version_value(shares: SharesAt, least: float) -> float:
    """Return the share of sentences that is compared with `enough`; 0 if the other limits exclude the pair."""
    more, less = max(shares.share, shares.share_of_other), min(shares.share, shares.share_of_other)
    return 0.0 if shares.too_few or less < least else more


def _related_score(store: Store, a: Record, b: Record) -> float:
    """Return the score that `related` gives to b for a."""
    limits = store.settings.limits
    version_score = limits.score_of(
        matched(sentences_of_codes(a.sentences), sentences_of_codes(b.sentences), limits.bits)
    )
    concepts, others = paragraphs_of(a.concepts), paragraphs_of(b.concepts)
    if version_score is not None or not concepts.count:
        return version_score or 0.0
    weights = ConceptWeights(concepts, store.concept_frequencies, is_stored=True)
    (similarity,) = weights.similarities(weights.weighted([others]))
    return relation_score(similarity)


def _records(store: Store, pairs: Sequence[LabelledPair]) -> Mapping[str, Record]:
    records: dict[str, Record] = {}
    for id in {id for pair in pairs for id in (pair.a, pair.b)}:
        record = store.get(id, text=store.settings.sentences is None, sketches=True)
        if record is not None:
            records[id] = record
    check_ids(pairs, records)
    return records


def _sentences(store: Store, record: Record) -> Simhashes:
    if store.settings.sentences is not None:
        return sentences_of_codes(record.sentences)
    if record.text is None:
        raise StoreError("the index has neither sentences nor texts; index again with --with versions")
    return sentences_in(record.text, store.settings.analysis)
