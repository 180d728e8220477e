"""The home page and the status page."""

from __future__ import annotations

from simdoc_search.as_json.store import info_as_json
from simdoc_search.search.passage_candidates import describe_guarantee
from simdoc_search.web.request import PageRequest
from simdoc_search.web.response import Page

_MAX_EXAMPLES = 5


def home(request: PageRequest) -> Page:
    """Return the number of documents, and the search forms."""
    info = request.served_store.info()
    as_json = {
        "document_count": info.document_count,
        "examples": request.served_store.search().store.ids_with_prefix("", _MAX_EXAMPLES),
    }
    return Page("home.html", {**as_json, "has_concepts": info.settings.concepts is not None}, as_json)


def status(request: PageRequest) -> Page:
    """Return the number of documents and the settings, without the location of the store."""
    info = request.served_store.info()
    as_json = {**info_as_json(info), "store": None}
    passages = describe_guarantee(request.served_store.search().store)
    return Page("status.html", {"info": info, "passages": passages, "settings_json": as_json["settings"]}, as_json)
