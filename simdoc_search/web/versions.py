"""The pages of versions, related documents and concepts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simdoc_search.as_json.queries import key_as_json
from simdoc_search.as_json.related import concepts_as_json, related_as_json
from simdoc_search.as_json.versions import versions_as_json
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import NoFingerprintError
from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.search.stored_texts import add_metadata, read_records
from simdoc_search.search.version_result import VersionsResult
from simdoc_search.sketch.thresholds import MAX_DISTANCE_LIMIT
from simdoc_search.versions import EvidenceKind
from simdoc_search.versions.evidence import DateEvidence, DateSources
from simdoc_search.versions.metadata_dates import DATE_FIELDS
from simdoc_search.versions.relations import MIN_RELATED_SIMILARITY
from simdoc_search.web.columns import read_page_columns
from simdoc_search.web.request import PageRequest
from simdoc_search.web.request_query import find_document_key, make_query, read_request_query
from simdoc_search.web.response import Page


def versions(request: PageRequest) -> Page:
    """Return the versions of a document or a text, oldest first. Git is never run."""
    query = read_request_query(request)
    options = {**_read_options(request), "use_git": False}
    result = request.served_store.search().versions(**query.arguments(), **options)
    values = {
        **query.template_values(request),
        "result": result,
        "max_distance_limit": MAX_DISTANCE_LIMIT,
        "evidence": {} if request.wants_json else _read_evidence(request.served_store.search(), result),
        "offsets": request.neighbour_page_offsets(len(result.hits)),
    }
    return Page("versions.html", values, versions_as_json(result, query.id, query.file, {}, None))


_EVIDENCE_LABELS: dict[EvidenceKind, str] = {
    "modified": "modification date in the metadata",
    "date": "date in the metadata",
    "name": "date in the name",
    "version": "version in the name",
    "created": "creation date in the metadata",
    "modification time": "modification time of the file",
}


def _read_evidence(search: SimilaritySearch, result: VersionsResult) -> dict[DocumentKey, list[tuple[str, str]]]:
    """Return the evidence for the date of each version: pairs of a label, and a date or version number."""
    keys = [entry.key for entry in result.entries if entry.key is not None]
    records = add_metadata(search.store, list(read_records(search.store, keys).values()), DATE_FIELDS)
    # `DateEvidence` gives files with the same text hash the earliest of their modification times. Without hashes, each
    # file has its own.
    evidence = DateEvidence([replace(DateSources.from_record(record), text_hash="") for record in records])
    return {
        record.key: [
            (label, dated.label)
            for kind, label in _EVIDENCE_LABELS.items()
            if (dated := evidence.dates_by(kind)[number]) and dated.evidence_kind == kind and dated.label
        ]
        for number, record in enumerate(records)
    }


def related(request: PageRequest) -> Page:
    """Return the documents on the same topic as a document or a text."""
    search = request.served_store.concepts_search()
    query = read_request_query(request)
    result = search.related(**query.arguments(), **_read_options(request), explain=request.is_on("explain"))
    keys = [hit.key for hit in result.hits]
    columns = read_page_columns(request, search, keys)
    values = {
        **query.template_values(request),
        "result": result,
        "columns": columns,
        "related_from": MIN_RELATED_SIMILARITY,
        "offsets": request.neighbour_page_offsets(len(result.hits)),
    }
    return Page("related.html", values, columns.add_to_json(related_as_json(result, query.id, query.file), keys))


def concepts(request: PageRequest) -> Page:
    """Return the concepts of a document."""
    search = request.served_store.concepts_search()
    key = find_document_key(request, search)
    try:
        result = search.concepts(make_query(key))
    except NoFingerprintError:
        result = None
    as_json = concepts_as_json(result) if result else {**key_as_json(key), "words": []}
    return Page("concepts.html", {"key": key, "result": result}, as_json)


def _read_options(request: PageRequest) -> dict[str, Any]:
    return {"size": request.size, "offset": request.offset, "filters": request.filters(), **read_thresholds(request)}


def read_thresholds(request: PageRequest) -> dict[str, float]:
    """Return the thresholds that a request sets. The other thresholds are those of the index."""
    thresholds: dict[str, float] = {
        name: float(share)
        for name in ("min_share", "min_smaller_share")
        if (share := request.percent(name)) is not None
    }
    if request.value("max_distance").strip():
        thresholds["max_distance"] = request.integer("max_distance", 0, 0, MAX_DISTANCE_LIMIT)
    if (score := request.score("min_score")) is not None:
        thresholds["min_score"] = score
    return thresholds
