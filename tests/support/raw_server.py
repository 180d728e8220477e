"""A server that speaks no better HTTP than a test wants: it sends bytes as they come from an iterator, or nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from simdoc_search.stores.remote.engine import Engine

Parts = Callable[[int], Iterable[bytes]]
"""The bytes that answer a request, in pieces, from the number of its connection. A piece may take its time."""

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-elastic-product: Elasticsearch\r\n"


@dataclass
class RawServer:
    """A server that runs; `parts` may be exchanged at any time.

    Attributes:
        requests: how many came.
        connections: how many were opened.
        pause: seconds between the head of a request and its body.
    """

    parts: Parts
    url: str = ""
    requests: int = 0
    connections: int = 0
    pause: float = 0.0
    _ended: threading.Event = field(default_factory=threading.Event)

    def frozen(self, _: int) -> Iterator[bytes]:
        """Nothing, until the server ends."""
        self._ended.wait()
        yield from ()

    def dripping(self, beginning: bytes, drop: bytes = b" ", seconds: float = 0.05) -> Parts:
        """Some bytes at once, and then drop after drop, until the server ends."""

        def parts(_: int) -> Iterator[bytes]:
            yield beginning
            while not self._ended.wait(seconds):
                yield drop

        return parts


def whole(body: bytes, more: bytes = b"") -> Parts:
    """A good answer; `more` are lines of its head."""
    return lambda _: [HEAD + more + b"content-length: %d\r\n\r\n" % len(body) + body]


@contextmanager
def raw_server(parts: Parts | None = None) -> Iterator[RawServer]:
    """A server, for as long as the block lasts."""
    server = RawServer(parts or whole(b"{}"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        opened: list[socket.socket] = []
        accepting = threading.Thread(target=_accept, args=(server, listening, opened), daemon=True)
        accepting.start()
        try:
            yield server
        finally:
            server._ended.set()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            for each in opened:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
            accepting.join(5)


def _accept(server: RawServer, listening: socket.socket, opened: list[socket.socket]) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            server.connections += 1
            opened.append(connection)
            threading.Thread(target=_serve, args=(server, connection, server.connections), daemon=True).start()


def _serve(server: RawServer, connection: socket.socket, number: int) -> None:
    with suppress(OSError):
        while _read_request(connection, server):
            server.requests += 1
            for part in server.parts(number):
                connection.sendall(part)


def _read_request(connection: socket.socket, server: RawServer) -> bool:
    """Whether another request came."""
    read = b""
    while b"\r\n\r\n" not in read:
        if not (part := connection.recv(65536)):
            return False
        read += part
    time.sleep(server.pause)
    head, _, body = read.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().splitlines() if line.startswith(b"content-length:")]
    left = (int(lengths[0]) if lengths else 0) - len(body)
    while left > 0:
        left -= len(connection.recv(1 << 20))
    return True


def stopped_while_waiting(engine: Engine, server: RawServer) -> list[type[BaseException]]:
    """How a request ends whose answer is no longer wanted while it is waited for."""
    working, ended, before = engine.in_background(), list[type[BaseException]](), server.requests

    def ask() -> None:
        try:
            working.call("GET", ["_x"])
        except BaseException as error:
            ended.append(type(error))

    asking = threading.Thread(target=ask)
    asking.start()
    wait_until(lambda: server.requests > before)
    working.stopped.set()
    asking.join(30)
    return ended


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for something that another thread or process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.005)
