"""Implements `passages`: aligns the query document with candidates, and counts the words that the passages cover."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from simdoc_search.analysis.words import WordPositions
from simdoc_search.documents import DocumentKey
from simdoc_search.passages.align import align_words
from simdoc_search.passages.bibliography import describe_bibliography
from simdoc_search.passages.coverage import (
    Cover,
    count_covered_words,
    mark_shared_tokens,
    order_by_added_words,
    unite_covers,
)
from simdoc_search.passages.disguise import locate_shown_words, read_as_shown
from simdoc_search.passages.ignored_words import remove_words_from_passages
from simdoc_search.passages.passage import Passage
from simdoc_search.passages.quotations import find_quotations
from simdoc_search.passages.text_matcher import MatchedWords, TextMatcher
from simdoc_search.passages.word_spans import Mask, mask_to_spans, matched_mask, spans_to_mask
from simdoc_search.search.filter_check import find_filter_error
from simdoc_search.search.options import PassageQuery
from simdoc_search.search.passage_candidates import PassageCandidates, find_passage_candidates
from simdoc_search.search.passage_result import Coverage, PassageHit, PassageResult
from simdoc_search.search.query_document import QueryDocument, estimate_similarity, min_word_count
from simdoc_search.search.results import add_fields
from simdoc_search.search.stored_texts import (
    measure_texts,
    read_records,
    read_stored_texts,
    read_texts,
    resolve_record,
    split_into_batches,
)
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record, has_text_changed

MAX_COMPARED_DOCUMENTS = 2_000
"""Maximum number of documents that are compared with a query document.

The documents that share the most tokens are compared.
"""

MAX_TOTAL_COMPARED_WORDS = 8_000_000
"""Maximum number of words in all comparisons of a query. These comparisons take about 10 seconds.

For each comparison, the words of both documents count towards this limit.
"""

_Match = Cover[PassageHit]
"""A hit, and the words of the query document that it covers.

