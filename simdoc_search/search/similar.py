"""From queries to answers: each is resolved and planned, the store is asked many at once, candidates become hits."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from simdoc_search.documents import Place
from simdoc_search.errors import NoFingerprintError, QuerySyntaxError, SimdocError, StoreError
from simdoc_search.query.planner import plan
from simdoc_search.query.plans import Plan, Threshold
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.filter_check import unknown_field
from simdoc_search.search.overlap import measured
from simdoc_search.search.passages_source import source_of_record, source_of_text
from simdoc_search.search.resolver import Question, Resolver, query_of
from simdoc_search.search.similar_options import Options
from simdoc_search.search.similar_ranking import best_hits
from simdoc_search.search.similar_result import SearchResult
from simdoc_search.search.similar_verification import verified_hits
from simdoc_search.search.stored_texts import ReadText, read_records, whole_record
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprint
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Candidates, Store
from simdoc_search.stores.excluded_indices import left_out_indices
from simdoc_search.stores.record import Record

_log = logging.getLogger(__name__)

QUERIES_AT_ONCE = 32


class _Asked(NamedTuple):
    """A query with its document and its plan."""

    query: FingerprintQuery
    source: Record
    plan: Plan


def answers(store: Store, queries: Iterator[Question], options: Options) -> Iterator[SearchResult | SimdocError]:
    """The answers to queries, in order, or the error of each."""
    while some := list(islice(queries, QUERIES_AT_ONCE)):
        resolver = Resolver(store, options.source_filters)
        resolver.load(some)
        asked = [_asked(store, resolver, query, options) for query in some]
        if options.measure != "jaccard":
            yield from (each if isinstance(each, SimdocError) else _measured(store, each, options) for each in asked)
            continue
        fine = [each for each in asked if isinstance(each, _Asked)]
        plans = [(each.plan, None if options.include_self else each.source.place) for each in fine]
        found = _candidates(store, plans, options)
        for each in asked:
            yield each if isinstance(each, SimdocError) else _answer(store, each, next(found), options)


def answer_to_text(store: Store, text: str, options: Options) -> SearchResult | SimdocError:
    """The answer to a text that need not be stored, or the error."""
    settings = store.settings
    query = query_of("", options.overlap, options.probability)
    if options.measure != "jaccard":
        return measured(store, query, source_of_text(text, settings), options)
    fp = fingerprint(text, settings.analysis, settings.minhash)
    (answer,) = answers_to_records(store, [record_of_text(text, fp, settings)], options)
    return answer


def record_of_text(text: str, made: Fingerprint, settings: Settings) -> Record:
    """A text that need not be stored, with its fingerprint, as a document of a store of these settings."""
    codes, terms = settings.codes_and_terms(made)
    is_short = not len(codes) and not settings.analysis.short_texts
    fault = f"has fewer than {settings.analysis.shingle_size} words" if is_short else ""
    return Record("", codes, made.shingles, "", text=text, fault=fault, terms=terms)


def answers_to_records(
    store: Store, sources: Sequence[Record], options: Options, exclude: Place | None = None
) -> Iterator[SearchResult | SimdocError]:
    """The answers to documents that need not be stored, asked all at once; candidates are read as each is asked for.

    Raises:
        NoFingerprintError: one of them has no words.
    """
    query = query_of("", options.overlap, options.probability)
    asked = [_Asked(query, source, planned(store, query, source, options)) for source in sources]
    found = _candidates(store, [(each.plan, exclude) for each in asked], options) if asked else iter(())
    for each in asked:
        yield _answer(store, each, next(found), options)


def _asked(store: Store, resolver: Resolver, query: Question, options: Options) -> _Asked | SimdocError:
    try:
        meant = resolver.resolve(query, overlap=options.overlap, probability=options.probability)
        source = resolver.record(meant.id, query if isinstance(query, Place) else None)
        return _Asked(meant, source, planned(store, meant, source, options))
    except StoreError:
        raise
    except SimdocError as error:
        return error


def check_has_tokens(source: Record) -> None:
    """Refuse a source that cannot be compared.

    Raises:
        NoFingerprintError: it has no tokens, and the message why.
    """
    if source.fault and not len(source.codes):
        what = f"the document {source.id!r}" if source.id else "the text"
        raise NoFingerprintError(f"{what} {source.fault}, so nothing can be compared with it")
    if source.id and not len(source.codes) and not source.text_hash:
        how = "simdoc-search backfill URL --text-field FIELD gives it one, unless its text has no words"
        raise NoFingerprintError(f"the document {source.id!r} has no fingerprint; {how}")
    if not len(source.codes):
        what = f"the document {source.id!r}" if source.id else "the text"
        raise NoFingerprintError(f"{what} has no words, so nothing can be similar to it")


def planned(store: Store, query: FingerprintQuery, source: Record, options: Options) -> Plan:
    """How the store is asked for a query about a document. Raises NoFingerprintError if it has no tokens."""
    check_has_tokens(source)
    tokens = source.tokens(store.settings.token_length)
    verified = options.verify and store.store_texts
    return plan(tokens, query.overlap, query.probability, planner=options.planner, verified=verified)


def _candidates(
    store: Store, plans: Sequence[tuple[Plan, Place | None]], options: Options
) -> Iterator[Candidates | SimdocError]:
    """All at once; one by one if one of them is more than the store takes."""
    try:
        yield from store.candidates_of_many(plans, filters=options.filters, fields=options.fields)
    except QuerySyntaxError as error:
        if len(plans) == 1:
            yield error
            return
        for each in plans:
            yield from _candidates(store, [each], options)


def _answer(
    store: Store, asked: _Asked, found: Candidates | SimdocError, options: Options
) -> SearchResult | SimdocError:
    if isinstance(found, SimdocError):
        return found
    if not found.total and (error := unknown_field(store, options.filters)):
        return error
    query, source, made = asked.query, asked.source, found.plan
    settings = store.settings
    page: dict[str, Any] = {"size": options.size, "offset": options.offset, "estimate": settings.estimate}
    text = _text_of(store, source) if options.verify and store.store_texts else None
    if text is None:
        page_found = best_hits(found, source, made, query.overlap, **page)
    else:
        read = ReadText.of(text, settings.analysis)
        page_found = verified_hits(found, source, made, query.overlap, store=store, text=read, **page)
    hits, total, is_total_exact = page_found
    left_out = tuple(found.left_out)
    if isinstance(made, Threshold) and not query.overlap and not is_total_exact:  # all candidates are hits
        total, is_total_exact = found.total - len(left_out), True
    _log.info("%s: %d hits, %d documents compared", query if query.id else "a text", len(hits), found.total)
    return SearchResult(
        query,
        made,
        found.total,
        hits,
        source.shingles,
        left_out,
        total=max(total, len(hits)),
        is_total_exact=is_total_exact,
        offset=options.offset,
        left_out_indices=left_out_indices(store),
    )


def _measured(store: Store, asked: _Asked, options: Options) -> SearchResult | SimdocError:
    """The answer by another measure, for which the source is read whole."""
    try:
        source = source_of_record(whole_record(store, asked.source), store.settings)
        return measured(store, asked.query, source, options)
    except StoreError:
        raise
    except SimdocError as error:
        return error


def _text_of(store: Store, source: Record) -> str | None:
    """The text of a source, which is read only now; None if the store does not have it."""
    if source.text is not None:
        return source.text
    record = read_records(store, [source.place]).get(source.place)
    return record.text if record else None
