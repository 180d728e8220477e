"""Renders error pages, with one sentence and an HTTP status for each class of errors."""

from __future__ import annotations

import logging
from typing import Any

from starlette.exceptions import HTTPException

from simdoc_search.cancellation import StoppedError
from simdoc_search.errors import (
    AmbiguousQueryError,
    MissingExtraError,
    SimdocError,
    StoreError,
    StoreNotFoundError,
    UnknownDocumentError,
)
from simdoc_search.web.original_file import FileNotAvailableError
from simdoc_search.web.request import PageRequest
from simdoc_search.web.request_limits import MAX_REQUEST_SECONDS
from simdoc_search.web.response import Page, url_for
from simdoc_search.web.served_store import NotIndexedError, ServedStore

_STATUSES: dict[type[Exception], int] = {
    UnknownDocumentError: 404,
    NotIndexedError: 404,
    FileNotAvailableError: 404,
    MissingExtraError: 501,
    StoreError: 503,
    SimdocError: 400,
}
"""The HTTP status of each class of errors. If an error belongs to several classes, the first one is used."""

_QUERY_FIELDS = ("q", "id", "a", "b", "ignore")
"""The values of a request that name documents."""

_log = logging.getLogger(__name__)


def make_error_page(error: Exception, request: PageRequest) -> Page:
    """Return the page of an error. It does not show the location of the store."""
    served_store = request.served_store
    if isinstance(error, StoreError):
        served_store.reopen_after(error)
    status = _choose_status(error, served_store)
    message = served_store.hide_location(_describe_error(error, status))
    as_json: dict[str, Any] = {"error": message}
    reading_urls: dict[str, str] = {}
    suggestions = list(error.suggestions) if isinstance(error, UnknownDocumentError) else []
    if isinstance(error, AmbiguousQueryError) and error.readings:
        as_json["readings"] = list(error.readings)
        message = f"{error.query!r} matches several documents"
        reading_urls = {reading: _url_with_reading(request, error.query, reading) for reading in error.readings}
    if suggestions:
        as_json["suggestions"] = suggestions
    if isinstance(error, UnknownDocumentError) and not error.other_indices:
        message = f"there is no document {error.id!r}"
    is_unknown_document = isinstance(error, UnknownDocumentError)
    values = {
        "message": message,
        "reading_urls": reading_urls,
        "suggestions": suggestions,
        "is_unknown_document": is_unknown_document,
        "can_add_files": is_unknown_document and served_store.search().store.is_simdoc_index,
        "status": status,
    }
    return Page("problem.html", values, as_json, status)


def _url_with_reading(request: PageRequest, query: str, reading: str) -> str:
    """Return the URL of the same request with a reading instead of the ambiguous query; empty if it has a text."""
    field = next((name for name in _QUERY_FIELDS if query in map(str.strip, request.values.get(name, ()))), None)
    if field is None or request.has_text:
        return ""
    chosen = [reading if value.strip() == query else value for value in request.values[field]]
    return url_for(request.path, **{**request.values, field: chosen})


def _describe_error(error: Exception, status: int) -> str:
    match error:
        case HTTPException():
            details = {
                404: "there is no page at this path",
                405: "this path does not accept this HTTP method; use a method from the Allow header",
            }
            return details.get(status, error.detail)
        case StoppedError() if status == 504:
            limit = f"{MAX_REQUEST_SECONDS:.0f} seconds"
            return f"the request took longer than {limit}; send a shorter text, or use the command line"
        case StoppedError():
            return "the server is shutting down; try again later"
        case StoreNotFoundError():
            return "there is no index yet; create it with `simdoc-search index` and the same --store as the server"
        case SimdocError():
            return str(error)
    _log.error("unexpected error in a request", exc_info=error)
    return "an unexpected error occurred; see the server's log for details"


def _choose_status(error: Exception, served_store: ServedStore) -> int:
    if isinstance(error, HTTPException):
        return error.status_code
    if isinstance(error, StoppedError):
        return 503 if served_store.stop.is_set() else 504
    return next((status for error_class, status in _STATUSES.items() if isinstance(error, error_class)), 500)
