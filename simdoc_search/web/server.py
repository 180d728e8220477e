"""The server: a socket that is ours, and uvicorn on it until Ctrl-C."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import Callable
from typing import Any

import h11
import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from simdoc_search.errors import SimdocError
from simdoc_search.web.limits import CONNECTIONS, FIRST_SECONDS, PIECE_BYTES, PIECES, READING_SECONDS, REFUSED
from simdoc_search.web.response import written

_LAST_SECONDS = 2.0

_BUSY = Response(
    written({"error": "the server has too many connections; try again in a moment"}),
    503,
    {"Connection": "close", "Retry-After": "1"},
    "application/json",
)


class AddressError(SimdocError):
    """Nothing can listen there."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes any that is free.

    Raises:
        AddressError: it cannot.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.create_server(address[:2], family=family, backlog=CONNECTIONS)
    except (OSError, UnicodeError, OverflowError) as error:
        number = getattr(error, "errno", None) or 0
        reason = os.strerror(number) if number > 0 else str(error)
        raise AddressError(
            f"cannot listen at {host}, port {port}: {reason.lower()}; --port names another one"
        ) from None
    return listening


class _Http(h11.Connection):
    """HTTP that ends where a body comes in tiny pieces: each of them costs as much as a large one.

    Args:
        end: ends the connection.
    """

    def __init__(self, end: Callable[[], None]) -> None:
        super().__init__(h11.SERVER)
        self._end = end
        self._pieces = self._bytes = 0

    def next_event(self) -> Any:
        """The next event."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._pieces = self._bytes = 0
        elif isinstance(event, h11.Data):
            self._pieces += 1
            self._bytes += len(event.data)
            if self._pieces > PIECES + self._bytes // PIECE_BYTES:
                self._end()
                return h11.PAUSED
        return event


class _Connection(H11Protocol):
    """A connection that is closed if it asks for nothing, or does not read what it asked for.

    A hundred silent ones would keep all others out.
    """

    _is_served = True
    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as there
        """Wait for the head of the first request, for a while; refuse it if there are too many connections."""
        self.conn = _Http(transport.abort)
        served = sum(each._is_served for each in self.connections if isinstance(each, _Connection))
        self._is_served = served < CONNECTIONS
        if len(self.connections) >= CONNECTIONS + REFUSED:
            transport.abort()
            return
        super().connection_made(transport)
        if not self._is_served:
            self.app = _BUSY
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is expected any more."""
        self._close_after(None)
        if self.transport is not None:  # it was refused at once
            super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the head of the next request."""
        if not self.flow.write_paused:
            self._expect_head()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The client does not read as fast as we write: it has some time."""
        super().pause_writing()
        self._close_after(READING_SECONDS)

    def resume_writing(self) -> None:
        """It has read most of it."""
        super().resume_writing()
        self._close_after(None)
        if self.cycle is None or self.cycle.response_complete:
            self._expect_head()

    def _expect_head(self) -> None:
        self._close_after(FIRST_SECONDS)

    def _close_after(self, seconds: float | None) -> None:
        """Close the connection after some seconds, if nothing happens until then; None: leave it open."""
        if self._closing is not None:
            self._closing.cancel()
        self._closing = None if seconds is None else self.loop.call_later(seconds, self._close)

    def _close(self) -> None:
        is_answered = self.cycle is None or self.cycle.response_complete
        if not is_answered and not self.flow.write_paused:
            return  # the answer is being made
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()


class Server(uvicorn.Server):
    """Answers requests on a socket until it is told to end.

    Args:
        app: what answers them.
        end_waiting: called in the end, so that whoever waits for an engine waits no longer.
    """

    def __init__(self, app: ASGIApp, end_waiting: Callable[[], None] = lambda: None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=_Connection,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="off",
                timeout_graceful_shutdown=5,
            )
        )
        self._end_waiting = end_waiting

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: what can be answered in a moment is, and what waits longer gets an error."""
        asyncio.get_running_loop().call_later(_LAST_SECONDS, self._end_waiting)
        await super().shutdown(sockets)
        self._end_waiting()
