"""Implements `passages`: aligns the query document with candidates, and counts the words that the passages cover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from simdoc_search.analysis.words import WordPositions, locate_words
from simdoc_search.documents import Document, DocumentKey
from simdoc_search.errors import SimdocError
from simdoc_search.passages.align import Alignment, align_words
from simdoc_search.passages.coverage import Cover, order_by_added_words, tokens_also_in, union
from simdoc_search.passages.ignored_words import remove_words_from_passages
from simdoc_search.passages.word_spans import Mask, matched_words, spans_of
from simdoc_search.search.filter_check import unknown_field_error
from simdoc_search.search.options import PassageOptions
from simdoc_search.search.passages_candidates import PassageCandidates, passage_candidates
from simdoc_search.search.passages_result import Covered, PassageHit, PassageResult
from simdoc_search.search.query_document import QueryDocument, estimate_measures, words_of_shingles
from simdoc_search.search.resolver import Query
from simdoc_search.search.results import add_fields, result_or_error
from simdoc_search.search.stored_texts import (
    AnalysedText,
    batches,
    exact_measures,
    read_records,
    read_texts,
    resolved_record,
)
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record, has_text_changed

MAX_COMPARED = 2_000
"""Maximum number of documents that are compared with a query document.

The documents that share the most tokens are compared.
"""

MAX_WORDS = 8_000_000
"""Maximum number of words in all comparisons of a query. These comparisons take about 10 seconds.

