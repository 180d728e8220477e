"""A gateway between tests and a cluster that others use. Tests can change only their own objects in it.

Tests use it with plain HTTP and without credentials. It adds a prefix to the names of pipelines, templates and stored
scripts. The name of an index must begin with the prefix. It refuses requests that would write to other objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

import urllib3

from simdoc_search.stores.remote.connection import build_request_headers, create_tls_context, split_url
from tests.support.http_server import JSON, Answer, Request, answer, error, product_header, serving

__all__ = ["REFUSED_PATH", "Gateway", "gateway"]

REFUSED_PATH = "/_refused"
"""The path that returns the requests that were refused since the last call."""

SECONDS = 120.0
KINDS = ("_ingest/pipeline", "_component_template", "_index_template", "_template", "_scripts")
"""Paths of the objects of a whole engine. A name follows the path."""

READS = re.compile(
    "_(analyze|count|field_caps|mget|msearch|mtermvectors|pit|refresh|search|search_shards)|_m?search/template"
    "|_render/template|_validate/query|_search/(scroll|point_in_time)|_(explain|termvectors)/[^/]+"
    "|_ingest/pipeline/([^/]+/)?_simulate|_index_template/_simulate(_index)?/[^/]+|_scripts/painless/_execute"
)
"""Paths of POST requests that change nothing, without the names of indices."""

PIPELINES = frozenset({"pipeline", "final_pipeline", "default_pipeline", "index.final_pipeline"})


@dataclass
class Gateway:
    """A gateway to one engine."""

    url: str  # address of the engine
    prefix: str  # prefix of the names that tests may write
    made: set[tuple[str, str]] = field(default_factory=set)  # kinds and names of the objects with a prefixed name
    refused: list[str] = field(default_factory=list)  # requests that were refused
    is_open: bool = True  # whether requests are still forwarded
    _tasks: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        hosts, _ = split_url(f"{self.url.rstrip('/')}/_")
        self._base, self._headers = hosts[0].rstrip("/"), build_request_headers(self.url)
        tls = create_tls_context() if self._base.startswith("https") else None
        self._pool = urllib3.PoolManager(maxsize=32, block=False, retries=False, timeout=SECONDS, ssl_context=tls)

    def __call__(self, request: Request) -> Answer:
        """Return the answer of the engine, or refuse the request."""
        if not self.is_open:
            return error(503, "gateway", "the tests have ended")
        path, _, query = request.path.partition("?")
        if path == REFUSED_PATH:
            refused, self.refused = self.refused, []
            return answer(refused)
        parts = [unquote(part) for part in path.strip("/").split("/")]
        kind = next((kind for kind in KINDS if path.startswith(f"/{kind}/")), None)
        lines = _lines(request)
        if not self._allows(request.method, parts, kind, lines):
            self.refused.append(f"{request.method} {path}")
            return error(403, "not_its_own", f"{request.method} {path} would change what is not of these tests")
        if kind and parts[1] != "painless":
            place = len(kind.split("/"))
            parts[place] = ",".join(self._renamed(name) for name in parts[place].split(","))
            path = "/" + "/".join(quote(part, safe=",*") for part in parts)
            if request.method == "PUT":
                self.made.add((kind, parts[place]))
        params = {key: self._renamed(value) if key == "pipeline" else value for key, value in parse_qsl(query, True)}
        body = self._body(parts, lines, request.body)
        result = self.ask(request.method, f"{path}?{urlencode(params)}" if params else path, body, request.headers)
        if task := re.fullmatch(rb'\{"task":"([\w:-]+)"\}', result.body):
            self._tasks.add(task[1].decode())
        return replace(result, body=result.body.replace(f"{self.prefix}.".encode(), b""))

    def ask(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """Return the answer of the engine."""
        kept = {name: value for name, value in (headers or {}).items() if name in ("content-type", "accept")}
        try:
            response = self._pool.request(
                method, self._base + path, body=body or None, headers={**kept, **self._headers}, redirect=False
            )
        except urllib3.exceptions.HTTPError as failed:
            return error(503, "gateway", f"{type(failed).__name__}: {failed}")
        kind = response.headers.get("content-type", JSON)
        return Answer(response.status, response.data, kind, headers=product_header(response.headers))

    def _renamed(self, name: str) -> str:
        """Return the name of an object with the prefix."""
        own = name.startswith((self.prefix, "_")) or not name
        return name if own else f"{self.prefix}.{name}"

    def _allows(self, method: str, parts: list[str], kind: str | None, lines: list[Any]) -> bool:
        """Return whether a request changes nothing, or only objects of the tests."""
        if method in ("GET", "HEAD") or (method == "POST" and _reads(parts)):
            return True
        if parts[0] in ("_search", "_pit"):  # a scroll or point in time by its id
            return "_all" not in parts
        if parts[0] == "_tasks":
            return parts[-1] == "_cancel" and parts[1] in self._tasks
        if kind:
            return all(map(self._own, (pattern for line in lines for pattern in line.get("index_patterns", ()))))
        names = [*_written(parts, lines)]
        return bool(names) and all(map(self._own, names))

    def _own(self, names: str) -> bool:
        return all(name.startswith(f"{self.prefix}-") for name in names.split(","))

    def _body(self, parts: list[str], lines: list[Any], body: bytes) -> bytes:
        """Return the body with the prefix before its names."""
        renamed = [self._in(line) for line in lines]
        if parts[-1] == "template":
            renamed = [{**line, "id": self._renamed(line["id"])} if "id" in line else line for line in renamed]
        if renamed == lines:
            return body
        return b"".join(json.dumps(line).encode() + b"\n" for line in renamed)

    def _in(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._in(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        renamed = {key: self._in(item) for key, item in value.items()}
        for key, item in value.items():
            if key in PIPELINES and isinstance(item, str):
                renamed[key] = self._renamed(item)
            elif key == "pipeline" and isinstance(item, Mapping) and isinstance(item.get("name"), str):
                renamed[key] = {**item, "name": self._renamed(item["name"])}
            elif key == "composed_of":
                renamed[key] = [self._renamed(name) for name in item]
        return renamed


def _reads(parts: list[str]) -> bool:
    """Return whether a path is one of READS."""
    return bool(READS.fullmatch("/".join(parts if parts[0].startswith("_") else parts[1:])))


def _lines(request: Request) -> list[Any]:
    """Return the JSON values in a body: one, or one per line. Empty if it is not JSON, which the engine reports."""
    if not request.body.strip():
        return []
    try:
        return [json.loads(request.body)]
    except ValueError:
        pass
    try:
        return request.lines()
    except ValueError:
        return []


def _written(parts: list[str], lines: list[Any]) -> Iterator[str]:
    """Yield the indices, aliases and data streams that a request writes to, if they are known."""
    named = [part for part in parts[:1] if part and not part.startswith("_")]
    yield from named
    if parts[0] == "_data_stream" or parts[1:2] in (["_alias"], ["_aliases"], ["_rollover"]):
        yield from parts[-1:] if parts[-1] != "_rollover" else []
    if parts == ["_reindex"]:
        yield from (line["dest"]["index"] for line in lines)
    elif parts == ["_aliases"]:
        for action in (action for line in lines for action in line["actions"]):
            for target in action.values():
                values = (target.get(key, ()) for key in ("index", "indices", "alias", "aliases"))
                yield from (name for names in values for name in ([names] if isinstance(names, str) else names))
    elif parts[-1] == "_bulk":
        rest = iter(lines)
        for line in rest:
            ((action, place),) = line.items()
            yield from [place["_index"]] if "_index" in place else []
            if action != "delete":
                next(rest, None)
    elif len(parts) == 1 and named:
        yield from (alias for line in lines if isinstance(line, Mapping) for alias in line.get("aliases") or ())


@contextmanager
def gateway(url: str, prefix: str) -> Iterator[tuple[Gateway, str]]:
    """Run a gateway during the block, and return it with its address.

    Raises:
        SimdocError: the address or the credentials cannot be used.
    """
    made = Gateway(url, prefix)
    with serving(made, keep_requests=False) as server:
        yield made, server.url
