"""What a page answers with: the same values as HTML for people, as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from simdoc_search.display import counted, estimate, harmless_json, percent, printable, size_said
from simdoc_search.documents import Place
from simdoc_search.passages.report.html import content
from simdoc_search.passages.report.summary import excerpt
from simdoc_search.web.request import Asked

_C1 = frozenset(map(chr, range(0x80, 0xA0)))
"""Controls whose numbers mean other characters in HTML."""

_ASSETS = {
    "page.css": "simdoc_search.passages.report",
    "page.js": "simdoc_search.passages.report",
    "site.css": "simdoc_search.web",
    "site.js": "simdoc_search.web",
    "icon.svg": "simdoc_search.web",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A page.

    Attributes:
        template: what shows it to people.
        values: what the template shows.
        as_json: what programs get.
        status: of HTTP.
        refresh: seconds after which a browser is to ask again; 0: it is not.
        notes: what the answer leaves out, a sentence each.
    """

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    as_json: Any = None
    status: int = 200
    refresh: int = 0
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """Something was done; it is seen at another address. A program gets its state."""

    to: str
    as_json: Any = None


@dataclass(frozen=True, slots=True)
class Download:
    """A file, written as it is made."""

    name: str
    lines: Iterator[str]


def rendered(answer: Answer, asked: Asked) -> str:
    """The page as HTML."""
    return _environment().get_template(answer.template).render(asked=asked, answer=answer, **answer.values)


def written(value: Any) -> str:
    """A value as JSON, in which nothing steers a terminal."""
    return harmless_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


def address(path: str, **values: Any) -> str:
    """An address with values that are not empty."""
    kept = {name: value for name, value in values.items() if value not in (None, "", [], False)}
    return f"{path}?{urlencode(kept, doseq=True, errors='replace')}" if kept else path


def place_values(place: Place, prefix: str = "") -> dict[str, str]:
    """By which values an address names a place: `id`, and in an engine the index too."""
    name = prefix or "id"
    begin = f"{prefix}_" if prefix else ""
    values = {name: place.id, f"{begin}index": place.index, f"{begin}routing": place.routing}
    return {key: value for key, value in values.items() if value}


@cache
def asset(name: str) -> bytes | None:
    """A style, script or picture; None if there is none of this name."""
    package = _ASSETS.get(name)
    if package is None:
        return None
    folder = resources.files(package)
    return (folder / "static" / name if package.endswith(".web") else folder / name).read_bytes()


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("simdoc_search.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
    )
    made.filters |= {
        "approx": lambda share: estimate(share).replace("~", "about "),
        "bytes": size_said,
        "exactly": _exactly,
        "excerpt": excerpt,
        "percent": percent,
        "text": lambda text: Markup(content(text)),  # noqa: S704 - it is escaped there
        "verbatim": _verbatim,
        "whole": lambda share: percent(share, 0),
    }
    made.globals |= {
        "address": address,
        "counted": counted,
        "document": lambda place: address("/document", **place_values(place)),
        "compare": lambda a, b: address("/compare", **place_values(a, "a"), **place_values(b, "b")),
        "place_values": place_values,
        "static": _static,
        "written": written,
    }
    return made


def _shown(value: Any) -> Any:
    """What any expression of a template shows: nothing of it hides, or turns the direction of a text."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return printable(value)
    return value


def _verbatim(text: str) -> Markup:
    """A text as the value of a field, which is sent back as it is; what hides in it is written by its number."""
    kept = str(escape(text.encode("utf-8", "replace").decode()))
    return Markup("".join(c if c in "\n\t" or c in _C1 or printable(c) == c else f"&#{ord(c)};" for c in kept))  # noqa: S704


def _exactly(share: float) -> str:
    """A share in percent, without a point where there is nothing behind it."""
    return percent(share).replace(".0 %", " %")


def _static(name: str) -> str:
    """The address of an asset, which changes as it does."""
    return f"/static/{name}?v={sha256(asset(name) or b'').hexdigest()[:12]}"
