"""Runs uvicorn on a socket until Ctrl-C."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from simdoc_search.errors import SimdocError
from simdoc_search.web.request_limits import MAX_CONNECTIONS

_GRACE_SECONDS = 2.0


class AddressError(SimdocError):
    """The server cannot listen on an address."""


def is_loopback(host: str) -> bool:
    """Return whether a host can only be reached from this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a host and port. With port 0, a free port is chosen."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.create_server(address[:2], family=family, backlog=MAX_CONNECTIONS)
        # asyncio sets this option only for sockets with an explicit protocol. Without it, a response takes 40 ms more.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except (OSError, UnicodeError, OverflowError) as error:
        number = getattr(error, "errno", None) or 0
        reason = os.strerror(number) if number > 0 else str(error)
        message = (
            f"cannot listen on {host}, port {port}: {reason.lower()}; choose another address with --host or --port"
        )
        raise AddressError(message) from None


class Server(uvicorn.Server):
    """Serves an application until it is stopped.

    Args:
        app: The application.
        stop_requests: A function that ends the requests that wait for an engine. It is called when the server exits.
    """

    def __init__(self, app: ASGIApp, stop_requests: Callable[[], None] = lambda: None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="off",
                limit_concurrency=MAX_CONNECTIONS,
                timeout_graceful_shutdown=5,
            )
        )
        self._stop_requests = stop_requests

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait two seconds for the current requests, then stop them."""
        asyncio.get_running_loop().call_later(_GRACE_SECONDS, self._stop_requests)
        await super().shutdown(sockets)
        self._stop_requests()
