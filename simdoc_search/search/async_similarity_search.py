"""`AsyncSimilaritySearch`: the methods of `SimilaritySearch` for asyncio.

The methods run in threads, so they do not block the event loop. With an asynchronous client, the event loop sends each
request over the connections of the client.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator
from functools import partial, wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.search.threads import Threads
from simdoc_search.stores.base import Store

Params = ParamSpec("Params")
Result = TypeVar("Result")
Self = TypeVar("Self", bound="AsyncSimilaritySearch")

DEFAULT_THREADS = 16


def _awaited(
    method: Callable[Concatenate[SimilaritySearch, Params], Result],
) -> Callable[Concatenate[AsyncSimilaritySearch, Params], Coroutine[Any, Any, Result]]:
    @wraps(method)
    async def awaited_method(self: AsyncSimilaritySearch, /, *args: Params.args, **kwargs: Params.kwargs) -> Result:
        stop = self._threads.stop.make_child()
        search = SimilaritySearch(self.store.cancellable_by(stop))
        return await self._threads.run(partial(method, search, *args, **kwargs), stop)

    return awaited_method


def _iterated(
    method: Callable[Concatenate[SimilaritySearch, Params], Iterator[Result]],
) -> Callable[Concatenate[AsyncSimilaritySearch, Params], AsyncGenerator[Result, None]]:
    @wraps(method)
    def iterated_method(
        self: AsyncSimilaritySearch, /, *args: Params.args, **kwargs: Params.kwargs
    ) -> AsyncGenerator[Result, None]:
        stop = self._threads.stop.make_child()
        search = SimilaritySearch(self.store.cancellable_by(stop))
        return self._threads.each(method(search, *args, **kwargs), stop)

    return iterated_method


class AsyncSimilaritySearch:
    """`SimilaritySearch` for asyncio. Methods that return an iterator return an asynchronous one, others are awaited.

    Arguments, results and errors are the same. Functions that you pass are called in a thread, and iterables are read
    in a thread. A method that is cancelled or times out stops waiting at once, and stops computing within about a
    second::

        async with AsyncOpenSearch(url) as client:
            store = await open_store_async(client=client, index="manuals")
            async with AsyncSimilaritySearch(store) as search:
                result = await search.similar("doc123_50")

    Args:
        store: the store, see `open_store_async`; or `open_store` without an asynchronous client.
        threads: maximum number of calls that run at once. Further calls wait.

    Raises:
        ValueError: `threads` is less than 1.
    """

    def __init__(self, store: Store, *, threads: int = DEFAULT_THREADS) -> None:
        self.store = store
        self._threads = Threads(threads)

    index: Final = _awaited(SimilaritySearch.index)
    similar: Final = _awaited(SimilaritySearch.similar)
    similar_many: Final = _iterated(SimilaritySearch.similar_many)
    similar_to_text: Final = _awaited(SimilaritySearch.similar_to_text)
    passages: Final = _awaited(SimilaritySearch.passages)
    highlight: Final = _awaited(SimilaritySearch.highlight)
    passages_of_many: Final = _iterated(SimilaritySearch.passages_of_many)
    delete: Final = _awaited(SimilaritySearch.delete)
    info: Final = _awaited(SimilaritySearch.info)
    resolve: Final = _awaited(SimilaritySearch.resolve)
    expand_fingerprints: Final = _awaited(SimilaritySearch.expand_fingerprints)
    tokens: Final = _awaited(SimilaritySearch.tokens)
    versions: Final = _awaited(SimilaritySearch.versions)
    related: Final = _awaited(SimilaritySearch.related)
    concepts: Final = _awaited(SimilaritySearch.concepts)
    version_families: Final = _awaited(SimilaritySearch.version_families)
    topics: Final = _awaited(SimilaritySearch.topics)
    ordered: Final = _awaited(SimilaritySearch.ordered)
    named: Final = _awaited(SimilaritySearch.named)
    languages: Final = _awaited(SimilaritySearch.languages)
    duplicates: Final = _awaited(SimilaritySearch.duplicates)
    mark_duplicates: Final = _awaited(SimilaritySearch.mark_duplicates)
    kept_by_marks: Final = _awaited(SimilaritySearch.kept_by_marks)
    nearest_duplicate: Final = _awaited(SimilaritySearch.nearest_duplicate)

    def each(self, items: Iterable[Result]) -> AsyncGenerator[Result, None]:
        """Yield the items of an iterator that reads the store, such as `Duplicates.pairs()`."""
        return self._threads.each(iter(items), self._threads.stop.make_child())

    async def aclose(self) -> None:
        """Stop all calls and close the store."""
        await self._threads.aclose()
        self.store.close()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
