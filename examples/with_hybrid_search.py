"""Fold the hits of an OpenSearch hybrid query, or of RRF in Elasticsearch, after the engine has merged them."""

from collections.abc import Callable, Mapping
from typing import Any

from simdoc_search import ShownHit, fold_near_duplicates

Search = Callable[..., Mapping[str, Any]]
"""`client.search` of either client, with the index and the pipeline bound by `functools.partial`."""


def search_folded(search: Search, body: Mapping[str, Any], *, size: int = 10, overlap: float = 0.8) -> list[ShownHit]:
    """Request more hits until `size` of them are shown, because `collapse` cannot group near-duplicates."""
    count = 3 * size
    while True:
        page = {**body, "size": count, "_source": ["title", "simdoc.tokens"]}
        if "retriever" in body:  # Elasticsearch ranks only the first `rank_window_size` hits of each retriever
            page["retriever"] = {"rrf": {**body["retriever"]["rrf"], "rank_window_size": count}}
        hits = search(body=page)["hits"]["hits"]
        shown = fold_near_duplicates(hits, overlap)
        if len(shown) >= size or len(hits) < count or count >= 1_000:
            return shown[:size]
        count *= 2