If the text of either document is not stored, passage tokens take the place of words.
"""


def find_passages(store: Store, options: PassageQuery) -> PassageResult:
    """Return the documents that share passages with a stored document or a text. The errors are those of `passages`.

    All pages of a result are computed from the same candidates.
    """
    if options.text is not None:
        document = QueryDocument.from_text(options.text, store.settings)
    else:
        record = resolve_record(store, options.query or "", options.query_document_filters)
        document = QueryDocument(record, store.settings)
    document.check_has_passages()
    document = replace(
        document,
        ignored_texts=[locate_shown_words(text, store.settings.analysis) for text in options.ignore],
        ignore_quotes=options.ignore_quotes,
        ignore_bibliography=options.ignore_bibliography,
        reads_as_shown=True,
    )
    candidates = _find_candidates(store, document, options, document.key or options.exclude)
    if not candidates.total and (error := find_filter_error(store, options.filters)):
        raise error
    matches, compared_count = _compare_candidates(store, document, candidates, options)
    return _make_result(store, document, options, matches=matches, candidates=candidates, compared_count=compared_count)


def _find_candidates(
    store: Store, document: QueryDocument, options: PassageQuery, exclude: DocumentKey | None
) -> PassageCandidates:
    search = partial(
        find_passage_candidates,
        store,
        document,
        filters=options.filters,
        exclude=exclude,
        alignment=options.alignment,
    )
    candidates = search(size=MAX_COMPARED_DOCUMENTS)
    return (
        search(size=candidates.total)
        if options.compare_all and candidates.total > MAX_COMPARED_DOCUMENTS
        else candidates
    )


def _compare_candidates(
    store: Store, document: QueryDocument, candidates: PassageCandidates, options: PassageQuery
) -> tuple[list[_Match], int]:
    """Return the matches among the candidates, and the number of candidates that were compared."""
    match_texts = _choose_matcher(document, options)
    matches: list[_Match] = []
    compared_count, words_left = 0, MAX_TOTAL_COMPARED_WORDS
    for batch in split_into_batches(candidates.documents):
        if words_left <= 0 and not options.compare_all:
            break
        keys = [candidate.key for candidate in batch]
        texts = {} if document.text is None else read_texts(store, keys)
        for key, matched in zip(texts, match_texts(list(map(read_as_shown, texts.values()))), strict=True):
            words_left -= len(matched.covered_words_mask) + matched.other_word_count
            if word_count := matched.covered_word_count:
                share = word_count / document.word_count
                hit = PassageHit(key, word_count, share, 0, "exact")
                matches.append(_make_match(hit, matched.covered_words_mask))
        if without_text := [key for key in keys if key not in texts]:
            records = read_records(store, without_text, load={"passages"})
            estimated = (_estimate_match(document, record) for record in records.values())
            matches += [match for match in estimated if match.item.word_count]
        compared_count += len(batch)
    return matches, compared_count


def _choose_matcher(document: QueryDocument, options: PassageQuery) -> Callable[[Sequence[str]], list[MatchedWords]]:
    """Return a function that takes texts, and finds the words that the query document shares with each one."""
    source = document.analysed_text
    if source is None:
        return lambda _: []
    if document.ignored_word_mask.any():
        return lambda texts: [_match_unignored_words(document, source.words, text, options) for text in texts]
    text = read_as_shown(source.text)
    return TextMatcher(text, len(source.words.words), document.settings.analysis, options.alignment).match


def _match_unignored_words(
    document: QueryDocument, words: WordPositions, text: str, options: PassageQuery
) -> MatchedWords:
    """Return the words that are not ignored and that the query document shares with a text."""
    other = locate_shown_words(text, document.settings.analysis)
    return MatchedWords(matched_mask(words, _find_shared_passages(document, other, options)), len(other.words))


def _find_shared_passages(document: QueryDocument, words: WordPositions, options: PassageQuery) -> list[Passage]:
    """Return the passages that the query document shares with a text, without ignored words."""
    if document.analysed_text is None:
        return []
    source = document.analysed_text.words
    passages = align_words(source, words, options.alignment)
    if passages and document.ignored_word_mask.any():
        min_words = options.alignment.min_run_for(len(source.words))
        passages = list(remove_words_from_passages(passages, source, words, document.ignored_word_mask, min_words))
    return passages


def _estimate_match(document: QueryDocument, record: Record) -> _Match:
    """Return a match whose words are estimated from passage tokens.

    Winnowing keeps 2 of `window` + 1 shingles on average, so each token stands for (`window` + 1) / 2 words.
    """
    settings = document.settings
    weight = ((settings.passages.window if settings.passages else 1) + 1) / 2
    shared_tokens_mask = mark_shared_tokens(document.passage_tokens, record.passages)
    record_word_count = min_word_count(record.shingle_count, settings)
    words = min(round(weight * int(shared_tokens_mask.sum())), document.word_count, record_word_count)
    share = words / max(document.word_count, 1)
    estimate = estimate_similarity(document, record)
    measures = estimate.containment, estimate.reverse_containment, estimate.jaccard
    hit = PassageHit(record.key, words, share, 0, "estimated", (), *measures)
    return _make_match(hit, shared_tokens_mask, weight)


def _make_match(hit: PassageHit, covered_mask: Mask, weight: float = 1.0) -> _Match:
    """Return a match. `covered_mask` marks words, or passage tokens that stand for `weight` words each."""
    return Cover(
        hit,
        (-hit.word_count, hit.id, hit.index or ""),
        covered_mask.nonzero()[0],
        len(covered_mask),
        weight,
    )


def _make_result(
    store: Store,
    document: QueryDocument,
    options: PassageQuery,
    *,
    matches: list[_Match],
    candidates: PassageCandidates,
    compared_count: int,
) -> PassageResult:
    """Return the result with the hits on the page. Passages and shingle measures are computed only for these hits."""
    page = islice(order_by_added_words(matches), options.offset, options.offset + options.size)
    hits = [replace(hit, added_word_count=round(added_words)) for hit, added_words in page]
    exact = [match for match in matches if match.item.kind == "exact"]
    words = document.word_count
    covered_words = min(round(count_covered_words(matches)), words)
    text = document.analysed_text
    covered_mask = unite_covers(exact, len(document.ignored_word_mask))
    quotations = find_quotations(text.text) if text and exact and not options.ignore_quotes else []
    quoted_words = int((spans_to_mask(text.words, quotations) & covered_mask).sum()) if text and quotations else 0
    min_run = options.alignment.min_run_for(len(text.words.words)) if text else 0
    return PassageResult(
        document.name,
        document.text,
        add_fields(store, _add_passages(store, document, hits, options), options.fields),
        Coverage(covered_words, covered_words / words if words else 0.0, quoted_words),
        len(matches),
        words,
        int(document.ignored_word_mask.sum()),
        candidates.total,
        compared_count,
        max(candidates.guaranteed_run_length, min(min_run, words)),
        candidates.too_common_run_count,
        mask_to_spans(text.words, covered_mask) if text else [],
        mask_to_spans(text.words, document.ignored_word_mask) if text else [],
        quotations,
        describe_bibliography(text.text, document.bibliography_span) if text and options.ignore_bibliography else "",
        options.offset,
        len(exact) < len(matches),
        store.left_out_indices(),
    )


def _add_passages(
    store: Store, document: QueryDocument, hits: list[PassageHit], options: PassageQuery
) -> list[PassageHit]:
    """Return the hits with the passages and shingle measures of their texts."""
    complete_hits, analysis = [], document.settings.analysis
    for batch in split_into_batches(hits):
        texts = read_stored_texts(store, [hit.key for hit in batch if hit.kind == "exact"])
        shown = {key: text._replace(text=read_as_shown(text.text)) for key, text in texts.items()}
        measures = {} if document.text is None else measure_texts(read_as_shown(document.text), shown, analysis)
        for hit in batch:
            if (exact := measures.get(hit.key)) is None:
                complete_hits.append(hit)
                continue
            words = locate_shown_words(texts[hit.key].text, analysis)
            complete_hits.append(
                replace(
                    hit,
                    passages=tuple(_find_shared_passages(document, words, options)),
                    containment=exact.containment,
                    reverse_containment=exact.reverse_containment,
                    jaccard=exact.jaccard,
                    changed=has_text_changed(texts[hit.key]),
                )
            )
    return complete_hits
