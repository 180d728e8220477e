"""Implements `similar` for the measures `containment` and `reverse_containment`.

If a long text contains a short text, their Jaccard similarity is low. The fingerprints, which estimate this similarity,
would therefore miss the long text. Passage tokens, which are hashes of some shingles, find the candidates instead.
"""

from __future__ import annotations

import logging
from bisect import insort
from collections.abc import Iterator, Sequence

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.unsplit_text import describe_overlaps_of_text
from simdoc_search.query.plans import ThresholdPlan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.filter_check import find_filter_error
from simdoc_search.search.options import SimilarOptions
from simdoc_search.search.passage_candidates import find_passage_candidates
from simdoc_search.search.query_document import QueryDocument, estimate_similarity
from simdoc_search.search.results import add_fields
from simdoc_search.search.similar_ranking import compute_max_compared_documents, sort_key
from simdoc_search.search.similar_result import Hit, SearchResult
from simdoc_search.search.stored_texts import measure_texts, read_records, read_stored_texts, split_into_batches
from simdoc_search.sketch.tokens import encode
from simdoc_search.sketch.winnow import PASSAGE_TOKEN_LENGTH
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record, has_text_changed
from simdoc_search.stores.shared_tokens import TokenMatch

_log = logging.getLogger(__name__)


def find_by_containment(
    store: Store,
    query: FingerprintQuery,
    document: QueryDocument,
    options: SimilarOptions,
    exclude: DocumentKey | None,
) -> SearchResult:
    """Return the documents whose measure is at least the overlap of the query, without the document `exclude`.

    Raises:
        QuerySyntaxError: the query has a probability.
        NoFingerprintError: the document has no words.
        UnknownFieldError: there are no hits, and no document has the field of a filter.
        FormatMismatchError: the store has no passage tokens.
    """
    if query.probability is not None:
        raise QuerySyntaxError(
            f"the measure {options.measure!r} cannot be combined with a probability; omit the probability in {query}"
        )
    document.check_has_passages()
    needed_hit_count = options.offset + options.size
    size = compute_max_compared_documents(needed_hit_count)
    candidates = find_passage_candidates(store, document, filters=options.filters, exclude=exclude, size=size)
    if not candidates.total and (error := find_filter_error(store, options.filters)):
        raise error
    hits: list[Hit] = []
    total = compared = 0
    for batch in split_into_batches(_sort_by_estimate(store, document, candidates.documents, options)):
        if len(hits) >= needed_hit_count and hits[-1].overlap >= 1:
            break
        for hit in _compare_batch(store, document, batch, query, options):
            insort(hits, hit, key=sort_key)
            total += 1
        del hits[needed_hit_count:]
        compared += len(batch)
    result = SearchResult(
        query,
        ThresholdPlan(tuple(encode(document.passage_tokens_to_query, PASSAGE_TOKEN_LENGTH)), 1),
        candidates.total,
        add_fields(store, hits[options.offset :], options.fields),
        document.shingle_count,
        measure=options.measure,
        uncompared_count=max(0, candidates.total - compared),
        total=total,
        is_total_exact=compared >= len(candidates.documents) == candidates.total,
        offset=options.offset,
        left_out_indices=store.left_out_indices(),
        changed=document.is_stored and has_text_changed(document.record),
        text_note=describe_overlaps_of_text(document.text or "", store.settings.analysis),
    )
    _log.info("%s: %s", query if query.id else "a text", result.page_description)
    return result


def _sort_by_estimate(
    store: Store, document: QueryDocument, candidates: Sequence[TokenMatch], options: SimilarOptions
) -> list[tuple[TokenMatch, Record]]:
    """Return the candidates that are still stored, by descending estimate of the measure."""
    records = read_records(store, [candidate.key for candidate in candidates], load={"passages"})
    stored = [(candidate, records[candidate.key]) for candidate in candidates if candidate.key in records]
    estimates = {
        candidate.key: getattr(estimate_similarity(document, record), options.measure) for candidate, record in stored
    }
    return sorted(stored, key=lambda pair: -estimates[pair[0].key])


def _compare_batch(
    store: Store,
    document: QueryDocument,
    batch: Sequence[tuple[TokenMatch, Record]],
    query: FingerprintQuery,
    options: SimilarOptions,
) -> Iterator[Hit]:
    texts = {} if document.text is None else read_stored_texts(store, [candidate.key for candidate, _ in batch])
    measures = measure_texts(document.text or "", texts, store.settings.analysis)
    for candidate, stored in batch:
        if (exact := measures.get(candidate.key)) is None:
            hit = Hit(
                candidate.key, getattr(estimate_similarity(document, stored), options.measure), candidate.shared_count
            )
        else:
            overlap, changed = getattr(exact, options.measure), has_text_changed(texts[candidate.key])
            hit = Hit(candidate.key, overlap, candidate.shared_count, "exact", measures=exact, changed=changed)
        if hit.overlap and hit.overlap >= (query.overlap or 0):
            yield hit
