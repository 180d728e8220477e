"""What is said when something went wrong: one sentence and a status of HTTP."""

from __future__ import annotations

import logging
from typing import Any

from simdoc_search.cancellation import StoppedError
from simdoc_search.errors import (
    AmbiguousQueryError,
    MissingExtraError,
    SimdocError,
    StoreError,
    StoreNotFoundError,
    UnknownDocumentError,
)
from simdoc_search.web.collection import Collection, NotKeptError
from simdoc_search.web.request_body import BodyError
from simdoc_search.web.response import Answer

_log = logging.getLogger(__name__)


def problem(error: Exception, status: int = 0, collection: Collection | None = None) -> Answer:
    """The page about an error, its way out with it.

    Args:
        error: what went wrong.
        status: of HTTP; 0: by the kind of error.
        collection: hides where it lies.
    """
    code = status or _status(error)
    if code == 500:
        _log.error("a request failed", exc_info=error)
        sentence = "something went wrong here; the server's log says what"
    elif isinstance(error, StoppedError):
        sentence = "the server is shutting down; ask again when it runs"
    elif isinstance(error, StoreNotFoundError):
        sentence = "there are no documents here yet; simdoc-search index FOLDER brings them"
    else:
        sentence = str(error)
    if isinstance(error, StoreError) and collection is not None:
        collection.failed(error)
    shown = collection.shown(sentence) if collection else sentence
    said: dict[str, Any] = {"error": shown}
    readings = list(error.readings) if isinstance(error, AmbiguousQueryError) else []
    suggestions = list(error.suggestions) if isinstance(error, UnknownDocumentError) else []
    if readings:
        said["readings"] = readings
    if suggestions:
        said["suggestions"] = suggestions
        shown = f"no document {error.id!r} is here" if isinstance(error, UnknownDocumentError) else shown
    values = {"sentence": shown, "readings": readings, "suggestions": suggestions, "code": code}
    return Answer("problem.html", values, said, code)


def _status(error: Exception) -> int:
    match error:
        case BodyError():
            return error.status
        case UnknownDocumentError() | NotKeptError():
            return 404
        case MissingExtraError():
            return 501
        case StoreError() | StoppedError():
            return 503
        case SimdocError():
            return 400
        case _:
            return 500
