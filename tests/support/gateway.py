"""Between tests and somebody's cluster: it lets them in, and keeps all that is not theirs from being changed.

Tests speak plain HTTP with it, without credentials. What belongs to the whole engine (pipelines, templates, stored
scripts) gets a name of its own there, whatever tests call it; an index must have a name that begins with PREFIX. A
request that would write anything else is refused, and never reaches the cluster.
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

from simdoc_search.stores.remote.connection import request_headers, split_url, tls_context
from tests.support.http_server import JSON, Answer, Request, answer, error, serving

__all__ = ["REFUSED_PATH", "Gateway", "gateway"]

REFUSED_PATH = "/_refused"
"""What was refused since this was asked the last time."""

SECONDS = 120.0
KINDS = ("_ingest/pipeline", "_component_template", "_index_template", "_template", "_scripts")
"""Where things lie that belong to the whole engine, by name."""

READS = re.compile(
    "_(analyze|count|field_caps|mget|msearch|mtermvectors|pit|refresh|search|search_shards)|_m?search/template"
    "|_render/template|_validate/query|_search/(scroll|point_in_time)|_(explain|termvectors)/[^/]+"
    "|_ingest/pipeline/([^/]+/)?_simulate|_index_template/_simulate(_index)?/[^/]+|_scripts/painless/_execute"
)
"""POST requests that change nothing, without the names of indices before them."""

PIPELINES = frozenset({"pipeline", "final_pipeline", "default_pipeline", "index.final_pipeline"})


@dataclass
class Gateway:
    """What stands in front of one engine.

    Attributes:
        url: the address of the engine.
        prefix: of the names of indices that tests may write.
        made: kinds and names of what was put into the engine under other names.
        refused: requests that would have changed what is not the tests' own.
        is_open: whether requests of tests are still answered.
    """

    url: str
    prefix: str
    made: set[tuple[str, str]] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    is_open: bool = True
    _tasks: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        hosts, _ = split_url(f"{self.url.rstrip('/')}/_")
        self._base, self._headers = hosts[0].rstrip("/"), request_headers(self.url)
        tls = tls_context() if self._base.startswith("https") else None
        self._pool = urllib3.PoolManager(maxsize=32, block=False, retries=False, timeout=SECONDS, ssl_context=tls)

    def __call__(self, request: Request) -> Answer:
        """What the engine answers, or that it is not asked."""
        if not self.is_open:
            return error(503, "gateway", "the tests have ended")
        path, _, query = request.path.partition("?")
        if path == REFUSED_PATH:
            asked, self.refused = self.refused, []
            return answer(asked)
        parts = [unquote(each) for each in path.strip("/").split("/")]
        kind = next((each for each in KINDS if path.startswith(f"/{each}/")), None)
        lines = _lines(request)
        if not self._allows(request.method, parts, kind, lines):
            self.refused.append(f"{request.method} {path}")
            return error(403, "not_its_own", f"{request.method} {path} would change what is not of these tests")
        if kind and parts[1] != "painless":
            place = len(kind.split("/"))
            parts[place] = ",".join(self._renamed(name) for name in parts[place].split(","))
            path = "/" + "/".join(quote(each, safe=",*") for each in parts)
            if request.method == "PUT":
                self.made.add((kind, parts[place]))
        params = {key: self._renamed(each) if key == "pipeline" else each for key, each in parse_qsl(query, True)}
        body = self._body(parts, lines, request.body)
        found = self.ask(request.method, f"{path}?{urlencode(params)}" if params else path, body, request.headers)
        if task := re.fullmatch(rb'\{"task":"([\w:-]+)"\}', found.body):
            self._tasks.add(task[1].decode())
        return replace(found, body=found.body.replace(f"{self.prefix}.".encode(), b""))

    def ask(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """What the engine answers."""
        kept = {name: each for name, each in (headers or {}).items() if name in ("content-type", "accept")}
        try:
            found = self._pool.request(
                method, self._base + path, body=body or None, headers={**kept, **self._headers}, redirect=False
            )
        except urllib3.exceptions.HTTPError as failed:
            return error(503, "gateway", f"{type(failed).__name__}: {failed}")
        kind, product = found.headers.get("content-type", JSON), found.headers.get("x-elastic-product", "")
        return Answer(found.status, found.data, kind, product=product)

    def _renamed(self, name: str) -> str:
        """The name of something that belongs to the whole engine."""
        own = name.startswith((self.prefix, "_")) or not name
        return name if own else f"{self.prefix}.{name}"

    def _allows(self, method: str, parts: list[str], kind: str | None, lines: list[Any]) -> bool:
        """Whether a request changes nothing, or only what is of the tests."""
        if method in ("GET", "HEAD") or (method == "POST" and _reads(parts)):
            return True
        if parts[0] in ("_search", "_pit"):  # what a search holds open, by its id, never all of it
            return "_all" not in parts
        if parts[0] == "_tasks":
            return parts[-1] == "_cancel" and parts[1] in self._tasks
        if kind:
            return all(map(self._own, (each for line in lines for each in line.get("index_patterns", ()))))
        names = [*_written(parts, lines)]
        return bool(names) and all(map(self._own, names))

    def _own(self, names: str) -> bool:
        return all(each.startswith(f"{self.prefix}-") for each in names.split(","))

    def _body(self, parts: list[str], lines: list[Any], body: bytes) -> bytes:
        """With the names that things have in the engine; the very bytes if it names none."""
        renamed = [self._in(line) for line in lines]
        if parts[-1] == "template":
            renamed = [{**line, "id": self._renamed(line["id"])} if "id" in line else line for line in renamed]
        if renamed == lines:
            return body
        return b"".join(json.dumps(line).encode() + b"\n" for line in renamed)

    def _in(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._in(each) for each in value]
        if not isinstance(value, Mapping):
            return value
        found = {key: self._in(each) for key, each in value.items()}
        for key, each in value.items():
            if key in PIPELINES and isinstance(each, str):
                found[key] = self._renamed(each)
            elif key == "pipeline" and isinstance(each, Mapping) and isinstance(each.get("name"), str):
                found[key] = {**each, "name": self._renamed(each["name"])}
            elif key == "composed_of":
                found[key] = [self._renamed(name) for name in each]
        return found


def _reads(parts: list[str]) -> bool:
    """Whether a path is one of READS."""
    return bool(READS.fullmatch("/".join(parts if parts[0].startswith("_") else parts[1:])))


def _lines(request: Request) -> list[Any]:
    """The JSON values of a body, one or one a line; none if it is not JSON, which the engine will say."""
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
    """The names of indices, aliases and data streams that a request writes to; none if it is not known."""
    named = [each for each in parts[:1] if each and not each.startswith("_")]
    yield from named
    if parts[0] == "_data_stream" or parts[1:2] in (["_alias"], ["_aliases"], ["_rollover"]):
        yield from parts[-1:] if parts[-1] != "_rollover" else []
    if parts == ["_reindex"]:
        yield from (line["dest"]["index"] for line in lines)
    elif parts == ["_aliases"]:
        for action in (each for line in lines for each in line["actions"]):
            for each in action.values():
                some = (each.get(key, ()) for key in ("index", "indices", "alias", "aliases"))
                yield from (name for names in some for name in ([names] if isinstance(names, str) else names))
    elif parts[-1] == "_bulk":
        rest = iter(lines)
        for line in rest:
            ((action, place),) = line.items()
            yield from [place["_index"]] if "_index" in place else []
            if action != "delete":
                next(rest, None)
    elif len(parts) == 1 and named:
        yield from (each for line in lines if isinstance(line, Mapping) for each in line.get("aliases") or ())


@contextmanager
def gateway(url: str, prefix: str) -> Iterator[tuple[Gateway, str]]:
    """A gateway and its own address, for as long as the block lasts.

    Raises:
        SimdocError: the address or the credentials cannot be used.
    """
    made = Gateway(url, prefix)
    with serving(made, keep_requests=False) as server:
        yield made, server.url
