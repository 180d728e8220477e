"""Sends requests to an engine, retries them, and converts failures to errors with one-sentence messages.

The client is an `opensearchpy.OpenSearch` or an Elasticsearch client. Both can send any method, path and JSON body.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from copy import copy
from typing import Any, Literal, TypeVar
from urllib.parse import quote
from zlib import crc32

from simdoc_search.batches import split_by_count
from simdoc_search.cancellation import StopEvent, StoppedError
from simdoc_search.errors import StoreError, StoreNotFoundError, StoreUnavailableError
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.clients import first_node_url
from simdoc_search.stores.remote.errors import (
    INDEX_CLOSED,
    RequestError,
    error_from_client,
    error_from_response,
    not_an_engine_error,
)
from simdoc_search.stores.remote.responses import check_all_shards, check_response
from simdoc_search.stores.remote.retry import Retries
from simdoc_search.stores.remote.transport import Transport
from simdoc_search.tracing import request_span

Result = TypeVar("Result")


UrlParams = dict[str, Any]
"""The query parameters of a request."""

_log = logging.getLogger(__name__)

RELEASE_TIMEOUT_SECONDS = 1.0
"""Timeout in seconds of a request that only releases resources of the engine."""

_REPEATABLE_OPERATIONS = frozenset(
    {"_count", "_mget", "_msearch", "_pit", "_refresh", "_search", "_simulate", "point_in_time"}
)
"""Last parts of the paths of POST requests that can be repeated: they only read data, or their effects expire."""

_OPERATIONS_THAT_CAN_SKIP_CLOSED = frozenset(
    {"_count", "_msearch", "_pit", "_refresh", "_search", "_stats", "point_in_time"}
)
"""Path parts of the multi-index requests that can skip closed indices."""

_SKIP_CLOSED_PARAMS: UrlParams = {"ignore_unavailable": True, "allow_no_indices": False}
_ALL_SHARDS_PARAMS: UrlParams = {"allow_partial_search_results": False}
_CLAUSE_LIMIT_SETTING = "indices.query.bool.max_clause_count"

UNSUPPORTED_OR_FORBIDDEN_STATUSES = (400, 401, 403, 404, 405, 410)
"""HTTP statuses of a request that the engine does not support, or that this user may not send."""


class Engine:
    """Sends requests to one engine.

    Repeatable requests are retried while the engine is busy or does not respond. If the engine has never responded,
    they are not retried, because the URL may be wrong. A search or count raises an error if not all shards respond.

    Args:
        client: an `opensearchpy.OpenSearch`, an Elasticsearch client, or a `LoopClient` with an asynchronous client.
            Its timeout and size limit apply. It sends each request only once; this class repeats failed requests.
        name: the URL without secrets, for messages. None: the URL of the first node that the client knows.
        owns_client: whether `close` also closes the client.
        has_responded: whether the engine has already responded to a request.

    Attributes:
        stop_event: the event that ends waiting. Once it is set, each waiting request raises `StoppedError`.

    Raises:
        TypeError: the client is asynchronous, and is not in a `LoopClient`.
        StoreError: SIMDOC_RETRY_SECONDS is not a valid number.
    """

    def __init__(
        self, client: Any, name: str | None = None, *, owns_client: bool = False, has_responded: bool = False
    ) -> None:
        self._transport = Transport(client, owns_client=owns_client)
        self.name: str = name or first_node_url(self._transport.client)
        self.stop_event: StopEvent = self._transport.stop_event
        self._is_closed = threading.Event()
        self._has_responded = threading.Event()
        if has_responded:
            self._has_responded.set()
        self._retry_seconds = retry.read_query_seconds()
        self._clause_limit_cache: list[int] = []  # empty until the limit is read; shared by copies of this engine
        self._closed_indices_to_skip: set[str] | None = None  # None: closed indices cause errors

    def cancellable_by(self, stop: StopEvent) -> Engine:
        """Return a copy of this engine whose requests end as soon as `stop` is set."""
        other = copy(self)
        other.stop_event = stop
        return other

    def without_closed_indices(self) -> Engine:
        """Return a copy of this engine that skips closed indices behind an alias instead of failing."""
        other = copy(self)
        other._closed_indices_to_skip = set()
        return other

    @property
    def closed_indices(self) -> frozenset[str]:
        """The closed indices that have caused errors. Further requests skip them."""
        return frozenset(self._closed_indices_to_skip or ())

    def in_background(self) -> Engine:
        """Return a copy of this engine with longer retries, for background work. It stops when this engine stops."""
        other = self.cancellable_by(self.stop_event.make_child())
        other._retry_seconds = max(retry.BACKGROUND_RETRY_SECONDS, self._retry_seconds)
        return other

    def create_retries(self) -> Retries:
        """Return the pauses between the attempts of a request that the caller repeats."""
        return Retries(self.stop_event, self._retry_seconds)

    def call(
        self,
        method: str,
        path_parts: Iterable[str],
        body: Any = None,
        *,
        allowed_statuses: Iterable[int] = (),
        **params: Any,
    ) -> Any:
        """Send a request, with retries if it is repeatable.

        `body` is a value that JSON can encode, or bytes with one JSON value per line. For an error status in
        `allowed_statuses`, None is returned instead of raising an error.

        Returns:
            The response, parsed from JSON and checked by `responses.check_response`.

        Raises:
            StoreUnavailableError: the engine does not respond, or was busy until the deadline.
            RequestError: the engine returns an error, or not all shards respond.
            StoreError: the store is closed, or the response does not come from an engine.
            StoppedError: `stop_event` is set.
        """
        parts = list(path_parts)
        if method in ("GET", "PUT") or (method == "POST" and parts[-1] in _REPEATABLE_OPERATIONS):
            return self._retry(lambda: self.call_once(method, parts, body, allowed_statuses=allowed_statuses, **params))
        return self.call_once(method, parts, body, allowed_statuses=allowed_statuses, **params)

    def get_if_allowed(self, *path_parts: str, **params: Any) -> dict[str, Any]:
        """Send a GET request. Return an empty dict if the engine does not support it, or this user may not send it."""
        statuses = UNSUPPORTED_OR_FORBIDDEN_STATUSES
        return self.call("GET", path_parts, allowed_statuses=statuses, **params) or {}

    def call_once(
        self,
        method: str,
        path_parts: Iterable[str],
        body: Any = None,
        *,
        allowed_statuses: Iterable[int] = (),
        **params: Any,
    ) -> Any:
        """Send a request without retries. The arguments and errors are the same as for `call`."""
        parts = list(path_parts)
        if parts[-1] == "_search" and method == "POST":
            params |= _ALL_SHARDS_PARAMS
        if (
            self._closed_indices_to_skip
            and len(parts) > 1
            and not _OPERATIONS_THAT_CAN_SKIP_CLOSED.isdisjoint(parts[1:])
        ):
            params |= _SKIP_CLOSED_PARAMS
        response = self._send(method, parts, body, allowed_statuses=allowed_statuses, **params)
        if response is not None:
            check_response(self.name, method, parts[-1], response, counts_hits=_counts_hits(body))
        return response

    def search(self, index: str, body: dict[str, Any], **params: Any) -> Any:
        """Run a search, and return its response. Raises the errors of `call`."""
        return self.call("POST", [index, "_search"], body, **(shard_preference(body) | params))

    def search_many(self, index: str, bodies: Iterable[dict[str, Any]], at_once: int = sys.maxsize) -> list[Any]:
        """Send searches, up to `at_once` per request. Return their responses in order. Raises the errors of `call`."""
        return [response for batch in split_by_count(bodies, at_once) for response in self._send_searches(index, batch)]

    def _send_searches(self, index: str, searches: list[dict[str, Any]]) -> list[Any]:
        """Send searches in one request."""
        if len(searches) == 1:
            return [self.search(index, searches[0])]
        lines = [line for body in searches for line in (_ALL_SHARDS_PARAMS | shard_preference(body), body)]
        payload = "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines).encode()

        def send() -> list[Any]:
            responses: list[Any] = self.call_once("POST", [index, "_msearch"], payload)["responses"]
            for body, response in zip(searches, responses, strict=True):
                if "error" in response:
                    raise error_from_response(self.name, response.get("status", 500), response)
                check_response(self.name, "POST", "_search", response, counts_hits=_counts_hits(body))
            return responses

        return self._retry(send)

    def count(self, index: str, query: dict[str, Any] | None = None, **params: Any) -> int:
        """Return the number of documents that match a query, or of all documents. Raises the errors of `call`."""
        return int(self.call("POST", [index, "_count"], {"query": query} if query else {}, **params)["count"])

    def refresh(self, index: str, allowed_statuses: Iterable[int] = ()) -> bool:
        """Make all writes visible to searches. Return False if the engine returns an allowed error status.

        Raises:
            RequestError: shards are not available.
            StoreError: see `call`.
        """
        # If shards are missing, a count fails at once, but a refresh would wait a minute and then succeed.
        self.count(index)
        response = self.call("POST", [index, "_refresh"], allowed_statuses=allowed_statuses)
        if response is None:
            return False
        if response["_shards"]["failed"]:  # a shard has failed. A missing replica is not a failure
            check_all_shards(self.name, response)
        return True

    def max_clauses(self, needed: int = MAX_CLAUSES + 1) -> int:
        """Return the engine's clause limit, or MAX_CLAUSES if `needed` is not higher or the limit is unreadable."""
        if needed <= MAX_CLAUSES:
            return MAX_CLAUSES
        if not self._clause_limit_cache:
            settings = self.get_if_allowed("_cluster", "settings", include_defaults=True, flat_settings=True)
            values = (
                settings.get(scope, {}).get(_CLAUSE_LIMIT_SETTING) for scope in ("transient", "persistent", "defaults")
            )
            self._clause_limit_cache.append(int(next(filter(None, values), MAX_CLAUSES)))
        return self._clause_limit_cache[0]

    def require_scripts(self, context: Literal["ingest", "update"], advice: str) -> None:
        """Check that the engine runs Painless scripts.

        `advice` is the second half of the error message. It tells the user what to do without scripts.

        Raises:
            StoreError: the engine has no Painless module, or does not allow scripts in this context.
            StoreUnavailableError: the engine does not respond.
        """
        if problem := self.find_script_problem(context):
            raise StoreError(f"{problem}; {advice}")

    def find_script_problem(self, context: Literal["ingest", "update"]) -> str:
        """Return why the engine does not run Painless scripts; empty if it does, or if this user may not read it.

        Raises:
            StoreUnavailableError: the engine does not respond.
        """
        response = self.get_if_allowed("_script_language")
        if not response:
            return ""
        languages = {item["language"]: item["contexts"] for item in response.get("language_contexts", ())}
        contexts = languages.get("painless")
        if contexts is None:
            return f"{self.name} cannot run scripts, because the module lang-painless is not installed"
        if context not in contexts or "inline" not in response.get("types_allowed", ()):
            settings = "script.allowed_types and script.allowed_contexts"
            return f"{self.name} does not allow {context} scripts (see its settings {settings})"
        return ""

    def release(self, path_parts: Iterable[str], body: dict[str, Any] | None = None, *, method: str = "DELETE") -> None:
        """Release a resource of the engine, such as a scroll. Errors are ignored: the resource will expire."""
        with suppress(StoreError, StoppedError, TimeoutError):
            self._send(method, list(path_parts), body, allowed_statuses=(404,), timeout=RELEASE_TIMEOUT_SECONDS)

    def close(self) -> None:
        """Reject further requests, end pauses and background requests, and close the client if `owns_client` is set."""
        if not self._is_closed.is_set():
            self._transport.close()
        self._is_closed.set()
        self.stop_event.set()

    def _retry(self, action: Callable[[], Result]) -> Result:
        """Repeat an action until it succeeds. After a node fails, try the others at once, then retry with pauses."""
        retries, other_nodes = self.create_retries(), self._transport.node_count - 1
        while True:
            try:
                return self._skip_closed_indices(action)
            except StoreError as error:
                is_unavailable = isinstance(error, StoreUnavailableError)
                if is_unavailable and other_nodes:
                    other_nodes -= 1
                elif is_unavailable and not self._has_responded.is_set():
                    raise
                else:
                    self._pause(retries, error)

    def _pause(self, retries: Retries, error: StoreError) -> None:
        try:
            retries.pause_or_raise(error)
        except StoppedError:
            self._check_open()
            raise

    def _skip_closed_indices(self, action: Callable[[], Result]) -> Result:
        """Run an action. If it fails because of a closed index, run it again and skip closed indices."""
        try:
            return action()
        except RequestError as error:
            if error.error_type != INDEX_CLOSED or self._closed_indices_to_skip is None or self._closed_indices_to_skip:
                raise
            self._closed_indices_to_skip.add(error.index)
            try:
                return action()
            except StoreNotFoundError:  # this error means that all indices are closed
                self._closed_indices_to_skip.clear()
                raise error from None

    def _check_open(self) -> None:
        if self._is_closed.is_set():
            raise StoreError(f"the index on {self.name} is closed; open it again")

    def _send(
        self,
        method: str,
        path_parts: list[str],
        body: Any,
        *,
        allowed_statuses: Iterable[int],
        timeout: float | None = None,
        **params: Any,
    ) -> Any:
        """Send a request. Return the response, or None for an allowed error status."""
        self._check_open()
        if self.stop_event.is_set() and timeout is None:
            raise StoppedError
        url = "/" + "/".join(quote(part, safe="*,-_.:") for part in path_parts)
        content_type = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        # The clients would send lone surrogates as bytes, which OpenSearch 3.8 rejects. `json.dumps` escapes them.
        payload = body if body is None or isinstance(body, bytes) else json.dumps(body, separators=(",", ":"))
        request = {
            "params": {key: str(value).lower() if isinstance(value, bool) else value for key, value in params.items()},
            "headers": {"accept": "application/json", "content-type": content_type},
            "body": payload,
        }
        stop_event = self.stop_event if timeout is None else None
        _log.debug("%s %s%s", method, self.name, url)
        try:
            with request_span(self._transport.client, method, path_parts):
                response = self._transport.send(method, url, stop_event=stop_event, timeout=timeout, **request)
        except Exception as error:  # the errors of the client libraries have no common base class
            if isinstance(error, StoppedError):
                self._check_open()
            status: Any = getattr(error, "status_code", None)
            if isinstance(status, int):
                self._has_responded.set()
                if status in allowed_statuses:
                    return None
            converted = error_from_client(self.name, error, owns_client=self._transport.owns_client)
            if converted is error:
                raise
            raise converted from error
        self._has_responded.set()
        if not isinstance(response, dict):
            raise not_an_engine_error(self.name)
        return response


def shard_preference(body: Mapping[str, Any]) -> UrlParams:
    """Return the URL parameter that makes an engine use the same shard copies for the same scored query.

    Shard copies may order equal scores differently. The parameter is a hash of the query, which balances the load.
    """
    if body.get("sort", [""])[0] != "_score":
        return {}
    return {"preference": f"simdoc-{crc32(json.dumps(body.get('query')).encode()):08x}"}


def _counts_hits(body: Any) -> bool:
    return isinstance(body, Mapping) and body.get("track_total_hits") is True
