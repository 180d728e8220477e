"""Rejects requests that are not allowed, and adds security headers to responses.

Another site can make a browser send requests to this server. By DNS rebinding, it could also read the responses. The
host in a request must therefore be a name of this server. The request must not come from another site, unless a person
followed a link. If the server has an access token, the request must contain it.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from simdoc_search.web.response import json_text, url_for
from simdoc_search.web.server import is_loopback

COOKIE_NAME = "simdoc"
MIN_TOKEN_LENGTH = 16

_PUBLIC_PREFIXES = ("/login", "/static/")
"""Paths with one of these prefixes do not require the token."""
_MAX_QUOTED_CHARACTERS = 100
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_SECURITY_HEADERS = {
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """Rejects requests that are not allowed, and adds security headers to responses.

    Args:
        app: The application.
        hosts: Host names of this server, besides localhost and loopback addresses.
        allows_any_address: Whether any IP address is accepted as the host of a request. Set this only with a token.
        token: The access token. If None, no token is required.
    """

    def __init__(
        self, app: ASGIApp, *, hosts: Collection[str] = (), allows_any_address: bool = False, token: str | None = None
    ) -> None:
        self._app = app
        self._hosts = {"localhost", *(host.lower() for host in hosts)}
        self._allows_any_address = allows_any_address
        self._token = token
        self._cookie = hmac.new(secrets.token_bytes(32), (token or "").encode(), hashlib.sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application, or reject it."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_SECURITY_HEADERS)
                headers["Cache-Control"] = "no-cache" if scope["path"].startswith("/static/") else "no-store"
            await send(message)

        scope.setdefault("state", {})["guard"] = self
        await (self._find_rejection(scope) or self._app)(scope, receive, send_with_headers)

    def make_cookie(self, token: str) -> str | None:
        """Return the cookie for a browser that sent the correct token. The cookie is valid until this process ends.

        If the token is wrong, return None.
        """
        return self._cookie if self._token is not None and _is_equal_in_constant_time(token, self._token) else None

    def _find_rejection(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own_host(host):
            advice = "to accept this host name, restart the server with the option --allowed-host HOST"
            return _error_response(
                421, f"{host[:_MAX_QUOTED_CHARACTERS]!r} is not a host name of this server; {advice}"
            )
        if not _is_same_origin_or_link(scope, headers):
            return _error_response(403, "the request comes from another site; open the page from this server instead")
        path: str = scope["path"]
        if self._token is None or path.startswith(_PUBLIC_PREFIXES) or self._has_token(headers):
            return None
        if scope["method"] == "GET" and "text/html" in headers.get("accept", "") and not path.endswith(".json"):
            query = scope.get("query_string", b"").decode("latin-1")
            return RedirectResponse(url_for("/login", then=f"{path}?{query}" if query else path), 303)
        response = _error_response(
            401, "the access token is missing or wrong; send the header Authorization: Bearer TOKEN"
        )
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    def _is_own_host(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return (
                name in self._hosts
                or is_loopback(name)
                or (self._allows_any_address and bool(ipaddress.ip_address(name)))
            )
        except ValueError:
            return False

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _is_equal_in_constant_time(token.strip(), self._token or ""):
            return True
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE_NAME)
        except CookieError:
            return False
        return cookie is not None and _is_equal_in_constant_time(cookie.value, self._cookie)


def _is_equal_in_constant_time(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))


def _is_same_origin_or_link(scope: Scope, headers: Headers) -> bool:
    is_safe_method = scope["method"] in ("GET", "HEAD")
    site = headers.get("sec-fetch-site")
    if site is not None:
        is_navigation = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        return site in ("same-origin", "none") or (is_safe_method and is_navigation)
    origin = headers.get("origin")  # browsers send this header with every POST, but programs do not
    return is_safe_method or origin is None or urlsplit(origin).netloc == headers.get("host")


def _error_response(status: int, message: str) -> Response:
    return Response(json_text({"error": message}), status, media_type="application/json")
