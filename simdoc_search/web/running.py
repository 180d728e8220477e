"""The server: a socket that is ours, and uvicorn on it until Ctrl-C."""

from __future__ import annotations

import ipaddress
import os
import socket

import uvicorn
from starlette.types import ASGIApp

from simdoc_search.errors import SimdocError

__all__ = ["AddressError", "Server", "bound", "is_loopback"]

_CONNECTIONS = 100


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


class Server(uvicorn.Server):
    """Answers requests on a socket until it is told to end."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="off",
                limit_concurrency=_CONNECTIONS,
                timeout_graceful_shutdown=3,
            )
        )
