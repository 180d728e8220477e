"""Makes responses: pages as HTML for people and as JSON for programs, redirects, and downloads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from simdoc_search.display import estimate, format_bytes, percent, printable, safe_json
from simdoc_search.documents import Place
from simdoc_search.passages.report.templates import make_environment
from simdoc_search.web.request import PageRequest

_C1_CONTROLS = frozenset(map(chr, range(0x80, 0xA0)))
"""Browsers read numeric references to these characters as other characters."""

_LINES_PER_PIECE = 500


@dataclass(frozen=True, slots=True)
class Page:
    """A page: a template with its values for people, and JSON for programs.

    A browser loads the page again after `refresh_seconds`, or never if this is 0.
    """

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    as_json: Any = None
    status: int = 200
    refresh_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Redirect:
    """The answer to an action. A browser is sent to another address. A program gets the new state as JSON."""

    address: str
    as_json: Any = None


@dataclass(frozen=True, slots=True)
class Download:
    """A file to download. Its lines are generated while they are sent."""

    name: str
    lines: Iterator[str]


def response_of(answer: Page | Redirect | Download, request: PageRequest) -> Response:
    """The HTTP response for an answer."""
    match answer:
        case Download():
            headers = {"Content-Disposition": f'attachment; filename="{answer.name}"'}
            return StreamingResponse(_pieces(answer.lines), headers=headers, media_type="text/tab-separated-values")
        case Redirect() if request.wants_json:
            return Response(json_text(answer.as_json), 202, media_type="application/json")
        case Redirect():
            return RedirectResponse(answer.address, 303)
    left_out = request.served.left_out_indices()
    if request.wants_json:
        as_json = answer.as_json
        if left_out and isinstance(as_json, dict):
            reasons = [{**asdict(index), "reason": request.served.without_location(index.reason)} for index in left_out]
            as_json = {**as_json, "left_out_indices": reasons}
        return Response(json_text(as_json), answer.status, media_type="application/json")
    notes = [request.served.without_location(index) for index in left_out]
    html = _environment().get_template(answer.template).render(request=request, notes=notes, **answer.values)
    headers = {"Refresh": str(answer.refresh_seconds)} if answer.refresh_seconds else {}
    return HTMLResponse(html, answer.status, headers)


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    while piece := "".join(islice(lines, _LINES_PER_PIECE)):
        yield piece


def json_text(value: Any) -> str:
    """A value as JSON. Characters that control a terminal are escaped."""
    return safe_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


def address(path: str, **values: Any) -> str:
    """A path with a query string of all values that are not empty."""
    given = {name: value for name, value in values.items() if value not in (None, "", [], False)}
    return f"{path}?{urlencode(given, doseq=True, errors='replace')}" if given else path


def place_values(place: Place, name: str = "id") -> dict[str, str]:
    """The values in a query string that identify a document: its id, and in an engine its index and routing."""
    prefix = "" if name == "id" else f"{name}_"
    values = {name: place.id, f"{prefix}index": place.index, f"{prefix}routing": place.routing}
    return {key: value for key, value in values.items() if value}


@cache
def _environment() -> Environment:
    environment = make_environment("simdoc_search.web")
    filters: dict[str, Callable[..., Any]] = {
        "about": lambda share: estimate(share).replace("~", "about "),
        "bytes": format_bytes,
        "exactly": lambda share: percent(share).replace(".0 %", " %"),
        "percent": percent,
        "verbatim": _verbatim,
    }
    environment.filters |= filters
    environment.globals |= {
        "address": address,
        "document": lambda place: address("/document", **place_values(place)),
        "compare": lambda a, b: address("/compare", **place_values(a, "a"), **place_values(b, "b")),
        "place_values": place_values,
        "json_text": json_text,
    }
    return environment


def _verbatim(text: str) -> Markup:
    """A text as the value of a form field. The browser sends it back unchanged."""
    escaped = str(escape(text.encode("utf-8", "replace").decode()))
    characters = (c if c in "\n\t" or c in _C1_CONTROLS or printable(c) == c else f"&#{ord(c)};" for c in escaped)
    return Markup("".join(characters))  # noqa: S704
