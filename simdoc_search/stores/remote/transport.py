"""Sends requests through a client, and stops waiting as soon as the caller is cancelled.

A thread that waits for a socket cannot be interrupted. So another thread, or the event loop of an asynchronous client,
waits for the socket. The calling thread waits for the result. A request that only Ctrl-C can cancel is sent by the
calling thread: with eight threads that query, handing over requests would take a third of the processor time.
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

from simdoc_search.cancellation import StopEvent, StoppedError, receive
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.clients import (
    MAX_CONNECTIONS_PER_NODE,
    copy_without_retries,
    count_nodes,
    is_asynchronous,
)

_CTRL_C_INTERRUPTS_SOCKETS = os.name == "posix"
_LOOP_CLOSED_MESSAGE = (
    "the event loop in which this index was opened is closed; open the index again in the running loop"
)
_BLOCKS_LOOP_MESSAGE = (
    "waiting for the engine would block the event loop that sends the requests; use AsyncSimilaritySearch, and iterate "
    "over results with the method `iterate` of AsyncSimilaritySearch"
)


@dataclass(frozen=True, slots=True)
class LoopClient:
    """An application's asynchronous client, its event loop, and the `StopEvent` that ends all its requests."""

    client: Any
    loop: asyncio.AbstractEventLoop
    stop_event: StopEvent


class Transport:
    """Sends the requests of one client.

    `client` is an OpenSearch or Elasticsearch client, or a `LoopClient` with an asynchronous client. `owns_client` says
    whether `close` also closes it.

    Attributes:
        client: the client that sends the requests. It does not retry requests.
        stop_event: the event that `Engine.close` sets. For an asynchronous client, it is also set when the `stop_event`
            of its `LoopClient` is set.
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
            stop_event: the event that ends waiting. The request itself continues until the client ends it. The
                attribute `stop_event` ends waiting only for an asynchronous client.
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
        if self._loop is not None:
            response = _send_in_loop(send, self._loop, timeout, stop_event)
        elif stop_event is self.stop_event and timeout is None and _CTRL_C_INTERRUPTS_SOCKETS:
            response = send()
        else:
            response = _threads.send(send, timeout, stop_event)
        return response.body if is_elastic else response

    def close(self) -> None:
        """Close the client if `owns_client` is set."""
        if self.owns_client:
            self.client.close()


_Outbox: TypeAlias = "SimpleQueue[tuple[Any, BaseException | None]]"
_Inbox: TypeAlias = "SimpleQueue[tuple[_Outbox, Callable[[], Any]]]"


class _RequestThreads:
    """Daemon threads that send requests.

    They are reused, because starting a thread takes a quarter as long as a request.
    A `ThreadPoolExecutor` would delay the exit of the interpreter while a request has no response. A `Future` would
    take twice as much processor time as a `SimpleQueue`.
    """

    def __init__(self) -> None:
        self._idle: deque[_Inbox] = deque()

    def send(self, send_request: Callable[[], Any], timeout: float | None, stop_event: Event | None) -> Any:
        """Call `send_request` in a thread with the context variables of the calling thread. Return its result."""
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = SimpleQueue()
            Thread(target=self._run, args=(inbox,), name="simdoc-request", daemon=True).start()
        outbox: _Outbox = SimpleQueue()
        inbox.put((outbox, partial(copy_context().run, send_request)))
        result, error = receive(outbox, timeout, stop_event)
        if error is None:
            return result
        try:
            raise error
        finally:
            del error  # its traceback refers to this frame

    def drop_threads(self) -> None:
        """Start new threads for all further requests. A forked process does not have the threads of its parent."""
        self._idle.clear()

    def _run(self, inbox: _Inbox) -> None:
        is_reused = True
        while is_reused:
            outbox, send_request = inbox.get()
            outcome: tuple[Any, BaseException | None]
            try:
                outcome = send_request(), None
            except BaseException as error:
                outcome = None, error
            is_reused = len(self._idle) < MAX_CONNECTIONS_PER_NODE
            if is_reused:  # before `put`, so that the caller can use this thread for its next request
                self._idle.append(inbox)
            outbox.put(outcome)
            del outbox, send_request, outcome  # an idle thread must not keep a response in memory


_threads = _RequestThreads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.drop_threads)


def _send_in_loop(
    send_request: Callable[[], Any], loop: asyncio.AbstractEventLoop, timeout: float | None, stop_event: Event | None
) -> Any:
    with suppress(RuntimeError):  # this error means that no event loop runs in this thread
        if asyncio.get_running_loop() is loop:
            raise StoreError(_BLOCKS_LOOP_MESSAGE)
    if not loop.is_running():
        raise StoreError(_LOOP_CLOSED_MESSAGE)
    coroutine = send_request()
    try:
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    except RuntimeError:  # the loop was closed after the check
        coroutine.close()
        raise StoreError(_LOOP_CLOSED_MESSAGE) from None
    done: SimpleQueue[Future[Any]] = SimpleQueue()
    future.add_done_callback(done.put)
    try:
        return receive(done, timeout, stop_event, loop.is_closed).result()
    except (StoppedError, CancelledError):
        raise (StoreError(_LOOP_CLOSED_MESSAGE) if loop.is_closed() else StoppedError()) from None
    finally:
        future.cancel()
