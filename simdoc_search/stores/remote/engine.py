"""Sends requests to an engine, retries them, and reports failures as errors of one sentence.

Works with `opensearchpy.OpenSearch` and with the official Elasticsearch client. Both take a method, a path and JSON.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from copy import copy
from typing import Any, Literal, TypeVar
from urllib.parse import quote
from zlib import crc32

from simdoc_search.cancellation import Stop, StoppedError
from simdoc_search.errors import StoreError, StoreNotFoundError, StoreUnavailableError
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.errors import CLOSED, RequestError, from_answer, from_client, not_an_engine
from simdoc_search.stores.remote.responses import check_all_shards, check_answer
from simdoc_search.stores.remote.retry import Retries
from simdoc_search.stores.remote.transport import Transport
from simdoc_search.tracing import request_span

Result = TypeVar("Result")

_log = logging.getLogger(__name__)

RELEASE_SECONDS = 1.0
"""Timeout of a request that only frees resources of the engine."""

_REPEATABLE = frozenset({"_count", "_mget", "_msearch", "_pit", "_refresh", "_search", "_simulate", "point_in_time"})
"""POST requests that only read data, or whose effect expires."""

_SKIPPING = frozenset({"_count", "_msearch", "_pit", "_refresh", "_search", "_stats", "point_in_time"})
"""Requests to several indices that may skip closed ones."""

_SKIP_CLOSED = {"ignore_unavailable": True, "allow_no_indices": False}
_ALL_SHARDS = {"allow_partial_search_results": False}
_CLAUSE_LIMIT = "indices.query.bool.max_clause_count"
_UNSUPPORTED = (400, 403, 404, 405)
"""Statuses for a request that the engine does not support or does not allow."""


class Engine:
    """The requests to one engine.

    Repeatable requests are retried while the engine is busy or does not answer. An engine that has never answered is
    not retried, as its address may be wrong. A search or count raises an error if not all shards answer.

    Args:
        client: an `opensearchpy.OpenSearch`, an Elasticsearch client, or an asynchronous one as `LoopClient`. Its
            timeout and size limit apply. Each request is sent through it only once.
        name: the address without secrets, for messages.
        owned: whether the client is ours to close.
        has_answered: whether the engine is known to answer.

    Attributes:
        stopped: once it is set, each waiting request raises `StoppedError`.

    Raises:
        TypeError: the client is asynchronous, and not a `LoopClient`.
        StoreError: SIMDOC_RETRY_SECONDS is not a number.
    """

    def __init__(self, client: Any, name: str, *, owned: bool = False, has_answered: bool = False) -> None:
        self.name = name
        self._transport = Transport(client, owned=owned)
        self.stopped: Stop = self._transport.stop
        self._is_closed = threading.Event()
        self._has_answered = threading.Event()
        if has_answered:
            self._has_answered.set()
        self._seconds = retry.query_seconds()
        self._clause_limits: list[int] = []
        self._skipped: set[str] | None = None

    def cancellable_by(self, stop: Stop) -> Engine:
        """Return the same engine; its requests end as soon as `stop` is set."""
        other = copy(self)
        other.stopped = stop
        return other

    def without_closed_indices(self) -> Engine:
        """Return the same engine; it skips closed indices behind an alias instead of failing."""
        other = copy(self)
        other._skipped = set()
        return other

    @property
    def closed_indices(self) -> frozenset[str]:
        """The closed indices that requests have run into, and that are now skipped."""
        return frozenset(self._skipped or ())

    def in_background(self) -> Engine:
        """Return the same engine with longer retries, for work that no user waits for. It stops when this one stops."""
        other = self.cancellable_by(self.stopped.make_child())
        other._seconds = max(retry.BACKGROUND_SECONDS, self._seconds)
        return other

    def retries(self) -> Retries:
        """Return the pauses between the attempts of a request that the caller repeats."""
        return Retries(self.stopped, self._seconds)

    def call(
        self, method: str, path: Iterable[str], body: Any = None, *, allow: Iterable[int] = (), **params: Any
    ) -> Any:
        """Send a request, with retries if it is repeatable.

        Args:
            method: HTTP method.
            path: parts of the path, not quoted.
            body: a value for JSON, or bytes with one JSON value per line.
            allow: error statuses for which the answer is None.
            params: parameters of the URL.

        Returns:
            The answer from JSON, checked by `responses.check_answer`.

        Raises:
            StoreUnavailableError: the engine does not answer, or was busy until the deadline.
            RequestError: the engine answers with an error, or not all shards answer.
            StoreError: the store is closed, or the answer is not from an engine.
            StoppedError: `stopped` is set.
        """
        parts = list(path)
        if method in ("GET", "PUT") or (method == "POST" and parts[-1] in _REPEATABLE):
            return self._retry(lambda: self.call_once(method, parts, body, allow=allow, **params))
        return self.call_once(method, parts, body, allow=allow, **params)

    def call_once(
        self, method: str, path: Iterable[str], body: Any = None, *, allow: Iterable[int] = (), **params: Any
    ) -> Any:
        """Send a request without retries. Arguments and errors as for `call`."""
        parts = list(path)
        if parts[-1] == "_search" and method == "POST":
            params |= _ALL_SHARDS
        if self._skipped and len(parts) > 1 and not _SKIPPING.isdisjoint(parts[1:]):
            params |= _SKIP_CLOSED
        answer = self._send(method, parts, body, allow=allow, **params)
        if answer is not None:
            check_answer(self.name, method, parts[-1], answer, counts=_counts_hits(body))
        return answer

    def search(self, index: str, body: dict[str, Any], **params: Any) -> Any:
        """Search. Raises as `call`."""
        return self.call("POST", [index, "_search"], body, **shard_preference(body), **params)

    def search_many(self, index: str | None, bodies: Iterable[dict[str, Any]]) -> list[Any]:
        """Send several searches as one request and return their answers in order. Raises as `call`.

        Args:
            index: name of the index; None for searches in a point in time.
            bodies: the searches.
        """
        searches = list(bodies)
        lines = [line for body in searches for line in (_ALL_SHARDS | shard_preference(body), body)]
        sent = "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines).encode()

        def send() -> list[Any]:
            path = [*([index] if index else []), "_msearch"]
            answers: list[Any] = self.call_once("POST", path, sent)["responses"]
            for body, answer in zip(searches, answers, strict=True):
                if "error" in answer:
                    raise from_answer(self.name, answer.get("status", 500), answer)
                check_answer(self.name, "POST", "_search", answer, counts=_counts_hits(body))
            return answers

        return self._retry(send)

    def count(self, index: str, query: dict[str, Any] | None = None) -> int:
        """Return the number of documents that match a query; None: of all documents. Raises as `call`."""
        return int(self.call("POST", [index, "_count"], {"query": query} if query else {})["count"])

    def refresh(self, index: str, allow: Iterable[int] = ()) -> bool:
        """Make all writes visible to searches. Return False if the engine answers with an allowed status.

        Raises:
            RequestError: shards are missing.
            StoreError: as `call`.
        """
        self.count(index)  # fails if shards are missing; the refresh would wait a minute and then report success
        answer = self.call("POST", [index, "_refresh"], allow=allow)
        if answer is None:
            return False
        if answer["_shards"]["failed"]:  # a missing replica does not matter, as its shard has another copy
            check_all_shards(self.name, answer)
        return True

    def max_clauses(self, needed: int = MAX_CLAUSES + 1) -> int:
        """Return the clause limit of a query; MAX_CLAUSES if no more are needed, or if we may not read the setting."""
        if needed <= MAX_CLAUSES:
            return MAX_CLAUSES
        if not self._clause_limits:
            options = {"include_defaults": True, "flat_settings": True}
            settings = self.call("GET", ["_cluster", "settings"], **options, allow=(401, 403)) or {}
            values = (settings.get(scope, {}).get(_CLAUSE_LIMIT) for scope in ("transient", "persistent", "defaults"))
            self._clause_limits.append(int(next(filter(None, values), MAX_CLAUSES)))
        return self._clause_limits[0]

    def require_scripts(self, context: Literal["ingest", "update"], instead: str) -> None:
        """Check that the engine runs Painless scripts.

        Args:
            context: what the script is used for.
            instead: what to do without scripts, for the error message.

        Raises:
            StoreError: the engine lacks Painless, or does not allow such scripts.
            StoreUnavailableError: the engine does not answer.
        """
        answer: dict[str, Any] | None = self.call("GET", ["_script_language"], allow=_UNSUPPORTED)
        if answer is None:
            return
        languages = {item["language"]: item["contexts"] for item in answer.get("language_contexts", ())}
        contexts = languages.get("painless")
        if contexts is None:
            raise StoreError(f"{self.name} cannot run scripts, as it lacks the module lang-painless; {instead}")
        if context not in contexts or "inline" not in answer.get("types_allowed", ()):
            allowed = "see its settings script.allowed_types and script.allowed_contexts"
            raise StoreError(f"{self.name} does not allow scripts for {context} ({allowed}); {instead}")

    def release(self, path: Iterable[str], body: dict[str, Any] | None = None, *, method: str = "DELETE") -> None:
        """Free a resource of the engine, such as a scroll. Errors are ignored, as the resource expires anyway."""
        with suppress(StoreError, StoppedError, TimeoutError):
            self._send(method, list(path), body, allow=(404,), timeout=RELEASE_SECONDS)

    def close(self) -> None:
        """Refuse further requests, end waiting ones, and close the client if we own it."""
        if not self._is_closed.is_set():
            self._transport.close()
        self._is_closed.set()
        self.stopped.set()

    def _retry(self, action: Callable[[], Result]) -> Result:
        """Repeat an action until it succeeds: first at once on each other node, then after pauses."""
        retries, other_nodes = self.retries(), self._transport.node_count - 1
        while True:
            try:
                return self._skip_closed(action)
            except StoreError as error:
                is_unavailable = isinstance(error, StoreUnavailableError)
                if is_unavailable and other_nodes:
                    other_nodes -= 1
                elif is_unavailable and not self._has_answered.is_set():
                    raise
                else:
                    self._pause(retries, error)

    def _pause(self, retries: Retries, error: StoreError) -> None:
        try:
            retries.pause_after(error)
        except StoppedError:
            self._check_open()
            raise

    def _skip_closed(self, action: Callable[[], Result]) -> Result:
        """Run an action. If it fails because of a closed index, run it again without closed indices."""
        try:
            return action()
        except RequestError as error:
            if error.kind != CLOSED or self._skipped is None or self._skipped:
                raise
            self._skipped.add(error.index)
            try:
                return action()
            except StoreNotFoundError:  # all indices are closed
                self._skipped.clear()
                raise error from None

    def _check_open(self) -> None:
        if self._is_closed.is_set():
            raise StoreError(f"the store on {self.name} is closed; open it again")

    def _send(
        self,
        method: str,
        path: list[str],
        body: Any,
        *,
        allow: Iterable[int],
        timeout: float | None = None,
        **params: Any,
    ) -> Any:
        """Send a request; return the answer, or None for an allowed status."""
        self._check_open()
        if self.stopped.is_set() and timeout is None:
            raise StoppedError
        url = "/" + "/".join(quote(part, safe="*,-_.:") for part in path)
        kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        # The clients would send lone surrogates as bytes, which OpenSearch 3.8 refuses; json escapes them.
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body, separators=(",", ":"))
        request = {
            "params": {key: str(value).lower() if isinstance(value, bool) else value for key, value in params.items()},
            "headers": {"accept": "application/json", "content-type": kind},
            "body": sent,
        }
        stopped = self.stopped if timeout is None else None
        _log.debug("%s %s%s", method, self.name, url)
        try:
            with request_span(self._transport.client, method, path):
                answer = self._transport.send(method, url, stopped=stopped, timeout=timeout, **request)
        except Exception as error:  # the errors of the clients have no common base class
            if isinstance(error, StoppedError):
                self._check_open()
            status: Any = getattr(error, "status_code", None)
            if isinstance(status, int):
                self._has_answered.set()
                if status in allow:
                    return None
            translated = from_client(self.name, error, owned=self._transport.owned)
            if translated is error:
                raise
            raise translated from error
        self._has_answered.set()
        if not isinstance(answer, dict):
            raise not_an_engine(self.name)
        return answer


def shard_preference(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameter that makes an engine search the same shard copies for the same scored query.

    Copies may order equal scores differently. The parameter depends on the query, so all copies share the load.
    """
    if body.get("sort", [""])[0] != "_score":
        return {}
    return {"preference": f"simdoc-{crc32(json.dumps(body.get('query')).encode()):08x}"}


def _counts_hits(body: Any) -> bool:
    return isinstance(body, Mapping) and body.get("track_total_hits") is True
