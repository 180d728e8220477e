"""A real server over a store, and requests to it like those of a browser or a program."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.stores.base import Store
from simdoc_search.web import LocalAccess, ServedStore, Server, make_app, open_listening_socket

__all__ = ["BROWSER", "HEAD", "Pages", "pages_of", "pages_over"]

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
HEAD = "Host: localhost\r\nAccept: application/json\r\n"
"""The headers of a request that is sent as bytes."""


class _PromptServer(Server):
    """A server that looks every 2 ms whether it must exit. uvicorn looks every 100 ms."""

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.002)  # notice that the client has closed its connections


class Pages:
    """A running server, and a client."""

    def __init__(self, served: ServedStore, client: httpx.Client) -> None:
        self.served, self.client = served, client

    @property
    def address(self) -> tuple[str, int]:
        """The host and the port of the server."""
        return "127.0.0.1", int(self.client.base_url.port or 0)

    def json(self, path: str, status: int = 200, **values: Any) -> Any:
        """The JSON at an address."""
        response = self.client.get(path, params=values or None, headers={"accept": "application/json"})
        assert status == response.status_code, response.text
        return response.json()

    def sent(self, path: str, status: int = 200, *, files: Any = None, **values: Any) -> Any:
        """Send values, and perhaps files, by POST. Return the JSON of the answer."""
        body: dict[str, Any] = {"data": values, "files": files} if files else {"json": values}
        response = self.client.post(path, headers={"accept": "application/json"}, **body)
        assert status == response.status_code, response.text
        return response.json()

    def html(self, path: str, status: int = 200, **values: Any) -> str:
        """The page at an address."""
        response = self.client.get(path, params=values or None, headers=BROWSER)
        assert status == response.status_code, response.text
        assert response.headers["content-type"].startswith("text/html")
        return response.text

    def finished(self, path: str, **values: Any) -> Any:
        """Wait for the end of a background job. Return the JSON about it."""
        for _ in range(5_000):
            found = self.client.get(f"{path}.json", params=values).json()
            if found["state"] != "running":
                return found
            time.sleep(0.004)
        raise AssertionError("the job does not end")


@contextmanager
def pages_of(
    open_search: Callable[[], SimilaritySearch],
    locations: tuple[str, ...] = (),
    columns: tuple[str, ...] = (),
    local: LocalAccess | None = None,
    **options: Any,
) -> Iterator[Pages]:
    """Run a server. `options` are the other arguments of `make_app`. The rest are those of `ServedStore`."""
    served = ServedStore(open_search, locations, columns, local)
    with open_listening_socket("127.0.0.1", 0) as listening:
        server = _PromptServer(make_app(served, **options), served.close)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            address = f"http://127.0.0.1:{listening.getsockname()[1]}"
            # Without `verify=False`, each client reads all certificates of the system.
            with httpx.Client(base_url=address, timeout=60, verify=False) as client:
                yield Pages(served, client)
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def pages_over(store: Store | Path, **options: Any) -> Iterator[Pages]:
    """Run a server over an open store or over the store in a folder."""
    if isinstance(store, Path):
        with pages_of(lambda: SimilaritySearch(open_store(store)), (str(store),), **options) as pages:
            yield pages
        return
    search = SimilaritySearch(store)
    with pages_of(lambda: search, **options) as pages:
        yield pages
