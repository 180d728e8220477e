"""The way to an engine: requests through whatever client the application has, and errors of one sentence.

Works with `opensearchpy.OpenSearch` and with the official Elasticsearch client: both send a method, a path and JSON.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from copy import copy
from functools import partial
from typing import Any, Literal, TypeVar
from urllib.parse import quote
from zlib import crc32

from simdoc_search.cancellation import Stop, StoppedError
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.stores.remote import responses, retry
from simdoc_search.stores.remote.bounded_requests import stopped_by
from simdoc_search.stores.remote.clients import count_nodes, unrepeating
from simdoc_search.stores.remote.closed_indices import OpenOnly
from simdoc_search.stores.remote.errors import is_no_engine, refusal, translated
from simdoc_search.stores.remote.event_loop_client import InLoop, is_asynchronous
from simdoc_search.stores.remote.retry import Retries
from simdoc_search.stores.remote.threaded_client import given_up_after, in_thread, longest_seconds
from simdoc_search.tracing import request_span

Result = TypeVar("Result")

_log = logging.getLogger(__name__)

LETTING_GO = 1.0
"""Seconds that an engine has to take note that we need something no longer."""

_REPEATABLE = frozenset({"_count", "_mget", "_msearch", "_pit", "_refresh", "_search", "_simulate", "point_in_time"})
"""What may be posted twice: it only reads, or what it leaves behind goes by itself."""

_CLAUSE_LIMIT = "indices.query.bool.max_clause_count"
_PAINLESS = "painless"
_UNSUPPORTED = (400, 403, 404, 405)
"""Statuses of a request that the engine is too old for, or does not allow."""

_WHOLE = {"allow_partial_search_results": False}


class Engine:
    """One engine. A request that may be repeated is, for as long as the engine is busy or away.

    An engine that has not answered yet is not waited for, as its address may be wrong. Searches and counts are
    answered by all shards of an index, or end in an error.

    Args:
        client: an `opensearchpy.OpenSearch`, or an Elasticsearch client, or an asynchronous one as `InLoop`. Through
            one that an application hands in, each request is sent once, too, and given up after `longest_seconds`
            unless that client does so before. That client limits its answers, and shows the engine's warnings.
        name: what messages call it: its address, without secrets.
        owned: whether the client is ours to close.
        retry_seconds: seconds for which a request is retried; None: as the environment says.
        answered: whether it is known to answer.

    Attributes:
        stopped: set it, and no request waits any longer; each that would raises `StoppedError`.

    Raises:
        TypeError: the client is asynchronous, and its loop is not given.
    """

    def __init__(
        self, client: Any, name: str, *, owned: bool = False, retry_seconds: float | None = None, answered: bool = False
    ) -> None:
        self._loop = client if isinstance(client, InLoop) else None
        client = client.client if isinstance(client, InLoop) else _synchronous(client)
        self.name = name
        self.stopped: Stop = self._loop.stop.child() if self._loop else Stop()
        self._client = client if owned else unrepeating(client)
        self._owned = owned
        self._closed = threading.Event()
        self._answered = threading.Event()
        self._max_clauses: int | None = None
        self._open_only: OpenOnly | None = None
        self._seconds = retry.query_seconds() if retry_seconds is None else retry_seconds
        self._longest = longest_seconds()
        self._nodes = count_nodes(client)
        if answered:
            self._answered.set()

    def until(self, stop: Stop) -> Engine:
        """The same engine for one who may stop waiting for it: it is stopped by an event."""
        other = copy(self)
        other.stopped = stop
        return other

    def without_closed_indices(self) -> Engine:
        """The same engine for one who says which indices are closed: behind an alias it answers from the others."""
        other = copy(self)
        other._open_only = OpenOnly()
        return other

    @property
    def closed_indices(self) -> frozenset[str]:
        """The closed indices that such an engine has met."""
        return self._open_only.met if self._open_only else frozenset()

    def in_background(self) -> Engine:
        """The same engine for work that goes on by itself: it waits longer, and is stopped with this one, or apart."""
        other = self.until(self.stopped.child())
        other._seconds = max(retry.BACKGROUND_SECONDS, self._seconds)
        return other

    def retries(self) -> Retries:
        """Return the pauses of a request that is not repeated unchanged."""
        return Retries(self.stopped, self._seconds)

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
            The answer, from JSON, with what `responses.py` promises.

        Raises:
            StoreUnavailableError: the engine does not answer, or was busy or away for too long.
            RequestError: it answers with an error, or for a part of the shards.
            StoreError: the store is closed, or what answers is no engine.
            StoppedError: `stopped` was set meanwhile.
        """
        parts = list(path)
        if method in ("GET", "PUT") or (method == "POST" and parts[-1] in _REPEATABLE):
            return self._patiently(lambda: self.call_once(method, parts, body, allow=allow, **params))
        return self.call_once(method, parts, body, allow=allow, **params)

    def call_once(
        self, method: str, path: Iterable[str], body: Any = None, *, allow: Iterable[int] = (), **params: Any
    ) -> Any:
        """Send a request, and wait for nothing. Arguments and errors as for `call`."""
        parts = list(path)
        if parts[-1] == "_search" and method == "POST":
            params = {**params, **_WHOLE}
        if self._open_only:
            params = {**params, **self._open_only.params(parts)}
        answer = self._sent(method, parts, body, allow=allow, **params)
        if answer is not None:
            responses.check(self.name, method, parts, body, answer)
        return answer

    def search(self, index: str, body: dict[str, Any], **params: Any) -> Any:
        """Search. Raises as `call`."""
        return self.call("POST", [index, "_search"], body, **same_copies(body), **params)

    def search_many(self, index: str | None, bodies: Iterable[dict[str, Any]]) -> list[Any]:
        """The answers to several searches, in order, by one request; None: of a point in time. Raises as `call`."""
        asked = list(bodies)
        both = ((_WHOLE | same_copies(body), body) for body in asked)
        lines = [json.dumps(line, separators=(",", ":")) for pair in both for line in pair]
        sent = "".join(f"{line}\n" for line in lines).encode()

        def once() -> list[Any]:
            found: list[Any] = self.call_once("POST", [*([index] if index else []), "_msearch"], sent)["responses"]
            if len(found) != len(asked):
                raise is_no_engine(self.name, "it leaves answers out")
            for each in found:
                if "error" in each:
                    status = each.get("status")
                    raise refusal(self.name, status if isinstance(status, int) else 500, each)
            for each, body in zip(found, asked, strict=True):
                responses.check(self.name, "POST", ["_search"], body, each)
            return found

        return self._patiently(once)

    def count(self, index: str, query: dict[str, Any] | None = None) -> int:
        """How many documents there are that a query finds; None: all. Raises as `call`."""
        answer = self.call("POST", [index, "_count"], {"query": query} if query else {})
        return int(answer["count"])

    def refresh(self, index: str, allow: Iterable[int] = ()) -> bool:
        """Let searches see what was written; False if the engine answers one of the allowed statuses.

        Raises:
            RequestError: not all of it can be seen, as shards are missing.
            StoreError: as `call`.
        """
        self.count(index)  # an engine would wait a minute for shards that are missing, and then not say so
        answer = self.call("POST", [index, "_refresh"], allow=allow)
        if answer is None:
            return False
        if answer["_shards"]["failed"]:  # copies that are missing do no harm, as each shard has another one
            responses.check_whole(self.name, answer)
        return True

    def max_clauses(self) -> int:
        """Return the clause limit of a query; the default of all engines if we may not read the setting."""
        if self._max_clauses is None:
            asked = {"include_defaults": True, "flat_settings": True}
            settings = self.call("GET", ["_cluster", "settings"], **asked, allow=(401, 403)) or {}
            values = (settings.get(scope, {}).get(_CLAUSE_LIMIT) for scope in ("transient", "persistent", "defaults"))
            limit = str(next(filter(None, values), MAX_CLAUSES))
            self._max_clauses = int(limit) if limit.isdecimal() and len(limit) < 10 else MAX_CLAUSES
        return self._max_clauses

    def require_scripts(self, context: Literal["ingest", "update"], instead: str) -> None:
        """Check that the engine runs Painless scripts.

        Args:
            context: what the script is for.
            instead: what to do without scripts, for the error.

        Raises:
            StoreError: the engine lacks Painless, or does not allow such scripts.
            StoreUnavailableError: the engine does not answer.
        """
        answer: dict[str, Any] | None = self.call("GET", ["_script_language"], allow=_UNSUPPORTED)
        if answer is None:
            return
        languages = {each["language"]: each["contexts"] for each in answer.get("language_contexts", ())}
        if _PAINLESS not in languages:
            raise StoreError(f"{self.name} cannot run scripts, as it lacks the module lang-painless; {instead}")
        if context not in languages[_PAINLESS] or "inline" not in answer.get("types_allowed", ()):
            allowed = "see its settings script.allowed_types and script.allowed_contexts"
            raise StoreError(f"{self.name} does not allow scripts for {context} ({allowed}); {instead}")

    def release(self, path: Iterable[str], body: dict[str, Any] | None = None, *, method: str = "DELETE") -> None:
        """Tell the engine that something is needed no longer. If it does not hear, that goes by itself, later."""
        with suppress(StoreError, StoppedError):
            self._sent(method, list(path), body, allow=(404,), within=LETTING_GO)

    def close(self) -> None:
        """Take no more requests; close the connections, if they are ours."""
        if self._owned and not self._closed.is_set():
            self._client.close()
        self._closed.set()
        self.stopped.set()

    def _patiently(self, action: Callable[[], Result]) -> Result:
        """Do something as often as it takes: of each node at once, and then after pauses."""
        retries, others = self.retries(), self._nodes - 1
        while True:
            try:
                return self._open_only.ask(action) if self._open_only else action()
            except StoreError as error:
                if isinstance(error, StoreUnavailableError) and others:
                    others -= 1
                elif isinstance(error, StoreUnavailableError) and not self._answered.is_set():
                    raise
                else:
                    self._pause_after(error, retries)

    def _pause_after(self, error: StoreError, retries: Retries) -> None:
        try:
            retries.pause_after(error)
        except StoppedError:
            self._check_open()
            raise

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise StoreError(f"the store on {self.name} is closed; open it again")

    def _sent(
        self,
        method: str,
        path: list[str],
        body: Any,
        *,
        allow: Iterable[int],
        within: float | None = None,
        **params: Any,
    ) -> Any:
        """The answer to a request, or None for an allowed status."""
        self._check_open()
        if self.stopped.is_set() and within is None:
            raise StoppedError
        url = "/" + "/".join(quote(part, safe="*,-_.:") for part in path)
        kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        # The clients would send lone surrogates as bytes, which OpenSearch 3.8 refuses; json escapes them.
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body, separators=(",", ":"))
        headers = {"accept": "application/json", "content-type": kind}
        plain = {key: str(value).lower() if isinstance(value, bool) else value for key, value in params.items()}
        _log.debug("%s %s%s", method, self.name, url)
        try:
            with request_span(self._client, method, path), stopped_by(self.stopped if within is None else None):
                answer = self._through(within, method, url, params=plain, headers=headers, body=sent)
        except Exception as error:  # each client has its own tree
            status: Any = getattr(error, "status_code", None)
            if isinstance(status, int):
                self._answered.set()
                if status in allow:
                    return None
            ours = translated(self.name, error, owned=self._owned)
            if isinstance(ours, StoppedError):
                self._check_open()
            raise ours from error
        self._answered.set()
        if not isinstance(answer, dict):
            raise is_no_engine(self.name)
        return answer

    def _through(self, within: float | None, method: str, url: str, **request: Any) -> Any:
        """The one place that sends."""
        sender, newer = self._client, hasattr(self._client, "perform_request")  # Elasticsearch's, since 8
        if within is not None and newer:
            sender = sender.options(request_timeout=within)
        elif within is not None:
            request["timeout"] = within
        send = partial((sender if newer else sender.transport).perform_request, method, url, **request)
        if self._owned:
            answer = send()
        else:
            seconds, stopped = (self._longest, self.stopped) if within is None else (within, None)
            with given_up_after(self.name, seconds):
                wait = in_thread if self._loop is None else self._loop.result
                answer = wait(send, seconds, stopped)
        return answer.body if newer else answer


def same_copies(body: Mapping[str, Any]) -> dict[str, Any]:
    """The parameter by which an engine asks the same copies whenever it is asked the same by score.

    Each copy has an order of its own for equal scores. What a query is about chooses the copies, so that different
    queries are spread over all of them. A copy that is missing is replaced by another one.
    """
    if body.get("sort", [""])[0] != "_score":
        return {}
    return {"preference": f"simdoc-{crc32(json.dumps(body.get('query')).encode()):08x}"}


def _synchronous(client: Any) -> Any:
    if is_asynchronous(client):
        kind = type(client).__name__
        raise TypeError(f"{kind} is asynchronous; open the store with `await open_store_async`, or give {kind[5:]}")
    return client
