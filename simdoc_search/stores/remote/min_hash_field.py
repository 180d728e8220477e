"""Opens a store on a field that the engine fills with its own `min_hash` filter.

The terms of a document are only in the inverted index and cannot be read. But simdoc-search can compute the same terms
from a text. Opening the store checks that they are the same. Then the engine finds candidates by their terms, and
simdoc-search computes the terms of each candidate from its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from simdoc_search.batches import split_by_count
from simdoc_search.display import format_fields
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import DocumentError, FormatMismatchError, LocationError, StoreError
from simdoc_search.query.dsl import can_count_tokens, count_clauses
from simdoc_search.query.plans import Plan, ThresholdPlan
from simdoc_search.sketch.fingerprint import fingerprint
from simdoc_search.sketch.tokens import empty_token_ids
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.candidates import (
    HitReader,
    HitWithTokens,
    RemoteCandidates,
    build_first_page_search,
)
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.lookups import find_by_id
from simdoc_search.stores.remote.mapping_check import is_closed
from simdoc_search.stores.remote.mappings import read_index_settings, read_mappings
from simdoc_search.stores.remote.min_hash import (
    MinHashFieldIndices,
    MinHashFieldSettings,
    check_terms,
    is_text,
    min_hash_analyzer,
    read_min_hash_settings,
    source_text_field,
)
from simdoc_search.stores.remote.point_in_time import RawHit
from simdoc_search.stores.remote.queries import IdField
from simdoc_search.stores.remote.texts import check_text_fields, read_text, text_field_names

TEXTS_AT_ONCE = 16
"""Maximum number of texts that are loaded in one request."""


def open_min_hash_field(
    engine: Engine,
    index: str,
    field: str,
    *,
    id_field: str | None = None,
    text_field: str | Sequence[str] | None = None,
) -> IndexAccess | None:
    """Open an index for queries with its `min_hash` field. Return None if no index with this name has such a field.

    Raises:
        StoreError: the engine and simdoc-search compute different terms, for example because the engine ignores an
            option. Or the engine does not allow reading the options.
        FormatMismatchError: the indices have different options.
        LocationError: texts cannot be read from `text_field`, or ids cannot be read from `id_field`.
    """
    mappings = read_mappings(engine, index) or {}
    if not any(is_text(mapping, field) for mapping in mappings.values()):
        return None
    settings = read_index_settings(engine, index)
    if settings is None:
        raise StoreError(
            f"{engine.name} does not allow reading the settings of {index}, which contain the options of the field "
            f"{field}; ask an administrator for the permission indices:monitor/settings/get"
        )
    closed = sorted(name for name, values in settings.items() if is_closed(values))
    open_mappings = {name: mapping for name, mapping in mappings.items() if name not in closed}
    analyzers = {
        name: min_hash_analyzer(mapping, settings.get(name, {}), field) for name, mapping in open_mappings.items()
    }
    options = {
        name: read_min_hash_settings(settings[name], analyzer) for name, analyzer in analyzers.items() if analyzer
    }
    if not options:
        return None
    shared = _shared_options(options, field, f"{engine.name}/{index}")
    for name in options:
        check_terms(engine, name, field, shared)
    source_field = source_text_field(open_mappings[min(options)], field)
    text_fields = text_field_names(text_field or source_field)
    check_text_fields(text_fields, open_mappings, field, f"{engine.name}/{index}", is_simdoc_index=False)
    if field.rpartition(".")[0] == source_field not in text_fields:
        raise LocationError(
            f"the terms of the field {field} are computed from the text field {source_field}, not from the one in "
            "--text-field; omit --text-field"
        )
    unfilled_indices = sorted(open_mappings.keys() - options.keys())
    indices = MinHashFieldIndices(
        index, field, {name: open_mappings[name] for name in options}, unfilled_indices, closed
    )
    engine = engine.without_closed_indices()
    return IndexAccess(
        engine,
        engine.in_background(),
        indices,
        IdField.for_field(id_field, open_mappings.values()),
        shared,
        text_fields,
    )


def _shared_options(options: Mapping[str, MinHashFieldSettings], field: str, location: str) -> MinHashFieldSettings:
    first, shared = min(options.items())
    for name, other in sorted(options.items()):
        if other != shared:
            raise FormatMismatchError(
                f"the field {field} has different options in the indices {first} and {name} of {location}; "
                "open one of these indices instead",
                found=other.to_dict(),
                expected=shared.to_dict(),
            )
    if shared.options.hash_count > 1:
        raise StoreError(
            f"cannot estimate overlaps from the field {field} of {location}, because its hash_count is "
            f"{shared.options.hash_count}; create the index with hash_count 1 and more buckets, then reindex"
        )
    return shared


def compute_records(access: IndexAccess, ids: Iterable[str], filters: Filters | None = None) -> Iterator[Record]:
    """Compute the records of documents from their texts; see `Store.records`."""
    source, clauses = [*(access.text_fields or ()), *access.id_field.source_fields], access.filter_clauses(filters)
    hits = find_by_id(access, ids, source=source, ids_per_request=TEXTS_AT_ONCE, clauses=clauses)
    return (_compute_record(access, hit) for hit in hits)


def find_candidates_by_terms(
    access: IndexAccess,
    plans: Sequence[tuple[Plan, DocumentKey | None]],
    filters: Filters | None,
    fields: Sequence[str],
) -> list[RemoteCandidates]:
    """Run plans; see `Store.candidates_of_many`."""
    clauses = access.query_clauses(filters)
    searches = [_search_body(access, plan, clauses, exclude, fields) for plan, exclude in plans]
    responses = access.engine.search_many(access.name, searches)
    return [
        RemoteCandidates(
            access,
            plan,
            search,
            response,
            read_tokens=_make_hit_reader(access, plan, is_scored=search["track_scores"]),
            fields=fields,
        )
        for (plan, _), search, response in zip(plans, searches, responses, strict=True)
    ]


def _search_body(
    access: IndexAccess, plan: Plan, clauses: list[dict[str, Any]], exclude: DocumentKey | None, fields: Sequence[str]
) -> dict[str, Any]:
    """Return the body of the search for the first page.

    The score is the number of shared terms. If counting them would exceed the clause limit, hits have no score.
    """
    must_not = access.id_field.key_clauses(exclude)
    used = count_clauses([*clauses, *must_not])
    limit = access.engine.max_clauses(plan.clause_count + len(plan.tokens) + used)
    is_scored = isinstance(plan, ThresholdPlan) or can_count_tokens(plan, used, limit)
    query = access.token_query(plan, clauses, must_not, score="tokens" if is_scored else "nothing")
    return build_first_page_search(access, query, (), fields, is_scored=is_scored)


def _make_hit_reader(access: IndexAccess, plan: Plan, *, is_scored: bool) -> HitReader:
    tokens = set(plan.tokens)

    def read(hits: Iterable[RawHit]) -> Iterator[HitWithTokens]:
        for page in split_by_count(hits, TEXTS_AT_ONCE):
            ids = dict.fromkeys(access.id_field.id_of(hit) for hit in page)
            records = {record.key: record for record in compute_records(access, ids)}
            for hit in page:
                if record := records.get(access.id_field.key_of(hit)):  # the document was not deleted after the search
                    matched = round(hit["_score"]) if is_scored else len(tokens.intersection(record.terms))
                    yield HitWithTokens(hit, record.token_ids, matched, record.fault)

    return read


def _compute_record(access: IndexAccess, hit: Mapping[str, Any]) -> Record:
    key, names = access.id_field.key_of(hit), format_fields(access.text_fields or ())
    location: dict[str, Any] = {"index": key.index, "routing": key.routing}

    def make_faulty_record(fault: str) -> Record:
        return Record(key.id, empty_token_ids(), 0, "", fault=fault, **location)

    try:
        text = read_text(hit.get("_source") or {}, access.text_fields or ())
    except DocumentError as error:
        return make_faulty_record(f"has no text that can be read ({error})")
    if text is None:
        return make_faulty_record(f"has no text in {names}")
    settings = access.settings
    assert isinstance(settings, MinHashFieldSettings)  # noqa: S101 - checked by open_min_hash_field
    text_fingerprint = fingerprint(text, settings.analysis, settings.sketch)
    token_ids, terms = settings.token_ids_and_terms(text_fingerprint)
    fault = "" if len(token_ids) else f"has fewer than {settings.analysis.shingle_size} words in {names}"
    return Record(
        key.id, token_ids, text_fingerprint.shingle_count, "", text=text, fault=fault, terms=terms, **location
    )
