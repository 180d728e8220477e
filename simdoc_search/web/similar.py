"""The page of similar documents."""

from __future__ import annotations

from typing import Any

from simdoc_search.as_json.similar import similar_as_json
from simdoc_search.documents import DocumentKey
from simdoc_search.web.columns import read_page_columns
from simdoc_search.web.request import PageRequest
from simdoc_search.web.request_query import RequestQuery, read_request_query, reject_local_path
from simdoc_search.web.response import Page


def similar(request: PageRequest) -> Page:
    """Return the documents that are similar to a document or a text, or that match a FINGERPRINT query."""
    search = request.served_store.search() if request.measure == "jaccard" else request.served_store.passages_search()
    options: dict[str, Any] = {
        "overlap": request.percent("overlap"),
        "probability": request.percent("probability"),
        "size": request.size,
        "offset": request.offset,
        "filters": request.filters(),
        "measure": request.measure,
        "verify": not request.is_on("estimate"),
    }
    fingerprint_query = request.value("q").strip()
    if fingerprint_query and not request.has_text:
        reject_local_path(search, fingerprint_query)
        result = search.similar(fingerprint_query, **options)
        query = RequestQuery(DocumentKey(result.query.id))
    else:
        query = read_request_query(request)
        result = search.similar(**query.arguments(), **options)
    keys = [hit.key for hit in result.hits]
    columns = read_page_columns(request, search, keys)
    values = {
        **query.template_values(request),
        "result": result,
        "columns": columns,
        "offsets": request.neighbour_page_offsets(len(result.hits)),
    }
    return Page("similar.html", values, columns.add_to_json(similar_as_json(result), keys))
