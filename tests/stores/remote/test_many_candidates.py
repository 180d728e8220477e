"""More candidates than one answer has: each is read once, and their order is exact."""

from __future__ import annotations

import itertools
import json
import logging
import random
from dataclasses import replace

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.plans import BandPlan
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote import candidates, point_in_time
from simdoc_search.stores.remote.candidates import FIRST_PAGE_SIZE
from simdoc_search.stores.remote.schema import build_index_body
from tests.support.http_server import Answer, Request, TempIndices, forward, serving
from tests.support.remote import ANY, in_index, need_usual_clauses
from tests.support.stores import NewStore, put, ranked_candidates, record, tokens


@pytest.mark.parametrize(
    "levels",
    [
        [FIRST_PAGE_SIZE],
        [FIRST_PAGE_SIZE - 1, 3, 30],
        [1, 2, 3, 70, 1, 2, 40],
        [30] * 8,
        [130, 101, 100],
    ],
)
def test_the_order_is_exact_across_pages(
    temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch, levels: list[int]
) -> None:
    monkeypatch.setattr(point_in_time, "PAGE_SIZE", 7)
    monkeypatch.setattr(candidates, "MAX_PAGE_SIZE", 100)
    names = [temp_indices.name(), temp_indices.name()]
    counts = [8 - level for level, number in enumerate(levels) for _ in range(number)]
    ids = map(str, random.Random(0).sample(range(1000), len(counts)))
    written = [record(id, range(count)) for id, count in zip(ids, counts, strict=True)]
    for number, name in enumerate(names):
        put(in_index(temp_indices, name, create=True), *written[number::2])
    store = in_index(temp_indices, ",".join(names))
    expected = sorted(
        ((len(document.token_ids), document.id) for document in written), key=lambda hit: (-hit[0], hit[1])
    )

    assert expected == ranked_candidates(store, ANY)
    assert expected == ranked_candidates(store, BandPlan(ANY.tokens, (tokens([0]), tokens([1, 2]))))


@pytest.mark.parametrize(("size", "searches"), [(50, 3), (60, 4), (700, 5)])
def test_only_the_requested_part_of_a_thousand_equal_candidates_is_read(
    temp_indices: TempIndices, caplog: pytest.LogCaptureFixture, size: int, searches: int
) -> None:
    names = [temp_indices.make(OWN, {"number_of_shards": shards}) for shards in (3, 1)]
    for number, name in enumerate(names):
        put(in_index(temp_indices, name), *(record(f"{n}") for n in range(number, 1001, 2)))
    search = SimilaritySearch(in_index(temp_indices, ",".join(names)))
    with caplog.at_level(logging.DEBUG, "simdoc_search"):
        result = search.similar("0", size=size)
    requests = [line.getMessage() for line in caplog.records if line.getMessage().endswith("/_search")]

    assert (searches, 1000, size) == (
        len(requests),
        result.candidate_count,
        len({hit.id for hit in result.hits} - {"0"}),
    )
    assert result == search.similar("0", size=size)


def test_each_of_a_thousand_equal_candidates_is_read_once(
    temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MAX_PAGE_SIZE", 300)
    name = temp_indices.make(OWN, {"number_of_shards": 3})
    put(in_index(temp_indices, name), *(record(f"{n}", range(8 - n % 2)) for n in range(1000)))
    searches = itertools.count()

    def reversed_ties(request: Request) -> Answer | None:
        body = json.loads(request.body or "{}") if "_search?" in request.path else {}
        if body.get("sort") == ["_score", "_doc"] and "pit" not in body and next(searches) % 2 == 0:
            body["sort"][1] = {"_id": "desc"}
            body["search_after"][1:] = [""] if "search_after" in body else []
        return forward(temp_indices.engine)(replace(request, body=json.dumps(body).encode()) if body else request)

    with serving(reversed_ties) as server:
        store = open_store(f"{server.url}/{name}")

        assert sorted((-8 + n % 2, f"{n}") for n in range(1000)) == [
            (-n, id) for n, id in ranked_candidates(store, ANY)
        ]
        assert next(searches) > 1


def test_more_candidates_than_the_result_window_are_read(temp_indices: TempIndices) -> None:
    store = in_index(temp_indices, temp_indices.make(OWN, {"max_result_window": 1000}))
    put(store, *(record(f"{n:04}", range(1 + n % 2)) for n in range(2500)))

    assert 2500 == store.candidates(ANY).total
    assert sorted((-1 - n % 2, f"{n:04}") for n in range(2500)) == [(-n, id) for n, id in ranked_candidates(store, ANY)]


def test_a_query_beyond_the_clause_limit_is_an_error_of_that_query(
    new_opensearch_store: NewStore, opensearch_url: str
) -> None:
    need_usual_clauses(opensearch_url)
    store = new_opensearch_store()
    put(store, record("large", range(512), team="a"), record("small", range(9), team="a"))
    search, filters = SimilaritySearch(store), [{"team": "a"}] * 600
    with pytest.raises(QuerySyntaxError, match="the query has 1,114 clauses, but the engine allows 1,024"):
        search.similar("large", filters=filters)
    small, large = search.similar_many(["small", "large"], filters=filters)

    assert isinstance(large, QuerySyntaxError)
    assert search.similar("small", filters=filters) == small


OWN = build_index_body(Settings(), field="simdoc", store_texts=True)["mappings"]
