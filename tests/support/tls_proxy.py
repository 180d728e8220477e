"""A proxy that adds TLS, passwords and permissions to an engine."""

from __future__ import annotations

import base64
import http.client
import re
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import trustme

__all__ = ["API_KEY", "PASSWORD", "USER", "Proxy", "authority", "proxied"]

USER, PASSWORD, API_KEY = "ann", "s3cret-Passw0rd", "c2VjcmV0LWtleTpvZi1hbm4="


@dataclass
class Proxy:
    """A running proxy.

    Attributes:
        url: the address of the proxy.
        requests: method and path of each request, also of refused ones.
        forbidden: patterns of "METHOD /path" of requests that are answered with 403.
    """

    url: str
    forbidden: Sequence[str] = ()
    requests: list[str] = field(default_factory=list)


def authority(folder: Path, name: str = "ca") -> tuple[trustme.CA, Path]:
    """Make a certificate authority, and the file that makes a client trust it."""
    made = trustme.CA()
    file = folder / f"{name}.pem"
    made.cert_pem.write_to_path(str(file))
    return made, file


@contextmanager
def proxied(
    engine: str,
    ca: trustme.CA,
    *,
    host: str = "127.0.0.1",
    forbidden: Sequence[str] = (),
    expires: datetime | None = None,
    clients_of: trustme.CA | None = None,
    redirect_to: str | None = None,
) -> Iterator[Proxy]:
    """Run a proxy during the block.

    Args:
        engine: address of the engine.
        ca: authority of its certificate.
        host: host of the certificate.
        forbidden: see `Proxy`.
        expires: end of the certificate.
        clients_of: authority of the certificates of clients. None: clients need no certificate.
        redirect_to: address to which all requests are redirected.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(host, not_after=expires).configure_cert(context)
    if clients_of is not None:
        clients_of.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    proxy = Proxy("", forbidden)

    class Handler(_Handler):
        """The handler of this proxy."""

        behind = urlsplit(engine)
        seen = proxy
        elsewhere = redirect_to

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign] # a handshake that fails is a client's business
    proxy.url = f"https://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    behind: ClassVar[Any]
    seen: ClassVar[Proxy]
    elsewhere: ClassVar[str | None]

    def handle_any(self) -> None:
        """Check the credentials and the permission, then forward the request."""
        request = f"{self.command} {self.path}"
        self.seen.requests.append(request)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.elsewhere:
            self.answer(307, b"", {"location": self.elsewhere + self.path})
        elif self.headers.get("authorization") not in {f"Basic {basic}", f"ApiKey {API_KEY}"}:
            self.answer(401, b'{"error": {"type": "security_exception", "reason": "Unauthorized"}}')
        elif any(re.search(pattern, request) for pattern in self.seen.forbidden):
            reason = b"no permissions for [indices:x] and User [name=ann]"
            self.answer(403, b'{"error": {"root_cause": [{"type": "security_exception", "reason": "%s"}]}}' % reason)
        else:
            self.pass_on(body)

    def pass_on(self, body: bytes) -> None:
        """Send the answer of the engine."""
        connection = http.client.HTTPConnection(self.behind.hostname, self.behind.port, timeout=60)
        kept = {key: value for key, value in self.headers.items() if key.lower() in {"content-type", "accept"}}
        connection.request(self.command, self.path, body or None, kept)
        response = connection.getresponse()
        headers = {
            key: value for key, value in response.getheaders() if key.lower() in {"content-type", "x-elastic-product"}
        }
        self.answer(response.status, response.read(), headers)
        connection.close()

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send an answer."""
        self.send_response(status)
        for key, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(key, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815 - the names of the base class

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""
