"""Sends requests through a client, and stops waiting as soon as the caller is cancelled.

A thread that waits for a socket cannot be interrupted. So another thread, or the event loop of an asynchronous client,
waits for the socket. The calling thread waits for the result.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, TypeAlias

from simdoc_search.cancellation import StopEvent, StoppedError, wait_for
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.clients import (
    MAX_CONNECTIONS_PER_NODE,
    copy_without_retries,
    count_nodes,
    is_asynchronous,
)

_LOOP_CLOSED_MESSAGE = (
    "the event loop in which this index was opened is closed; open the index again in the running loop"
)
_BLOCKS_LOOP_MESSAGE = (
    "waiting for the engine would block the event loop that sends the requests; use AsyncSimilaritySearch, and iterate "
    "over results with the method `each` of AsyncSimilaritySearch"
)


@dataclass(frozen=True, slots=True)
class LoopClient:
    """An application's asynchronous client, its event loop, and the `StopEvent` that ends all its requests."""

    client: Any
    loop: asyncio.AbstractEventLoop
    stop_event: StopEvent


class Transport:
    """Sends the requests of one client.

    Args:
        client: an OpenSearch or Elasticsearch client, or a `LoopClient` with an asynchronous client.
        owns_client: whether `close` also closes the client.

    Attributes:
        client: the client that sends the requests. It does not retry requests.
        stop_event: the event that ends all requests through an asynchronous client.
        node_count: number of nodes that the client knows.

    Raises:
        TypeError: the client is asynchronous, and is not in a `LoopClient`.
    """

    def __init__(self, client: Any, *, owns_client: bool) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self.stop_event: StopEvent = StopEvent()
        if isinstance(client, LoopClient):
            self._loop, self.stop_event, client = client.loop, client.stop_event.make_child(), client.client
        elif is_asynchronous(client):
            name = type(client).__name__
            raise TypeError(
                f"{name} is asynchronous; open the index with `await open_store_async`, or pass a client of type "
                f"{name.removeprefix('Async')}"
            )
        self.owns_client = owns_client
        self.node_count: int = count_nodes(client)
        self.client: Any = client if owns_client else copy_without_retries(client)

    def send(
        self, method: str, url: str, *, stop_event: Event | None = None, timeout: float | None = None, **request: Any
    ) -> Any:
        """Send a request, and return the response, parsed from JSON.

        Args:
            method: HTTP method.
            url: path of the URL.
            stop_event: the event that ends waiting. The request itself continues until the client ends it.
            timeout: maximum number of seconds to wait. If None, the timeout of the client applies.
            request: `params`, `headers` and `body`, as the client libraries accept them.

        Raises:
            StoppedError: `stop_event` is set.
            TimeoutError: there was no response within `timeout` seconds.
            StoreError: this thread runs the client's event loop, or that loop is closed.
            Exception: any error that the client raises.
        """
        sender, is_elastic = self.client, hasattr(self.client, "perform_request")
        if timeout is not None and is_elastic:
            sender = sender.options(request_timeout=timeout)
        elif timeout is not None:
            request["timeout"] = timeout
        send = partial((sender if is_elastic else sender.transport).perform_request, method, url, **request)
        loop = self._loop
        future = _threads.send(send) if loop is None else _send_in_loop(send, loop)
        try:
            wait_for(future, timeout, stop_event, loop.is_closed if loop else lambda: False)
        finally:
            future.cancel()
        try:
            response = future.result()
        except CancelledError:
            raise (StoreError(_LOOP_CLOSED_MESSAGE) if loop and loop.is_closed() else StoppedError()) from None
        return response.body if is_elastic else response

    def close(self) -> None:
        """Close the client if `owns_client` is set."""
        if self.owns_client:
            self.client.close()


_Inbox: TypeAlias = "SimpleQueue[tuple[Future[Any], Callable[[], Any]]]"


class _RequestThreads:
    """Daemon threads that send requests.

    They are reused, because starting a thread takes a quarter as long as a request.
    A `ThreadPoolExecutor` would delay the exit of the interpreter while a request has no response.
    """

    def __init__(self) -> None:
        self._idle: deque[_Inbox] = deque()

    def send(self, send_request: Callable[[], Any]) -> Future[Any]:
        """Call `send_request` in a thread with the context variables of the calling thread."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = SimpleQueue()
            Thread(target=self._run, args=(inbox,), name="simdoc-request", daemon=True).start()
        inbox.put((future, partial(copy_context().run, send_request)))
        return future

    def drop_threads(self) -> None:
        """Start new threads for all further requests. A forked process does not have the threads of its parent."""
        self._idle.clear()

    def _run(self, inbox: _Inbox) -> None:
        is_reused = True
        while is_reused:
            future, send_request = inbox.get()
            try:
                report = partial(future.set_result, send_request())
            except BaseException as error:
                report = partial(future.set_exception, error)
            is_reused = len(self._idle) < MAX_CONNECTIONS_PER_NODE
            if is_reused:  # before `report`, so that the caller can use this thread for its next request
                self._idle.append(inbox)
            report()
            del future, send_request, report  # an idle thread must not keep a response in memory


_threads = _RequestThreads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.drop_threads)


def _send_in_loop(send_request: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> Future[Any]:
    with suppress(RuntimeError):  # this error means that no event loop runs in this thread
        if asyncio.get_running_loop() is loop:
            raise StoreError(_BLOCKS_LOOP_MESSAGE)
    if not loop.is_running():
        raise StoreError(_LOOP_CLOSED_MESSAGE)
    coroutine = send_request()
    try:
        return asyncio.run_coroutine_threadsafe(coroutine, loop)
    except RuntimeError:  # the loop was closed after the check
        coroutine.close()
        raise StoreError(_LOOP_CLOSED_MESSAGE) from None
