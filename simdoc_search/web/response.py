"""Creates responses: pages as HTML for people and as JSON for programs, redirects, and downloads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from simdoc_search.display import format_bytes, format_estimate, format_percent, printable, safe_json
from simdoc_search.documents import DocumentKey
from simdoc_search.passages.report.templates import make_environment
from simdoc_search.web.request import PageRequest

_C1_CONTROLS = frozenset(map(chr, range(0x80, 0xA0)))
"""Browsers interpret numeric character references to these characters as other characters."""

_LINES_PER_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Page:
    """A page: a template and its values for people, and JSON for programs.

    A browser reloads the page after `refresh_seconds`, or never if the value is 0.
    """

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    as_json: Any = None
    status: int = 200
    refresh_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Redirect:
    """The response to an action. A browser is redirected to `url`. A program gets the new state as JSON."""

    url: str
    as_json: Any = None


@dataclass(frozen=True, slots=True)
class TsvDownload:
    """A file to download. Its lines are generated while they are sent."""

    name: str
    lines: Iterator[str]


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """The original file of a document. A browser shows it if `is_shown` is true, and otherwise saves it."""

    name: str
    size: int
    chunks: Iterator[bytes]
    media_type: str
    is_shown: bool


def to_response(result: Page | Redirect | TsvDownload | OriginalFile, request: PageRequest) -> Response:
    """Return the HTTP response for a page, a redirect, a download or a file."""
    match result:
        case TsvDownload():
            headers = {"Content-Disposition": f'attachment; filename="{result.name}"'}
            return StreamingResponse(_join_lines(result.lines), headers=headers, media_type="text/tab-separated-values")
        case OriginalFile():
            kind = "inline" if result.is_shown else "attachment"
            encoded_name = quote(result.name.encode("utf-8", "replace"), safe="")
            headers = {
                "Content-Disposition": f"{kind}; filename*=UTF-8''{encoded_name}",
                "Content-Length": str(result.size),
            }
            return StreamingResponse(result.chunks, headers=headers, media_type=result.media_type)
        case Redirect() if request.wants_json:
            return Response(json_text(result.as_json), 202, media_type="application/json")
        case Redirect():
            return RedirectResponse(result.url, 303)
    left_out_indices = request.served_store.left_out_indices()
    if request.wants_json:
        as_json = result.as_json
        if left_out_indices and isinstance(as_json, dict):
            reasons = [
                {**asdict(index), "reason": request.served_store.hide_location(index.reason)}
                for index in left_out_indices
            ]
            as_json = {**as_json, "left_out_indices": reasons}
        return Response(json_text(as_json), result.status, media_type="application/json")
    notes = [request.served_store.hide_location(index) for index in left_out_indices]
    html = _make_environment().get_template(result.template).render(request=request, notes=notes, **result.values)
    headers = {"Refresh": str(result.refresh_seconds)} if result.refresh_seconds else {}
    return HTMLResponse(html, result.status, headers)


def _join_lines(lines: Iterator[str]) -> Iterator[str]:
    while piece := "".join(islice(lines, _LINES_PER_CHUNK)):
        yield piece


def json_text(value: Any) -> str:
    """Return a value as JSON. Characters that control a terminal are escaped."""
    return safe_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


def url_for(path: str, **values: Any) -> str:
    """Return a path with a query string of all values that are not empty."""
    non_empty = {name: value for name, value in values.items() if value not in (None, "", []) and value is not False}
    return f"{path}?{urlencode(non_empty, doseq=True, errors='replace')}" if non_empty else path


def key_parameters(key: DocumentKey, name: str = "id") -> dict[str, str]:
    """Return the values of a query string that identify a document: its id, and in an engine its index and routing."""
    prefix = "" if name == "id" else f"{name}_"
    values = {name: key.id, f"{prefix}index": key.index, f"{prefix}routing": key.routing}
    return {field: value for field, value in values.items() if value}


@cache
def _make_environment() -> Environment:
    environment = make_environment("simdoc_search.web")
    filters: dict[str, Callable[..., Any]] = {
        "about": lambda share: format_estimate(share).replace("~", "about "),
        "bytes": format_bytes,
        "folder": lambda id: id[: id.rfind("/") + 1],
        "exactly": lambda share: format_percent(share).replace(".0 %", " %"),
        "percent": format_percent,
        "verbatim": _verbatim,
    }
    environment.filters |= filters
    environment.globals |= {
        "url_for": url_for,
        "document": lambda key: url_for("/document", **key_parameters(key)),
        "compare": lambda a, b, **at: url_for("/compare", **key_parameters(a, "a"), **key_parameters(b, "b"), **at),
        "key_parameters": key_parameters,
        "json_text": json_text,
    }
    return environment


def _verbatim(text: str) -> Markup:
    """Return a text as the value of a form field. The browser sends it back unchanged."""
    escaped = str(escape(text.encode("utf-8", "replace").decode()))
    characters = (c if c in "\n\t" or c in _C1_CONTROLS or printable(c) == c else f"&#{ord(c)};" for c in escaped)
    return Markup("".join(characters))  # noqa: S704
