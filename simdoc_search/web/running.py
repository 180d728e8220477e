"""The server: a socket that is ours, and uvicorn on it until Ctrl-C."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from simdoc_search.errors import SimdocError

__all__ = ["AddressError", "Server", "bound", "is_loopback"]

_CONNECTIONS = 100
_HEAD_SECONDS = 10.0
_LAST_SECONDS = 2.0


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
        listening = socket.create_server(address[:2], family=family, backlog=_CONNECTIONS)
    except (OSError, UnicodeError, OverflowError) as error:
        number = getattr(error, "errno", None) or 0
        reason = os.strerror(number) if number > 0 else str(error)
        raise AddressError(
            f"cannot listen at {host}, port {port}: {reason.lower()}; --port names another one"
        ) from None
    return listening


class _Connection(H11Protocol):
    """One that is closed if it asks for nothing: a hundred silent ones would keep all others out."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as there
        """Wait for the head of the first request, for a while."""
        super().connection_made(transport)
        self._expect_head()

    def on_response_complete(self) -> None:
        """The same for the next one."""
        self._expect_head()
        super().on_response_complete()

    def _expect_head(self) -> None:
        last = self.cycle

        def close() -> None:
            if self.cycle is last:
                self.transport.close()

        self.loop.call_later(_HEAD_SECONDS, close)


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
                limit_concurrency=_CONNECTIONS,
                timeout_graceful_shutdown=5,
            )
        )
        self._end_waiting = end_waiting

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: what can be answered in a moment is, and what waits longer gets an error."""
        asyncio.get_running_loop().call_later(_LAST_SECONDS, self._end_waiting)
        await super().shutdown(sockets)
        self._end_waiting()
