"""The way to an engine: requests through whatever client the application has, and errors of one sentence.

Works with `opensearchpy.OpenSearch` and with the official Elasticsearch client: both send a method, a path and JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from simdoc_search.errors import StoreError, StoreNotFoundError, StoreUnavailableError
from simdoc_search.query.dsl import MAX_CLAUSES

__all__ = ["Engine", "RequestError", "max_clauses", "unavailable"]


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
            StoreError: the store is closed, or what answers is no engine.
        """
        if self._closed:
            raise StoreError(f"the store on {self.name} is closed; open it again")
        url = "/" + "/".join(quote(part, safe="*,-_.:") for part in path)
        kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        headers = {"accept": "application/json", "content-type": kind}
        plain = {key: str(value).lower() if isinstance(value, bool) else value for key, value in params.items()}
        try:
            answer = self._sent(method, url, plain, headers, body)
        except Exception as error:  # each client has its own tree
            status: Any = getattr(error, "status_code", None)
            if status in allow:
                return None
            raise self._translated(error, status) from error
        if not isinstance(answer, dict):
            raise StoreError(f"what answers at {self.name} is no OpenSearch or Elasticsearch; check the address")
        return answer

    def search(self, index: str, body: dict[str, Any], **params: Any) -> Any:
        """Search, and get the hits of all shards or an error. Raises as `call`."""
        return self._whole(self.call("POST", [index, "_search"], body, **params))

    def search_on(self, scroll_id: str, keep: str) -> Any:
        """The next page of a search that was begun with `scroll`. Raises as `call`."""
        return self._whole(self.call("POST", ["_search", "scroll"], {"scroll": keep, "scroll_id": scroll_id}))

    def search_many(self, index: str, bodies: Iterable[dict[str, Any]]) -> list[Any]:
        """The answers to several searches, in order, by one request. Raises as `call`."""
        lines = [json.dumps(line, separators=(",", ":")) for body in bodies for line in ({}, body)]
        answers = self.call("POST", [index, "_msearch"], "".join(f"{line}\n" for line in lines).encode())["responses"]
        for answer in answers:
            if "error" in answer:
                raise self._refusal(int(answer.get("status", 500)), answer)
        return list(map(self._whole, answers))

    def close(self) -> None:
        """Take no more requests; close the connections, if they are ours."""
        if self._owned and not self._closed:
            self._client.close()
        self._closed = True

    def _sent(self, method: str, url: str, params: dict[str, Any], headers: dict[str, str], body: Any) -> Any:
        if hasattr(self._client, "perform_request"):  # Elasticsearch's, since 8
            return self._client.perform_request(method, url, params=params, headers=headers, body=body).body
        return self._client.transport.perform_request(method, url, params=params, headers=headers, body=body)

    def _whole(self, answer: Any) -> Any:
        """An answer without the hits of some shards is none."""
        shards = answer.get("_shards", {})
        if shards.get("failed") or answer.get("timed_out"):
            failures = shards.get("failures") or [{}]
            _, reason = _reason({"error": failures[0].get("reason", "it took too long")})
            status = int(failures[0].get("status", 503))
            raise RequestError(f"{self.name} could search only a part ({reason}); ask again", status)
        return answer

    def _translated(self, error: Exception, status: object) -> Exception:
        if isinstance(status, int):
            return self._refusal(status, getattr(error, "info", None) or getattr(error, "body", None))
        kind = type(error)
        if not kind.__module__.startswith(("opensearchpy", "elastic")):
            return error  # no answer to a request: a fault of ours
        if "Serialization" in kind.__name__ or "UnsupportedProduct" in kind.__name__:
            return StoreError(f"what answers at {self.name} is no OpenSearch or Elasticsearch; check the address")
        return unavailable(self.name, error)

    def _refusal(self, status: int, info: object) -> StoreError:
        kind, reason = _reason(info)
        if status == 401:
            how = "set SIMDOC_USERNAME and SIMDOC_PASSWORD, or SIMDOC_API_KEY"
            return RequestError(f"{self.name} does not accept the credentials; {how}", status, kind)
        if status == 403:
            return RequestError(f"{self.name} forbids it ({reason}); ask for the permission", status, kind)
        if 300 <= status < 400:
            return RequestError(f"{self.name} sends us elsewhere, where we do not go; name that address", status, kind)
        if kind == "index_not_found_exception":
            return StoreNotFoundError(f"{self.name} has {reason}; index some documents into it first")
        return RequestError(f"{self.name} answers {status}: {reason}", status, kind)


def unavailable(name: str, error: object) -> StoreUnavailableError:
    """An engine that cannot be reached, why, and what to do."""
    text = f"{type(error).__name__} {getattr(error, 'info', '')} {getattr(error, 'errors', '')} {error}".lower()
    found = (rest for signs, *rest in _CAUSES if re.search(signs, text))
    why, cure = next(found, ("connection lost", "start it, or check the address"))
    return StoreUnavailableError(f"{name} does not answer ({why}); {cure}")


def max_clauses(engine: Engine) -> int:
    """The engine's clause limit; the default of all engines if we may not ask for it."""
    key = "indices.query.bool.max_clause_count"
    asked = {"include_defaults": True, "flat_settings": True}
    settings = engine.call("GET", ["_cluster", "settings"], **asked, allow=(401, 403)) or {}
    found = (settings.get(scope, {}).get(key) for scope in ("transient", "persistent", "defaults"))
    return int(next(filter(None, found), MAX_CLAUSES))


def _reason(info: object) -> tuple[str, str]:
    """The engine's name of an error, and what it says."""
    error = info.get("error", info) if isinstance(info, Mapping) else info
    if isinstance(error, Mapping):
        causes = error.get("root_cause")
        cause = causes[0] if isinstance(causes, list) and causes and isinstance(causes[0], Mapping) else error
        return str(cause.get("type", "")), _line(cause.get("reason", cause))
    text = _line(error)
    return "", "no reason given" if not text or text.startswith("<") else text


def _line(text: object) -> str:
    return " ".join(str(text or "").split())[:300]


_CAUSES = (
    ("expired", "its certificate has expired", "renew it"),
    (
        "hostname mismatch|doesn't match|ip address mismatch|not valid for",
        "its certificate is another host's",
        "check the address",
    ),
    ("certificate_required|certificate required", "it wants a certificate of ours", "set SIMDOC_CLIENT_CERT"),
    ("certificate|self.signed", "its certificate is not trusted", "name its authority with SIMDOC_CA_FILE"),
    ("wrong_version_number|wrong version number|record layer", "it does not speak TLS", "write http instead of https"),
    ("ssl|tls", "no secure connection", "check the address and its certificate"),
    ("timed out|timeout", "it took too long", "try again later"),
    ("refused", "connection refused", "start it, or check the address"),
    ("resolution|resolve|name or service|nodename|getaddrinfo", "no such host", "check the address"),
)
"""What the messages of clients and sockets mean, by a sign in them, and what to do."""
