"""Requests within bounds, for clients of our own: in time, in size, and no longer than somebody wants the answer.

A socket's timeout begins again with each byte, so an engine that sends one byte a second never exceeds it. And a thread
that waits for a socket does not notice anything else. So we wait for bytes in short turns, up to a deadline. The
deadline moves with each byte: a large answer may take long on a slow network.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from http.client import HTTPResponse
from logging import getLogger
from typing import Any

from simdoc_search.cancellation import POLL_SECONDS, StoppedError
from simdoc_search.stores.remote.errors import TooLargeError, one_line
from simdoc_search.stores.remote.retry import seconds_from_environment

TIMEOUT = 60.0
"""Seconds that a request may take from its first byte to the last one of its answer, besides those for its bytes."""

SLOWEST = 1 << 16
"""Bytes per second of the slowest network that we wait for: a request with many bytes may take that much longer."""

VARIABLE = "SIMDOC_TIMEOUT"
"""The environment variable that says another number of seconds than TIMEOUT."""

LARGEST_ANSWER = 1 << 28
"""Bytes of an answer that we take. A document has 100 MB at the most, as engines are set; pages are made smaller."""

_log = getLogger("simdoc_search")
_stopped: ContextVar[threading.Event | None] = ContextVar("stopped", default=None)
_until: ContextVar[float] = ContextVar("until")


def timeout_seconds() -> float:
    """TIMEOUT, or what the environment says instead.

    Raises:
        StoreError: that is not a number of seconds.
    """
    asked = seconds_from_environment(VARIABLE, advice=f"write {TIMEOUT:.0f}", minimum=0.001)
    return TIMEOUT if asked is None else asked


@contextmanager
def stopped_by(event: threading.Event | None) -> Iterator[None]:
    """Requests of this thread end with `StoppedError` as soon as an event is set."""
    before = _stopped.set(event)
    try:
        yield
    finally:
        _stopped.reset(before)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the clients read of an answer."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class BoundedPool:
    """A urllib3 pool of connections whose answers are bounded.

    Args:
        pool: the pool; it must have no connections yet.
        seconds: that a request may take if it says nothing else, besides those for its bytes.
    """

    def __init__(self, pool: Any, seconds: float) -> None:
        self._pool = pool
        self._seconds = seconds
        pool.ConnectionCls = type("Bounded", (pool.ConnectionCls,), {"response_class": _Response})

    def urlopen(self, method: str, url: str, body: bytes | None = None, **options: Any) -> Answer:
        """As that of urllib3.

        Raises:
            TooLargeError: the answer is larger than LARGEST_ANSWER.
            StoppedError: it is wanted no longer.
            urllib3.exceptions.HTTPError: there is none, or it takes too long.
        """
        given = options.get("timeout")
        seconds = given if isinstance(given, (int, float)) else self._seconds
        options["timeout"] = seconds = seconds + len(body or b"") / SLOWEST
        before = _until.set(time.monotonic() + seconds)
        try:
            response = self._pool.urlopen(method, url, body=body, preload_content=False, **options)
            try:
                data = _read(response)
            except BaseException:
                response.close()  # what is left of the answer must not be taken for the next one
                raise
            finally:
                response.release_conn()
        finally:
            _until.reset(before)
        headers = response.headers.copy()
        for warning in headers.getlist("warning"):
            _log.info("the engine warns: %s", one_line(warning))
        headers.pop("warning", None)  # the clients print it as it is, whatever it holds
        return Answer(response.status, headers, data)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()


def _read(response: Any) -> bytes:
    length = response.headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > LARGEST_ANSWER:
        raise TooLargeError
    return b"".join(iter(lambda: response.read(1 << 20, decode_content=False), b""))


class _Response(HTTPResponse):
    """A response whose bytes come from `_Bytes`."""

    def __init__(self, sock: Any, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp: Any = io.BufferedReader(_Bytes(sock, self.fp))


class _Bytes(io.RawIOBase):
    """The bytes of a socket, in turns.

    Args:
        sock: the socket.
        file: made of it by http.client; closed with this one, as sockets count their files.
    """

    def __init__(self, sock: Any, file: Any) -> None:
        self._sock = sock
        self._file = file
        self._timeout = sock.gettimeout()
        self._until = _until.get()
        self._stopped = _stopped.get()
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            while True:
                left = self._until + self._size / SLOWEST - time.monotonic()
                if left <= 0:
                    raise TimeoutError("timed out")
                if self._stopped is not None and self._stopped.is_set():
                    raise StoppedError
                self._sock.settimeout(min(left, POLL_SECONDS))
                try:
                    read = int(self._sock.recv_into(buffer))
                except TimeoutError:
                    continue
                self._size += read
                if self._size > LARGEST_ANSWER:
                    raise TooLargeError
                return read
        finally:
            self._sock.settimeout(self._timeout)

    def close(self) -> None:
        self._file.close()
        super().close()
