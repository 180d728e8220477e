"""Measures error, recall, precision and cost of settings on a sample."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from simdoc_search.documents import DocumentKey
from simdoc_search.query.planner import plan
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import TokenIds, encode, encode_as_text
from simdoc_search.stores import open_store
from simdoc_search.stores.record import Record
from simdoc_search.tuning.sample import ExactOverlaps

_PAIRS_PER_BIN, _BIN_COUNT = 150, 10
_QUERY_COUNT, _SHARE_WITHOUT_OVERLAP = 120, 0.25
_SEED = 1


@dataclass(frozen=True, slots=True)
class Measurement:
    """The quality and cost of settings, measured on a sample."""

    settings: Settings
    error: float  # root mean square error of the estimated overlap, from up to 150 pairs per interval of 0.1
    measured_pair_count: int  # number of pairs whose error was measured
    recall: float  # share of the documents with the required overlap that are found, 0..1
    expected_hit_count: int  # number of documents with the required overlap, over all queries
    precision: float  # share of the hits that have the required overlap, 0..1; 1 if there are no hits
    hit_count: int  # number of hits, over all queries
    query_count: int
    bytes_per_document: float  # mean size of the encoded tokens of a document, before a store compresses them
    documents_per_second: float  # speed of one process, from text to tokens
    query_ms: float  # mean time of a query in milliseconds, in a store in memory that contains the sample

    @property
    def name(self) -> str:
        """Name and size of the sketch, such as `minhash:512`."""
        return f"{self.settings.sketch.name}:{int(self.settings.sketch.stored_parameters[0])}"


def measure(
    texts: Mapping[str, str],
    overlaps: ExactOverlaps,
    settings: Settings,
    overlap: Fraction,
    probability: Fraction,
) -> Measurement:
    """Compute the fingerprints of a sample, index them in memory, and search with some of the documents as queries.

    Args:
        texts: maps the ids of the sample to the texts.
        overlaps: the exact overlaps in the sample, computed with `settings.analysis`.
        settings: the settings to measure.
        overlap: the minimum overlap of a hit.
        probability: the required probability of finding a document with exactly this overlap.
    """
    next(fingerprints(["warm up"], settings.analysis, settings.sketch))
    start = time.perf_counter()
    sketches = list(fingerprints(texts.values(), settings.analysis, settings.sketch))
    sketching_seconds = max(time.perf_counter() - start, 1e-9)
    token_ids = {id: sketch.token_ids() for id, sketch in zip(texts, sketches, strict=True)}
    error, measured_pair_count = _compute_error(token_ids, overlaps, settings)
    overlapping_ids = overlaps.find_overlapping_ids(float(overlap))
    query_ids = _choose_query_ids(overlaps.ids, overlapping_ids)
    expected_hit_count = hit_count = correct_hit_count = 0
    query_seconds = 0.0
    with open_store(":memory:", settings, create=True, store_texts=False) as store:
        with store.writer() as writer:
            writer.put(
                Record(id, token_ids[id], sketch.shingle_count, "") for id, sketch in zip(texts, sketches, strict=True)
            )
            writer.commit()
        for id in query_ids:
            expected = overlapping_ids.get(id, set())
            expected_hit_count += len(expected)
            start = time.perf_counter()
            query = plan(encode(token_ids[id]), overlap, probability)
            hits = {
                candidate.id
                for candidate in (store.candidates(query, exclude=DocumentKey(id)) if query.can_match else ())
                if query.is_hit(settings.compare_tokens(token_ids[id], candidate.token_ids), overlap)
            }
            query_seconds += time.perf_counter() - start
            hit_count += len(hits)
            correct_hit_count += len(hits & expected)
    return Measurement(
        settings=settings,
        error=error,
        measured_pair_count=measured_pair_count,
        recall=correct_hit_count / expected_hit_count if expected_hit_count else 1.0,
        expected_hit_count=expected_hit_count,
        precision=correct_hit_count / hit_count if hit_count else 1.0,
        hit_count=hit_count,
        query_count=len(query_ids),
        bytes_per_document=sum(len(encode_as_text(tokens)) for tokens in token_ids.values()) / max(1, len(token_ids)),
        documents_per_second=len(token_ids) / sketching_seconds,
        query_ms=1000 * query_seconds / max(1, len(query_ids)),
    )


def _choose_query_ids(ids: Iterable[str], overlapping_ids: Mapping[str, set[str]]) -> list[str]:
    """Choose the query documents. Most of them have the required overlap with another document, and some do not."""
    rng = random.Random(_SEED)  # noqa: S311 - not used for secrets
    count = min(len(overlapping_ids), round(_QUERY_COUNT * (1 - _SHARE_WITHOUT_OVERLAP)))
    with_overlap = rng.sample(sorted(overlapping_ids), count)
    other_ids = sorted(set(ids) - set(overlapping_ids))
    return [*with_overlap, *rng.sample(other_ids, min(len(other_ids), _QUERY_COUNT - count))]


def _compute_error(token_ids: Mapping[str, TokenIds], overlaps: ExactOverlaps, settings: Settings) -> tuple[float, int]:
    """Return the root mean square error of the estimates, and the number of pairs.

    At most 150 pairs are drawn from each overlap interval (0 to 0.1, 0.1 to 0.2, ...). Otherwise, the many pairs with
    little overlap would dominate the error.
    """
    rng = np.random.default_rng(_SEED)
    bins = np.minimum((overlaps.jaccard * _BIN_COUNT).astype(np.int64), _BIN_COUNT - 1)
    squares = []
    for number in range(_BIN_COUNT):
        pairs = np.flatnonzero((bins == number) & (overlaps.jaccard < 1))  # the estimate for equal sets is always exact
        for pair in rng.permutation(pairs)[:_PAIRS_PER_BIN].tolist():
            first, second = (
                token_ids[overlaps.ids[side[pair]]] for side in (overlaps.first_documents, overlaps.second_documents)
            )
            squares.append((settings.compare_tokens(first, second).overlap - overlaps.jaccard[pair]) ** 2)
    return (float(np.sqrt(np.mean(squares))) if squares else 0.0), len(squares)
