"""A small HTTP server. Its answers come from a function, or from a real engine whose answers a test changes."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tests.support.engines import call, discard, own_name

JSON = "application/json"


@dataclass(frozen=True)
class Request:
    """A request. `path` includes the query string."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def lines(self) -> list[Any]:
        """The JSON value of each line of the body."""
        return [json.loads(line) for line in self.body.splitlines()]


@dataclass(frozen=True)
class Answer:
    """An answer. `cut` sends half of the body and closes the connection. `headers` are further headers."""

    status: int = 200
    body: bytes = b"{}"
    kind: str = JSON
    cut: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[Request], Answer | None]
"""Returns the answer to a request. None closes the connection."""


def answer(value: object, status: int = 200) -> Answer:
    """An answer with a value as JSON."""
    return Answer(status, json.dumps(value).encode())


def error(status: int, kind: str, reason: str) -> Answer:
    """An error of an engine."""
    cause = {"type": kind, "reason": reason}
    return answer({"error": {"root_cause": [cause], **cause}, "status": status}, status)


CUT_BEFORE, CUT_AFTER, CUT_WITHIN = "cut before", "cut after", "cut within"
"""The connection breaks before the writes, after them, or in the middle of the answer."""

Fate = Answer | str | None
"""What happens to a request: an answer without writes, a broken connection, or None for its writes and its answer."""

REFUSAL = {
    "type": "mapper_parsing_exception",
    "reason": "failed to parse field [year]",
    "caused_by": {"type": "illegal_argument_exception", "reason": 'for input string:\n "x"'},
}


@dataclass
class Scripted:
    """An engine that stores the documents of bulk requests, and fails as a test chooses."""

    fates: Iterator[Fate] = field(default_factory=lambda: repeat(None))  # what happens to each request, in order
    # statuses of the writes of each id, in order. All other writes succeed.
    statuses: Mapping[str, Iterator[int]] = field(default_factory=dict)
    stored: dict[str, Any] = field(default_factory=dict)  # the last document with each id
    # ids and documents in the order of the writes, with None for a deletion
    done: list[tuple[str, Any]] = field(default_factory=list)
    requested: list[list[str]] = field(default_factory=list)  # the ids of each request
    index: str = "index"  # name of its only index
    uuid: str = "u"  # identifier of the index
    _lock: Any = field(default_factory=threading.Lock)

    def __call__(self, request: Request) -> Answer | None:
        if request.path.endswith("/_settings/index.uuid"):
            return answer({self.index: {"settings": {"index": {"uuid": self.uuid}}}})
        writes = list(_writes(request.lines()))
        with self._lock:
            self.requested.append([id for _, id, _ in writes])
            fate = next(self.fates)
            if isinstance(fate, Answer):
                return fate
            if fate == CUT_BEFORE:
                return None
            done = answer({"items": [{kind: self._write(id, document)} for kind, id, document in writes]})
        return None if fate == CUT_AFTER else replace(done, cut=fate == CUT_WITHIN)

    def _write(self, id: str, document: Any) -> dict[str, Any]:
        status = next(self.statuses.get(id, iter(())), 201)
        if status >= 400:
            error = {"type": "rejected", "reason": "queue full"} if status in (429, 503) else REFUSAL
            return {"_index": self.index, "_id": id, "status": status, "error": error}
        self.done.append((id, document))
        before = self.stored.pop(id, None)
        if document is not None:
            self.stored[id] = document
        return {"_index": self.index, "_id": id, "status": 404 if document is None and before is None else status}


def _writes(lines: list[Any]) -> Iterator[tuple[str, str, Any]]:
    """Kind, id and document of each write."""
    rest = iter(lines)
    for line in rest:
        ((kind, place),) = line.items()
        yield kind, place["_id"], None if kind == "delete" else next(rest)


ELASTICSEARCH = {"x-elastic-product": "Elasticsearch"}
"""The header by which clients recognise Elasticsearch."""


def product_header(headers: Any) -> dict[str, str]:
    """Return the header that names the engine, if there is one."""
    return {name: value for name in ELASTICSEARCH if (value := headers.get(name))}


def forward(engine: str) -> Handler:
    """Forward each request to an engine."""
    place = urlsplit(engine)

    def handle(request: Request) -> Answer:
        connection = HTTPConnection(place.hostname or "", place.port)
        headers = {name: request.headers.get(name, JSON) for name in ("content-type", "accept")}
        connection.request(request.method, request.path, request.body, headers)
        response = connection.getresponse()
        kind = response.headers.get("content-type", JSON)
        result = Answer(response.status, response.read(), kind, headers=product_header(response.headers))
        connection.close()
        return result

    return handle


@dataclass
class Server:
    """A running server. A test may replace `handle`. `connections` has the address of each connection."""

    handle: Handler
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    connections: set[Any] = field(default_factory=set)


@contextmanager
def serving(
    handle: Handler, host: str = "127.0.0.1", *, keep_requests: bool = True, tls: ssl.SSLContext | None = None
) -> Iterator[Server]:
    """Run a server during the block. Without `keep_requests`, its list `requests` is empty."""
    server = Server(handle)

    class OneRequest(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, body)
            server.connections.add(self.client_address)
            if keep_requests:
                server.requests.append(request)
            given = server.handle(request)
            if given is not None:
                self.send_response(given.status)
                self.send_header("content-type", given.kind)
                self.send_header("content-length", str(len(given.body)))
                for name, value in given.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(given.body[: len(given.body) // 2] if given.cut else given.body)
            if given is None or given.cut:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer  # noqa: N815 - http.server's names

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Ignore a client that closed its connection."""

    with Quiet((host, 0), OneRequest) as listening:
        shown = f"[{host}]" if ":" in host else host
        if tls is not None:
            listening.socket = tls.wrap_socket(listening.socket, server_side=True)
        server.url = f"http{'s' if tls else ''}://{shown}:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


class TempIndices:
    """Creates indices in a real engine. `indices` removes them after the test."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.names: list[str] = []

    def name(self) -> str:
        """Return a new name."""
        self.names.append(own_name())
        return self.names[-1]

    def make(self, mappings: object, settings: object = None, **parameters: str) -> str:
        """Create an index of an application."""
        name = self.name()
        call(self.engine, "PUT", f"/{name}?{urlencode(parameters)}", {"mappings": mappings, "settings": settings or {}})
        return name

    def alias(self, *names: str, write: str | None = None, **options: object) -> str:
        """Create an alias of indices. New documents are written to the index `write`."""
        alias = own_name("alias")
        added = [{"index": name, "alias": alias, "is_write_index": name == write, **options} for name in names]
        call(self.engine, "POST", "/_aliases", {"actions": [{"add": action} for action in added]})
        return alias

    def put(self, index: str, id: str, document: object, **parameters: str) -> None:
        """Write a document and refresh the index."""
        options = urlencode({"refresh": "true", **parameters})
        call(self.engine, "PUT", f"/{index}/_doc/{quote(id, safe='')}?{options}", document)


@contextmanager
def indices(engine: str) -> Iterator[TempIndices]:
    """Remove the indices of a test at the end of the block."""
    temp_indices = TempIndices(engine)
    try:
        yield temp_indices
    finally:
        discard(engine, *temp_indices.names)


def unused_url() -> str:
    """An address without a server."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"http://127.0.0.1:{listening.getsockname()[1]}"
