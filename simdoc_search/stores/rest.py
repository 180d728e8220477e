"""The way to an engine: requests through whatever client the application has, and errors of one sentence.

Works with `opensearchpy.OpenSearch` and with the official Elasticsearch client: both send a method, a path and JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from simdoc_search.errors import MissingExtraError, StoreError, StoreNotFoundError, StoreUnavailableError
from simdoc_search.query.dsl import MAX_CLAUSES

__all__ = ["Engine", "RequestError", "connect", "max_clauses", "split_url"]

TIMEOUT = 60.0
"""Seconds that one request may take."""

CONNECTIONS = 8


class RequestError(StoreError):
    """The engine answered a request with an error.

    Attributes:
        status: the HTTP status.
        kind: the engine's name of the error, like `index_not_found_exception`; empty if it said none.
    """

    def __init__(self, message: str, status: int, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.status, self.kind)


class Engine:
    """One engine.

    Args:
        client: an `opensearchpy.OpenSearch`, or an Elasticsearch client.
        name: what messages call it: its address, without secrets.
        owned: whether the client is ours to close.
    """

    def __init__(self, client: Any, name: str, *, owned: bool = False) -> None:
        self.name = name
        self._client = client
        self._owned = owned
        self._closed = False

    def call(
        self, method: str, path: Iterable[str], body: Any = None, *, allow: Iterable[int] = (), **params: Any
    ) -> Any:
        """Send a request.

        Args:
            method: the HTTP method.
            path: its parts, not quoted.
            body: to be sent as JSON; bytes as they are, one JSON value per line.
            allow: statuses that are no error; the answer is then None.
            params: of the URL.

        Returns:
            The answer, from JSON.

        Raises:
            StoreUnavailableError: the engine does not answer.
            RequestError: it answers with an error.
            StoreError: the store is closed.
        """
        if self._closed:
            raise StoreError(f"the store on {self.name} is closed; open it again")
        url = "/" + "/".join(quote(part, safe="*,-_.:") for part in path)
        headers = {"content-type": "application/x-ndjson" if isinstance(body, bytes) else "application/json"}
        plain = {key: str(value).lower() if isinstance(value, bool) else value for key, value in params.items()}
        try:
            return self._client.transport.perform_request(method, url, params=plain, body=body, headers=headers)
        except Exception as error:  # each client has its own tree
            status: Any = getattr(error, "status_code", None)
            if status in allow:
                return None
            raise self._translated(error, status) from error

    def search_many(self, index: str, bodies: Iterable[dict[str, Any]]) -> list[Any]:
        """The answers to several searches, in order, by one request. Raises as `call`."""
        lines = [json.dumps(line, separators=(",", ":")) for body in bodies for line in ({}, body)]
        answers = self.call("POST", [index, "_msearch"], "".join(f"{line}\n" for line in lines).encode())["responses"]
        for answer in answers:
            if "error" in answer:
                raise self._refusal(int(answer.get("status", 500)), answer)
        return list(answers)

    def close(self) -> None:
        """Take no more requests; close the connections, if they are ours."""
        if self._owned and not self._closed:
            self._client.close()
        self._closed = True

    def _translated(self, error: Exception, status: object) -> Exception:
        if not isinstance(status, int):
            if not type(error).__module__.startswith(("opensearchpy", "elastic")):
                return error  # no answer to a request: a fault of ours
            return StoreUnavailableError(f"{self.name} does not answer ({_why(error)}); start it, or check the address")
        return self._refusal(status, getattr(error, "info", None))

    def _refusal(self, status: int, info: object) -> StoreError:
        kind, reason = _reason(info)
        if status == 401:
            how = "set SIMDOC_USERNAME and SIMDOC_PASSWORD, or SIMDOC_API_KEY"
            return RequestError(f"{self.name} does not accept the credentials; {how}", status, kind)
        if status == 403:
            return RequestError(f"{self.name} forbids it ({reason}); ask for the permission", status, kind)
        if kind == "index_not_found_exception":
            return StoreNotFoundError(f"{self.name} has {reason}; index some documents into it first")
        return RequestError(f"{self.name} answers {status}: {reason}", status, kind)


def max_clauses(engine: Engine) -> int:
    """The engine's clause limit; the default of all engines if we may not ask for it."""
    key = "indices.query.bool.max_clause_count"
    asked = {"include_defaults": True, "flat_settings": True}
    settings = engine.call("GET", ["_cluster", "settings"], **asked, allow=(401, 403)) or {}
    found = (settings.get(scope, {}).get(key) for scope in ("transient", "persistent", "defaults"))
    return int(next(filter(None, found), MAX_CLAUSES))


