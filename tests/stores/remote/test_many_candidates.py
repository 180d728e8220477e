"""More candidates than an engine gives at once: none is lost or read twice, and their order is exact."""

from __future__ import annotations

import itertools
import json
import logging
import random
from dataclasses import replace

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.plans import Bands, Threshold
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote import candidates, point_in_time
from simdoc_search.stores.remote.candidates import FIRST_PAGE
from simdoc_search.stores.remote.schema import index_body
from tests.support.http_server import Answer, Indices, Request, forward, serving
from tests.support.remote import ANY, in_index, need_usual_clauses
from tests.support.stores import NewStore, found, put, record, tokens


@pytest.mark.parametrize(
    "levels",
    [
        [FIRST_PAGE],
        [FIRST_PAGE + 1],
        [FIRST_PAGE - 1, 1, 1],
        [FIRST_PAGE - 1, 3, 30],
        [FIRST_PAGE, 30],
        [1, 2, 3, 70, 1, 2, 40],
        [30] * 8,
        [10, 110, 99, 1, 7],
        [130, 101, 100],
    ],
)
def test_the_order_is_exact_wherever_a_page_ends(
    made: Indices, monkeypatch: pytest.MonkeyPatch, levels: list[int]
) -> None:
    monkeypatch.setattr(point_in_time, "PAGE", 7)
    monkeypatch.setattr(candidates, "LARGEST_PAGE", 100)
    names = [made.name(), made.name()]
    counts = [8 - level for level, number in enumerate(levels) for _ in range(number)]
    ids = map(str, random.Random(0).sample(range(1000), len(counts)))
    written = [record(id, range(count)) for id, count in zip(ids, counts, strict=True)]
    for number, name in enumerate(names):
        put(in_index(made, name, create=True), *written[number::2])
    store = in_index(made, ",".join(names))
    wanted = sorted(((len(each.codes), each.id) for each in written), key=lambda found: (-found[0], found[1]))

    assert wanted == found(store, ANY)
    assert wanted == found(store, Bands(ANY.tokens, (tokens([0]), tokens([1, 2]))))


@pytest.mark.parametrize(("size", "searches"), [(10, 3), (50, 3), (60, 4), (700, 5)])
def test_of_a_thousand_that_are_equal_a_page_is_read(
    made: Indices, caplog: pytest.LogCaptureFixture, size: int, searches: int
) -> None:
    names = [made.make(OWN, {"number_of_shards": shards}) for shards in (3, 1)]
    for number, name in enumerate(names):
        put(in_index(made, name), *(record(f"{each}") for each in range(number, 1001, 2)))
    search = SimilaritySearch(in_index(made, ",".join(names)))
    with caplog.at_level(logging.DEBUG, "simdoc_search"):
        result = search.similar("0", size=size)
    asked = [each.getMessage() for each in caplog.records if each.getMessage().endswith("/_search")]

    assert (searches, 1000, size) == (len(asked), result.candidates, len({hit.id for hit in result.hits} - {"0"}))
    assert result == search.similar("0", size=size)


def test_of_a_thousand_that_are_equal_each_is_read_once(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "LARGEST_PAGE", 300)
    name = made.make(OWN, {"number_of_shards": 3})
    put(in_index(made, name), *(record(f"{each}", range(8 - each % 2)) for each in range(1000)))
    asked = itertools.count()

    def turned(request: Request) -> Answer | None:
        body = json.loads(request.body or "{}") if "_search?" in request.path else {}
        if body.get("sort") == ["_score", "_doc"] and "pit" not in body and next(asked) % 2 == 0:
            body["sort"][1] = {"_id": "desc"}
            body["search_after"][1:] = [""] if "search_after" in body else []
        return forward(made.engine)(replace(request, body=json.dumps(body).encode()) if body else request)

    with serving(turned) as server:
        store = open_store(f"{server.url}/{name}")

        assert sorted((-8 + n % 2, f"{n}") for n in range(1000)) == [(-n, id) for n, id in found(store, ANY)]
        assert next(asked) > 1


def test_more_candidates_than_an_engine_gives_at_once(new_opensearch_store: NewStore) -> None:
    count = 10_100
    store = new_opensearch_store(store_texts=False)
    put(store, *(record(f"{n:05}", range(1 + n % 3)) for n in range(count)))
    candidates = store.candidates(Threshold(tokens(range(3)), 1))
    wanted = sorted((-1 - n % 3, f"{n:05}") for n in range(count))

    assert count == candidates.total
    assert wanted == [(-matched, id) for matched, id in found(store, Threshold(tokens(range(3)), 1))]


def test_an_index_that_gives_few_hits_at_once_is_read_to_the_end(made: Indices) -> None:
    name = made.make(OWN, {"max_result_window": 1000})
    store = in_index(made, name)
    put(store, *(record(f"{n:04}", range(1 + n % 2)) for n in range(2500)))

    assert sorted((-1 - n % 2, f"{n:04}") for n in range(2500)) == [(-n, id) for n, id in found(store, ANY)]


def test_a_query_beyond_the_clause_limit_is_an_error_of_that_query(
    new_opensearch_store: NewStore, opensearch_url: str
) -> None:
    need_usual_clauses(opensearch_url)
    store = new_opensearch_store()
    put(store, record("large", range(512), team="a"), record("small", range(9), team="a"))
    search, filters = SimilaritySearch(store), [{"team": "a"}] * 600
    with pytest.raises(QuerySyntaxError, match="the query has 1114 clauses and the engine allows 1024"):
        search.similar("large", filters=filters)
    small, large = search.similar_many(["small", "large"], filters=filters)

    assert isinstance(large, QuerySyntaxError)
    assert search.similar("small", filters=filters) == small


OWN = index_body(Settings(), field="simdoc", store_texts=True)["mappings"]
