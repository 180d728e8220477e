"""Who may ask, and what may a browser do with an answer? Each request passes here first.

A page of another site can make a browser send requests here, and by DNS rebinding could read the answers under its own
name. So a request must name this server as its host, must not come from another site unless a person followed a link,
and, where a token is set, must show it.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from itertools import chain
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from simdoc_search.web.limits import HEAD_BYTES
from simdoc_search.web.response import address, written

COOKIE = "simdoc"
SHORTEST_TOKEN = 16
OPEN = ("/login", "/static/")
"""What may be asked without the token."""

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """The door.

    Args:
        app: what answers.
        hosts: names by which this server may be called, beside those of this machine for itself.
        any_address: whether it may be called by any IP address: where it listens on several, and a token is asked for.
        token: what must be shown; None: nothing.
    """

    def __init__(
        self, app: ASGIApp, *, hosts: Collection[str] = (), any_address: bool = False, token: str | None = None
    ) -> None:
        self._app = app
        self._hosts = {"localhost", *(each.lower() for each in hosts)}
        self._any_address = any_address
        self._token = token
        self._cookie = hmac.new(secrets.token_bytes(32), (token or "").encode(), hashlib.sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refused = self._refusal(scope)
        scope.setdefault("state", {})["guard"] = self
        await (refused or self._app)(scope, receive, guarded)

    def cookie_for(self, token: str) -> str | None:
        """What a browser shows in place of the token, until this process ends; None: that is not the token."""
        return self._cookie if self._token is not None and _equal(token, self._token) else None

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        head = (scope["raw_path"], scope["query_string"], *chain.from_iterable(headers.raw))
        if sum(map(len, head)) > HEAD_BYTES:
            return _refused(431, f"the address and the headers are larger than {HEAD_BYTES:,} bytes; send fewer")
        if not self._is_here(headers.get("host", "")):
            return _refused(421, "this server does not go by that name; simdoc-search serve --name NAME adds one")
        if not _is_welcome(scope, headers):
            return _refused(403, "this request comes from another site; open the page itself")
        path: str = scope["path"]
        if self._token is None or path.startswith(OPEN) or self._is_known(headers):
            return None
        if scope["method"] == "GET" and "text/html" in headers.get("accept", "") and not path.endswith(".json"):
            query = scope.get("query_string", b"").decode("latin-1")
            return RedirectResponse(address("/login", then=f"{path}?{query}" if query else path), 303)
        refused = _refused(401, "this needs the token, as Authorization: Bearer TOKEN")
        refused.headers["WWW-Authenticate"] = "Bearer"
        return refused

    def _is_here(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._hosts:
            return True
        try:
            found = ipaddress.ip_address(name)
        except ValueError:
            return False
        return found.is_loopback or self._any_address

    def _is_known(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and _equal(given.strip(), self._token or ""):
            return True
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and _equal(cookie.value, self._cookie)


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))


def _is_welcome(scope: Scope, headers: Headers) -> bool:
    """Whether a request is no other site's: of those only links are followed, which a person sees."""
    reads = scope["method"] in ("GET", "HEAD")
    site = headers.get("sec-fetch-site")
    if site is not None:
        is_link = reads and headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        return site in ("same-origin", "none") or is_link
    origin = headers.get("origin")  # browsers send it with every POST; programs do not
    return reads or origin is None or urlsplit(origin).netloc == headers.get("host")


def _refused(status: int, sentence: str) -> Response:
    return Response(written({"error": sentence}), status, media_type="application/json")
