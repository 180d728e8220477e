"""How much of one document is in the other? Passage tokens choose, as a short text in a long one overlaps it little."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from simdoc_search.documents import Place
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.plans import Threshold
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.filter_check import unknown_field
from simdoc_search.search.passages_candidates import gather
from simdoc_search.search.passages_source import PassageSource, estimated_measures
from simdoc_search.search.similar_options import Options
from simdoc_search.search.similar_ranking import Hit, in_order
from simdoc_search.search.similar_result import SearchResult
from simdoc_search.search.stored_texts import ReadText, exactly, pages, read_records, with_fields
from simdoc_search.sketch.tokens import encode
from simdoc_search.sketch.winnow import PASSAGE_LENGTH
from simdoc_search.stores.base import Store
from simdoc_search.stores.excluded_indices import left_out_indices
from simdoc_search.stores.record import Record, has_changed
from simdoc_search.stores.shared_tokens import Shared

_log = logging.getLogger(__name__)

MOST_COMPARED = 2_000
"""Documents that are looked at for one source at most, or ten times as many as are wanted: those that share most."""

_COMPARED_PER_HIT = 10


def measured(store: Store, query: FingerprintQuery, source: PassageSource, options: Options) -> SearchResult:
    """The documents of which, or in which, there is at least such a share.

    Raises:
        QuerySyntaxError: the query has a probability.
        UnknownFieldError: nothing is found, and no document has the field of a filter.
        FormatMismatchError: the store has no passage tokens.
    """
    if query.probability is not None:
        raise QuerySyntaxError(f"{options.measure} takes no probability; leave that of {query} out")
    wanted = options.offset + options.size
    most = max(MOST_COMPARED, _COMPARED_PER_HIT * wanted)
    left_out = None if options.include_self else source.place
    found = gather(store, source, filters=options.filters, exclude=left_out, size=most)
    if not found.total and (error := unknown_field(store, options.filters)):
        raise error
    hits: list[Hit] = []
    total = compared = 0
    for page in pages(iter(_likely(store, source, found.documents, options))):
        if len(hits) >= wanted and hits[-1].overlap >= 1:
            break
        of_page = list(_hits(store, source, page, query, options))
        hits = in_order([*hits, *of_page])[:wanted]
        total, compared = total + len(of_page), compared + len(page)
    plan = Threshold(tuple(encode(source.codes, PASSAGE_LENGTH)), 1)
    _log.info("%s: %d hits, %d documents compared", query if query.id else "a text", len(hits), found.total)
    shown = with_fields(store, hits[options.offset :], options.fields)
    return SearchResult(
        *(query, plan, found.total, shown, source.shingles),
        measure=options.measure,
        unread=max(0, found.total - compared),
        total=total,
        is_total_exact=compared >= len(found.documents) == found.total,
        offset=options.offset,
        left_out_indices=left_out_indices(store),
    )


def _likely(
    store: Store, source: PassageSource, documents: Sequence[Shared], options: Options
) -> Sequence[tuple[Shared, Record]]:
    """Documents with their passage tokens, those first of which the tokens promise most."""
    records = {each.place: each for each in store.records([each.id for each in documents], passages=True)}
    there = [(each, records[each.place]) for each in documents if each.place in records]
    value = {each.place: getattr(estimated_measures(source, record), options.measure) for each, record in there}
    return sorted(there, key=lambda pair: -value[pair[0].place])


def _hits(
    store: Store,
    source: PassageSource,
    page: Sequence[tuple[Shared, Record]],
    query: FingerprintQuery,
    options: Options,
) -> Iterator[Hit]:
    places = [shared.place for shared, _ in page]
    texts: dict[Place, Record] = {} if source.text is None else read_records(store, places)
    analysis = store.settings.analysis
    for shared, record in page:
        read = texts.get(shared.place)
        if source.text is None or read is None or read.text is None:
            found, kind, changed = estimated_measures(source, record), "estimated", False
        else:
            found = exactly(source.text, ReadText.of(read.text, analysis), analysis)
            kind, changed = "exact", has_changed(read)
        value = getattr(found, options.measure)
        if value and value >= (query.overlap or 0):
            exact = found if kind == "exact" else None
            yield Hit(shared.place, value, shared.shared, kind, measures=exact, changed=changed)  # type: ignore[arg-type]