def connect(url: str, *, index: bool = True) -> tuple[Engine, str]:
    """A client of our own for `http(s)://host:port[,host:port]/index`.

    Credentials come from the environment: SIMDOC_USERNAME and SIMDOC_PASSWORD, or SIMDOC_API_KEY.

    Args:
        url: the address.
        index: whether it ends in an index; else it is the engine's alone.

    Returns:
        The engine and the name of the index, or an empty one.

    Raises:
        StoreError: the URL has no index, or cannot be understood.
        MissingExtraError: opensearch-py is not installed.
    """
    try:
        from opensearchpy import OpenSearch  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError(f"the store {_without_secrets(url)}", "opensearch") from error
    hosts, name = split_url(url if index else f"{url.rstrip('/')}/_")
    client = OpenSearch(
        hosts,
        timeout=TIMEOUT,
        max_retries=3,
        retry_on_timeout=False,
        pool_maxsize=CONNECTIONS,
        **_credentials(url),
    )
    return Engine(client, _without_secrets(hosts[0]), owned=True), name if index else ""


def split_url(url: str) -> tuple[list[str], str]:
    """The addresses of the nodes, and the index.

    Raises:
        StoreError: the URL names no host or no index.
    """
    try:
        parts = urlsplit(url)
        prefix, _, index = parts.path.strip("/").rpartition("/")
        places = parts.netloc.rpartition("@")[2].split(",")
        hosts = [f"{parts.scheme}://{place}{'/' + prefix if prefix else ''}" for place in places]
        if not all(urlsplit(host).hostname for host in hosts) or any(urlsplit(host).port == 0 for host in hosts):
            raise ValueError("no host")
    except ValueError as error:
        raise StoreError(
            f"{_without_secrets(url)} is no address of an engine ({error}); write http://host:port/index"
        ) from None
    if not index or parts.query or parts.fragment:
        raise StoreError(f"{_without_secrets(url)} names no index; write http://host:port/index")
    return hosts, index


def _credentials(url: str) -> dict[str, Any]:
    given = urlsplit(url)
    name, password = given.username or os.environ.get("SIMDOC_USERNAME"), os.environ.get("SIMDOC_PASSWORD")
    if given.password is not None:
        password = given.password
    if key := os.environ.get("SIMDOC_API_KEY"):
        return {"headers": {"authorization": f"ApiKey {key}"}}
    return {"http_auth": (name, password or "")} if name else {}


def _without_secrets(url: str) -> str:
    scheme, slashes, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    return scheme + slashes + place.rpartition("@")[2] + slash + path


def _reason(info: object) -> tuple[str, str]:
    """The engine's name of an error, and what it says."""
    error = info.get("error", info) if isinstance(info, Mapping) else info
    if isinstance(error, Mapping):
        causes = error.get("root_cause")
        cause = causes[0] if isinstance(causes, list) and causes and isinstance(causes[0], Mapping) else error
        return str(cause.get("type", "")), " ".join(str(cause.get("reason", cause)).split())[:300]
    return "", " ".join(str(error).split())[:300]


def _why(error: Exception) -> str:
    text = f"{getattr(error, 'info', '')} {error}".lower()
    if "timeout" in type(error).__name__.lower() or "timed out" in text:
        return "it took too long"
    if "certificate" in text or "ssl" in text:
        return "its certificate is not trusted"
    if "refused" in text:
        return "connection refused"
    if "name" in text and ("resolution" in text or "resolve" in text or "known" in text):
        return "no such host"
    return "connection lost"
