"""Sends the requests of a client from a thread that may stop waiting at any time.

A thread that waits for a socket notices nothing else. So another thread waits for the socket, or the event loop in
which the client lives, and this one waits for the result.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from threading import Event, Thread
from typing import Any

from simdoc_search.cancellation import Stop, StoppedError, wait_for
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.clients import count_nodes, is_asynchronous, without_retries


@dataclass(frozen=True, slots=True)
class LoopClient:
    """An asynchronous client of an application.

    Attributes:
        client: the client.
        loop: the event loop in which the application uses it.
        stop: ends all requests through it.
    """

    client: Any
    loop: asyncio.AbstractEventLoop
    stop: Stop


class Transport:
    """The requests of one client.

    Args:
        client: an OpenSearch or Elasticsearch client; an asynchronous one as `LoopClient`.
        owned: whether the client is ours; then it sends each request once, and `close` closes it.

    Attributes:
        client: the client that sends.
        stop: ends all requests through the client of an event loop.
        node_count: number of nodes that the client knows.

    Raises:
        TypeError: the client is asynchronous, and not a `LoopClient`.
    """

    def __init__(self, client: Any, *, owned: bool) -> None:
        self._loop = client.loop if isinstance(client, LoopClient) else None
        self.stop: Stop = client.stop.child() if isinstance(client, LoopClient) else Stop()
        given = client.client if isinstance(client, LoopClient) else client
        if self._loop is None and is_asynchronous(given):
            kind = type(given).__name__
            raise TypeError(f"{kind} is asynchronous; open the store with `await open_store_async`, or give {kind[5:]}")
        self.owned = owned
        self.node_count: int = count_nodes(given)
        self.client: Any = given if owned else without_retries(given)

    def send(
        self, method: str, url: str, *, stopped: Event | None = None, timeout: float | None = None, **request: Any
    ) -> Any:
        """Send a request and return the answer from JSON.

        Args:
            method: the HTTP method.
            url: path of the URL.
            stopped: ends the waiting. The request itself continues until its client ends it.
            timeout: maximum seconds; None: the timeout of the client.
            request: `params`, `headers` and `body`, as the clients take them.

        Raises:
            StoppedError: `stopped` is set.
            TimeoutError: the answer took more than `timeout` seconds.
            StoreError: this thread runs the client's event loop, or that loop has ended.
            Exception: what the client raises.
        """
        sender, is_elastic = self.client, hasattr(self.client, "perform_request")
        if timeout is not None and is_elastic:
            sender = sender.options(request_timeout=timeout)
        elif timeout is not None:
            request["timeout"] = timeout
        send = partial((sender if is_elastic else sender.transport).perform_request, method, url, **request)
        answer = self._in_loop(send, timeout, stopped) if self._loop else _in_thread(send, timeout, stopped)
        return answer.body if is_elastic else answer

    def close(self) -> None:
        """Close the connections of a client of ours."""
        if self.owned:
            self.client.close()

    def _in_loop(
        self, send: Callable[[], Coroutine[Any, Any, Any]], timeout: float | None, stopped: Event | None
    ) -> Any:
        loop = self._loop
        assert loop is not None  # noqa: S101 - the caller checked it
        if _running_loop() is loop:
            raise StoreError(
                "waiting for the engine here would block the event loop that is to ask it; "
                "ask with AsyncSimilaritySearch, whose `each` also reads what a result makes when it is asked for"
            )
        if not loop.is_running():
            raise _ended()
        sending = send()
        try:
            future = asyncio.run_coroutine_threadsafe(sending, loop)
        except RuntimeError:  # closed since the check
            raise _ended(sending) from None
        try:
            wait_for(future, timeout, stopped, loop.is_closed)
        finally:
            future.cancel()
        try:
            return future.result()
        except CancelledError:
            raise (_ended(sending) if loop.is_closed() else StoppedError) from None


def _in_thread(send: Callable[[], Any], timeout: float | None, stopped: Event | None) -> Any:
    """Run a function in a daemon thread with the context variables of this one, and return its result."""
    future: Future[Any] = Future()
    context = copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(send))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, name="simdoc-request", daemon=True).start()
    wait_for(future, timeout, stopped)
    return future.result()


def _ended(sending: Coroutine[Any, Any, object] | None = None) -> StoreError:
    if sending is not None and inspect.getcoroutinestate(sending) == inspect.CORO_CREATED:
        sending.close()
    return StoreError("the event loop in which this store was opened has ended; open it in the one that runs")


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
