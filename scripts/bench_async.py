"""Queries one after the other beside queries that an asynchronous application awaits together, on one engine.

    python scripts/bench_async.py http://127.0.0.1:9201 [documents] [queries] [rounds]

Prints the seconds of each round, and the median of the ratios. The index is made, and removed at the end.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).parents[1]))

from opensearchpy import AsyncOpenSearch

from simdoc_search import AsyncSimilaritySearch, SimilaritySearch, open_store, open_store_async
from tests.support.engines import call
from tests.support.texts import documents

WORDS = 200


def one_after_the_other(url: str, index: str, asked: list[str]) -> tuple[float, list[list[str]]]:
    """Seconds, and the ids of the hits."""
    with open_store(f"{url}/{index}") as store:
        search = SimilaritySearch(store)
        search.similar(asked[0])
        began = time.perf_counter()
        found = [[hit.id for hit in search.similar(each).hits] for each in asked]
        return time.perf_counter() - began, found


async def together(url: str, index: str, asked: list[str]) -> tuple[float, list[list[str]]]:
    """The same, gathered."""
    async with (
        AsyncOpenSearch(url) as client,
        AsyncSimilaritySearch(await open_store_async(client=client, index=index)) as search,
    ):
        await search.similar(asked[0])
        began = time.perf_counter()
        answers = await asyncio.gather(*(search.similar(each) for each in asked))
        return time.perf_counter() - began, [[hit.id for hit in each.hits] for each in answers]


def main(url: str, number: int = 5000, queries: int = 200, rounds: int = 5) -> None:
    """Print the figures."""
    index, ratios = f"bench-async-{uuid4()}", []
    try:
        with open_store(f"{url}/{index}", create=True) as store:
            SimilaritySearch(store).index(documents("async", number, WORDS))
        asked = [f'"{each.id}"_50' for each in documents("async", number, WORDS)[:: number // queries]][:queries]
        for _ in range(rounds):
            first, alone = one_after_the_other(url, index, asked)
            second, gathered = asyncio.run(together(url, index, asked))
            if alone != gathered:
                raise SystemExit("the answers differ")
            ratios.append(first / second)
            print(f"{len(asked)} queries: {first:.2f} s one after the other, {second:.2f} s together, {ratios[-1]:.2f}")
        print(f"together {statistics.median(ratios):.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f})")
    finally:
        call(url, "DELETE", f"/{index}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
