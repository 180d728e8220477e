"""A proxy that adds TLS, passwords and permissions to an engine."""

from __future__ import annotations

import base64
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import trustme

from tests.support.http_server import Answer, Handler, Request, Server, error, forward, serving

__all__ = ["API_KEY", "PASSWORD", "USER", "authority", "forbid", "proxied"]

USER, PASSWORD, API_KEY = "ann", "s3cret-Passw0rd", "c2VjcmV0LWtleTpvZi1hbm4="
CREDENTIALS = {f"Basic {base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}", f"ApiKey {API_KEY}"}


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
    expires: datetime | None = None,
    clients_of: trustme.CA | None = None,
    redirect_to: str | None = None,
) -> Iterator[Server]:
    """Run a proxy during the block.

    Args:
        engine: address of the engine.
        ca: authority of its certificate.
        host: host of the certificate.
        expires: end of the certificate.
        clients_of: authority of the certificates of clients. None: clients need no certificate.
        redirect_to: address to which all requests are redirected.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(host, not_after=expires).configure_cert(context)
    if clients_of is not None:
        clients_of.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    forwarding = forward(engine)

    def handle(request: Request) -> Answer | None:
        if redirect_to is not None:
            return Answer(307, b"", headers={"location": redirect_to + request.path})
        if request.headers.get("authorization") not in CREDENTIALS:
            return error(401, "security_exception", "Unauthorized")
        return forwarding(request)

    with serving(handle, tls=context) as server:
        yield server


def forbid(pattern: str, handle: Handler) -> Handler:
    """Answer the requests whose "METHOD /path" matches the pattern with 403."""

    def handle_allowed(request: Request) -> Answer | None:
        if re.search(pattern, f"{request.method} {request.path}"):
            return error(403, "security_exception", "no permissions for [indices:x] and User [name=ann]")
        return handle(request)

    return handle_allowed
