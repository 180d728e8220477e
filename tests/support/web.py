"""The pages over a store, on a socket of this machine, asked as a browser or a program would."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.stores.base import Store
from simdoc_search.web import Collection, Server, bound, make_app

__all__ = ["BROWSER", "HEAD", "Pages", "answer", "pages_of", "pages_over", "sent"]

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
HEAD = "Host: localhost\r\nAccept: application/json\r\n"
"""Headers of a request that is sent as bytes."""


class Pages:
    """A server that runs, and who asks it."""

    def __init__(self, collection: Collection, client: httpx.Client, server: Server) -> None:
        self.collection, self.client, self.server = collection, client, server

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        return "127.0.0.1", int(self.client.base_url.port or 0)

    def json(self, path: str, status: int = 200, **values: Any) -> Any:
        """What an address gives a program."""
        response = self.client.get(path, params=values or None, headers={"accept": "application/json"})
        assert status == response.status_code, response.text
        return response.json()

    def sent(self, path: str, status: int = 200, *, files: Any = None, **values: Any) -> Any:
        """What it gives one that sends values, perhaps with a file."""
        body: dict[str, Any] = {"data": values, "files": files} if files else {"json": values}
        response = self.client.post(path, headers={"accept": "application/json"}, **body)
        assert status == response.status_code, response.text
        return response.json()

    def html(self, path: str, status: int = 200, **values: Any) -> str:
        """The page that it gives a browser."""
        response = self.client.get(path, params=values or None, headers=BROWSER)
        assert status == response.status_code, response.text
        assert response.headers["content-type"].startswith("text/html")
        return response.text


@contextmanager
def pages_of(
    opened: Callable[[], SimilaritySearch], hidden: tuple[str, ...] = (), columns: tuple[str, ...] = (), **options: Any
) -> Iterator[Pages]:
    """The pages over what is opened as they are asked for.

    Args:
        opened: gives the search; as of `Collection`.
        hidden: as of `Collection`.
        columns: as of `Collection`.
        options: those of `make_app`.
    """
    collection = Collection(opened, hidden, columns)
    with bound("127.0.0.1", 0) as listening:
        server = Server(make_app(collection, **options), collection.close)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=60) as client:
                yield Pages(collection, client, server)
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def pages_over(store: Store | Path, **options: Any) -> Iterator[Pages]:
    """The pages over a store that is open, or that lies there."""
    if isinstance(store, Path):
        with pages_of(lambda: SimilaritySearch(open_store(store)), (str(store),), **options) as pages:
            yield pages
        return
    search = SimilaritySearch(store)
    with pages_of(lambda: search, **options) as pages:
        yield pages


def answer(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """The status, the headers and the body of an answer."""
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()


def sent(pages: Pages, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """The answer to the bytes of a request."""
    with socket.create_connection(pages.address, timeout=30) as connection:
        connection.sendall(request)
        return answer(connection)
