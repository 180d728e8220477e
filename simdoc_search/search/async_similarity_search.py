"""`AsyncSimilaritySearch`: the methods of `SimilaritySearch` for asyncio.

The methods run in threads, so they do not block the event loop. If the store has an asynchronous client, the event loop
sends the requests over that client's connections.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator
from functools import partial, wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.search.threads import CancellableThreads
from simdoc_search.stores.base import Store

Params = ParamSpec("Params")
Result = TypeVar("Result")
Self = TypeVar("Self", bound="AsyncSimilaritySearch")

DEFAULT_THREADS = 16


def _make_awaitable(
    method: Callable[Concatenate[SimilaritySearch, Params], Result],
) -> Callable[Concatenate[AsyncSimilaritySearch, Params], Coroutine[Any, Any, Result]]:
    @wraps(method)
    async def awaited_method(self: AsyncSimilaritySearch, /, *args: Params.args, **kwargs: Params.kwargs) -> Result:
        stop = self._threads.stop.make_child()
        search = SimilaritySearch(self.store.cancellable_by(stop))
        return await self._threads.run(partial(method, search, *args, **kwargs), stop)

    return awaited_method


def _make_asynchronous_iterator(
    method: Callable[Concatenate[SimilaritySearch, Params], Iterator[Result]],
) -> Callable[Concatenate[AsyncSimilaritySearch, Params], AsyncGenerator[Result, None]]:
    @wraps(method)
    def iterated_method(
        self: AsyncSimilaritySearch, /, *args: Params.args, **kwargs: Params.kwargs
    ) -> AsyncGenerator[Result, None]:
        stop = self._threads.stop.make_child()
        search = SimilaritySearch(self.store.cancellable_by(stop))
        return self._threads.iterate(method(search, *args, **kwargs), stop)

    return iterated_method


class AsyncSimilaritySearch:
    """`SimilaritySearch` for asyncio. Its methods are coroutines, or return asynchronous iterators.

    Arguments, results and errors are the same. Functions that you pass are called in a thread, and iterables that you
    pass are read in a thread. If you cancel a call or it times out, it stops waiting at once and stops computing within
    about a second::

        async with AsyncOpenSearch(url) as client:
            store = await open_store_async(client=client, index="manuals")
            async with AsyncSimilaritySearch(store) as search:
                result = await search.similar("doc123_50")

    Args:
        store: the store. Open it with `open_store_async`, or with `open_store` if you have no asynchronous client.
        threads: maximum number of calls that run at the same time. Further calls wait.

    Raises:
        ValueError: `threads` is less than 1.
    """

    def __init__(self, store: Store, *, threads: int = DEFAULT_THREADS) -> None:
        self.store = store
        self._threads = CancellableThreads(threads)

    index: Final = _make_awaitable(SimilaritySearch.index)
    similar: Final = _make_awaitable(SimilaritySearch.similar)
    similar_many: Final = _make_asynchronous_iterator(SimilaritySearch.similar_many)
    passages: Final = _make_awaitable(SimilaritySearch.passages)
    highlight: Final = _make_awaitable(SimilaritySearch.highlight)
    delete: Final = _make_awaitable(SimilaritySearch.delete)
    info: Final = _make_awaitable(SimilaritySearch.info)
    resolve: Final = _make_awaitable(SimilaritySearch.resolve)
    expand_fingerprints: Final = _make_awaitable(SimilaritySearch.expand_fingerprints)
    versions: Final = _make_awaitable(SimilaritySearch.versions)
    related: Final = _make_awaitable(SimilaritySearch.related)
    concepts: Final = _make_awaitable(SimilaritySearch.concepts)
    version_families: Final = _make_awaitable(SimilaritySearch.version_families)
    topics: Final = _make_awaitable(SimilaritySearch.topics)
    order_family: Final = _make_awaitable(SimilaritySearch.order_family)
    name_topic: Final = _make_awaitable(SimilaritySearch.name_topic)
    languages: Final = _make_awaitable(SimilaritySearch.languages)
    duplicates: Final = _make_awaitable(SimilaritySearch.duplicates)
    mark_duplicates: Final = _make_awaitable(SimilaritySearch.mark_duplicates)
    read_kept_ids: Final = _make_awaitable(SimilaritySearch.read_kept_ids)
    nearest_duplicate: Final = _make_awaitable(SimilaritySearch.nearest_duplicate)

    def iterate(self, items: Iterable[Result]) -> AsyncGenerator[Result, None]:
        """Yield the items of an iterator that reads the store, such as `Duplicates.pairs()`, without blocking."""
        return self._threads.iterate(iter(items), self._threads.stop.make_child())

    async def aclose(self) -> None:
        """Stop all calls and close the store."""
        await self._threads.aclose()
        self.store.close()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