Each comparison counts the words of both documents.
"""

_Match = Cover[PassageHit]
"""A hit, and the words of the query document that it covers; or the passage tokens, if a text is not stored."""


def passages_of_many(
    store: Store, sources: Iterator[Query | Document], options: PassageOptions, exclude: DocumentKey | None = None
) -> Iterator[PassageResult | SimdocError]:
    """Yield for each stored document or text, in order, its result or its error.

    All pages of a result compare the same candidates.
    """
    templates = [locate_words(text, store.settings.analysis) for text in options.ignore]
    for source in sources:
        yield result_or_error(partial(_passages, store, source, options, templates, exclude))


def _passages(
    store: Store,
    source: Query | Document,
    options: PassageOptions,
    templates: Sequence[WordPositions],
    exclude: DocumentKey | None,
) -> PassageResult:
    if isinstance(source, Document):
        document = QueryDocument.of_text(source.text, store.settings, source.id)
    else:
        document = QueryDocument(resolved_record(store, source, options.source_filters), store.settings)
    document.check_has_passages()
    if templates or options.ignore_quotes:
        document = replace(document, templates=templates, ignore_quotes=options.ignore_quotes)
    candidates = _candidates(store, document, options, document.key or exclude)
    if not candidates.total and (error := unknown_field_error(store, options.filters)):
        raise error
    matches, compared = _compare(store, document, candidates, options)
    return _make_result(store, document, options, matches=matches, candidates=candidates, compared=compared)


def _candidates(
    store: Store, document: QueryDocument, options: PassageOptions, exclude: DocumentKey | None
) -> PassageCandidates:
    search = partial(passage_candidates, store, document, filters=options.filters, exclude=exclude)
    candidates = search(size=MAX_COMPARED)
    return search(size=candidates.total) if options.compare_all and candidates.total > MAX_COMPARED else candidates


def _compare(
    store: Store, document: QueryDocument, candidates: PassageCandidates, options: PassageOptions
) -> tuple[list[_Match], int]:
    """Return the matches among the candidates, and the number of candidates that were compared."""
    matches: list[_Match] = []
    compared, words_left = 0, MAX_WORDS
    for batch in batches(candidates.documents):
        if words_left <= 0 and not options.compare_all:
            break
        records = read_records(store, [candidate.key for candidate in batch], passages=True)
        for candidate in batch:
            record = records.get(candidate.key)
            if record is None:  # deleted since the candidates were found
                continue
            if document.analysed is None or record.text is None:
                matches.append(_estimate_match(document, record, candidate.shared))
                continue
            text = AnalysedText.of(record.text, store.settings.analysis)
            words_left -= len(document.analysed.words.words) + len(text.words.words)
            texts = document.analysed, text
            if match := _align(document, texts, record, candidate.shared, options.alignment):
                matches.append(match)
        compared += len(batch)
    return matches, compared


def _align(
    document: QueryDocument, texts: tuple[AnalysedText, AnalysedText], record: Record, shared: int, alignment: Alignment
) -> _Match | None:
    """Align the query document with a record. Return the match; None if no passage is long enough."""
    query_words, hit_words = (text.words for text in texts)
    passages = align_words(query_words, hit_words, alignment)
    if passages and document.ignored.any():
        min_words = alignment.min_run_for(len(query_words.words))
        passages = list(remove_words_from_passages(passages, query_words, hit_words, document.ignored, min_words))
    if not passages:
        return None
    covers = matched_words(query_words, passages)
    words = int(min(covers.sum(), matched_words(hit_words, passages, in_second_text=True).sum()))
    share = words / document.word_count
    hit = PassageHit(record.key, words, share, 0, "exact", shared, tuple(passages), changed=has_text_changed(record))
    return _make_match(hit, covers)


def _estimate_match(document: QueryDocument, record: Record, shared: int) -> _Match:
    """Return a match whose words are estimated from passage tokens.

    On average, winnowing keeps 2 of `window` + 1 shingles.
    """
    settings = document.settings
    weight = ((settings.passages.window if settings.passages else 1) + 1) / 2
    covers = tokens_also_in(document.passages, record.passages)
    words_of_record = words_of_shingles(record.shingles, settings)
    words = min(round(weight * int(covers.sum())), document.word_count, words_of_record)
    share = words / max(document.word_count, 1)
    estimate = estimate_measures(document, record)
    measures = estimate.containment, estimate.contained, estimate.jaccard
    hit = PassageHit(record.key, words, share, 0, "estimated", shared, (), *measures)
    return _make_match(hit, covers, weight)


def _make_match(hit: PassageHit, covers: Mask, weight: float = 1.0) -> _Match:
    return Cover(hit, (-hit.words, hit.id, hit.index or ""), covers.nonzero()[0], len(covers), weight)


def _make_result(
    store: Store,
    document: QueryDocument,
    options: PassageOptions,
    *,
    matches: list[_Match],
    candidates: PassageCandidates,
    compared: int,
) -> PassageResult:
    """Return the result with the hits on the page. Shingle measures are only computed for these hits."""
    ranked = list(order_by_added_words(matches))
    page = ranked[options.offset : options.offset + options.size]
    hits = [replace(hit, added_words=round(added_words)) for hit, added_words in page]
    exact = [match for match in matches if match.key.kind == "exact"]
    words = document.word_count
    covered_words = min(round(sum(added_words for _, added_words in ranked)), words)
    text = document.analysed
    min_run = options.alignment.min_run_for(len(text.words.words)) if text else 0
    return PassageResult(
        document.name,
        document.text,
        add_fields(store, _add_measures(store, text, hits) if text else hits, options.fields),
        Covered(covered_words, covered_words / words if words else 0.0),
        len(matches),
        words,
        int(document.ignored.sum()),
        candidates.total,
        compared,
        max(candidates.guaranteed_run, min(min_run, words)),
        candidates.too_common_phrases,
        spans_of(text.words, union(exact, len(document.ignored))) if text else [],
        spans_of(text.words, document.ignored) if text else [],
        options.offset,
        len(exact) < len(matches),
        store.left_out_indices(),
    )


def _add_measures(store: Store, source: AnalysedText, hits: list[PassageHit]) -> list[PassageHit]:
    """Return the hits with the shingle measures of their texts."""
    analysis = store.settings.analysis
    measured_hits = []
    for batch in batches(hits):
        texts = read_texts(store, [hit.key for hit in batch if hit.kind == "exact"])
        for hit in batch:
            if (text := texts.get(hit.key)) is None:
                measured_hits.append(hit)
                continue
            exact = exact_measures(source, AnalysedText.of(text, analysis), analysis)
            measured_hits.append(
                replace(hit, containment=exact.containment, contained=exact.contained, jaccard=exact.jaccard)
            )
    return measured_hits
