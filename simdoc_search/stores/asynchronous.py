"""Opens a store in an event loop. The client may be asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Final, ParamSpec

from simdoc_search.cancellation import StopEvent
from simdoc_search.stores import open_store
from simdoc_search.stores.base import Store
from simdoc_search.stores.remote.clients import is_asynchronous
from simdoc_search.stores.remote.transport import LoopClient

Params = ParamSpec("Params")


def _wrap_in_thread(open_function: Callable[Params, Store]) -> Callable[Params, Coroutine[Any, Any, Store]]:
    @wraps(open_function)
    async def open_store_async(*args: Params.args, **kwargs: Params.kwargs) -> Store:
        client: Any = kwargs.get("client")
        stop = StopEvent()
        if is_asynchronous(client):
            # Open the connections now, so that the client and its copy (`copy_without_retries`) share them.
            await client.__aenter__()
            kwargs["client"] = LoopClient(client, asyncio.get_running_loop(), stop)
        try:
            return await asyncio.to_thread(open_function, *args, **kwargs)
        except asyncio.CancelledError:
            stop.set()
            raise

    open_store_async.__name__ = open_store_async.__qualname__ = "open_store_async"
    open_store_async.__module__ = __name__
    return open_store_async


open_store_async: Final = _wrap_in_thread(open_store)
"""Open a store as `open_store` does. The client may also be an `AsyncOpenSearch` or an `AsyncElasticsearch`.

Query such a store with `AsyncSimilaritySearch`, in the event loop in which it was opened.
"""
