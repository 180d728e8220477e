"""A store in OpenSearch, beyond what every store does: aliases, foreign indices, many hits, refusals, failures."""

from __future__ import annotations

import itertools
import json
import logging
import random
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch, helpers

from simdoc_search import Analysis, Document, SearchResult, SimilaritySearch, any_of, none_of, open_store
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.documents import Place
from simdoc_search.errors import (
    FormatMismatchError,
    NoFingerprintError,
    QuerySyntaxError,
    SimdocError,
    StoreError,
    StoreNotFoundError,
    StoreUnavailableError,
    UnknownDocumentError,
    UnknownFieldError,
)
from simdoc_search.query.plans import Bands, Threshold
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Store
from simdoc_search.stores.remote import candidates, moments, patience, sending
from simdoc_search.stores.remote import store as remote_store
from simdoc_search.stores.remote.candidates import FIRST_PAGE
from simdoc_search.stores.remote.index_body import component_template, store_index
from simdoc_search.stores.remote.schema import field_values
from tests.support.cli import answer, output, run, sentence, usage_error, words, write, write_corpus
from tests.support.engines import call
from tests.support.http_server import Answer, Indices, Request, error, forward, indices, serving
from tests.support.stores import NewStore, found, ids, put, record, tokens
from tests.support.texts import documents, overlapping, text

ANY = Threshold(tokens(range(8)), 1)
OWN = store_index(Settings(), field="simdoc", store_texts=True)["mappings"]


@pytest.fixture
def made(opensearch_url: str) -> Iterator[Indices]:
    """Indices of an application's own."""
    with indices(opensearch_url) as them:
        yield them


def in_index(made: Indices, name: str, **options: Any) -> Any:
    """The store in an index."""
    return open_store(f"{made.engine}/{name}", **options)


def mapping(**properties: object) -> dict[str, Any]:
    """The mappings of an application that has added our field beside its own."""
    ours: dict[str, Any] = component_template()["template"]["mappings"]["properties"]
    return {"properties": {**ours, **properties}}


def ours(codes: Any = range(8), settings: Settings | None = None) -> dict[str, Any]:
    """What our field holds."""
    return field_values(record("", codes).codes, 8, ("hash", "words"), settings or Settings())


# --- aliases ---


@pytest.fixture
def two(made: Indices) -> tuple[Any, Any, Any]:
    """Stores in two indices, each with two documents, and in an alias of both that writes into the second."""
    names = [made.name(), made.name()]
    first, second = (in_index(made, name, create=True) for name in names)
    put(first, record("a", n=1), record("b/doc.txt", n=1))
    put(second, record("c", n=1), record("d", n=1))
    return first, second, in_index(made, made.alias(*names, write=names[1]))


def test_an_alias_is_read_as_one_store(two: tuple[Any, Any, Any]) -> None:
    """Records, names, counts and hits are those of all its indices."""
    both = two[2]

    assert ["a", "b/doc.txt", "c", "d"] == ids(both) == [id for _, id in found(both, ANY)]
    assert (["b/doc.txt"], 4) == (both.named("doc"), both.info().documents)
    assert ["a", "b/doc.txt", "d"] == [hit.id for hit in SimilaritySearch(both).similar("c_50").hits]
    assert [1, 1] == [each.metadata["n"] for each in both.records(["a", "d", "unknown"])]


def test_a_replaced_document_stays_in_its_index(two: tuple[Any, Any, Any]) -> None:
    """So does one that is deleted go from it; new ones come into the index for writing."""
    first, second, both = two
    with both.writer() as writer:
        writer.put([record("a", n=2), record("c", n=2), record("new", n=2)])
        writer.delete(["b/doc.txt", "unknown"])
        writer.delete(["d"])

    assert [("a", 2)] == [(each.id, each.metadata["n"]) for each in first.scan()]
    assert [("c", 2), ("new", 2)] == sorted((each.id, each.metadata["n"]) for each in second.scan())


def test_an_alias_that_nothing_can_be_written_into_says_so(made: Indices) -> None:
    """The engine's reason is kept; what is there already can be replaced."""
    names = [made.name(), made.name()]
    put(in_index(made, names[0], create=True), record("a", n=1))
    in_index(made, names[1], create=True)
    store = in_index(made, made.alias(*names))
    with store.writer() as writer:
        writer.put([record("a", n=2), record("new")])
    assert "no write index is defined for alias" in writer.failed["new"]

    assert [("a", 2)] == [(each.id, each.metadata["n"]) for each in store.scan()]


def test_an_id_in_two_indices_is_refused(two: tuple[Any, Any, Any]) -> None:
    """Whichever was meant is not guessed: one sentence names both; other documents are not concerned."""
    first, second, both = two
    put(second, record("a", n=2))
    for use in (lambda: both.get("a"), lambda: SimilaritySearch(both).similar("a")):
        with pytest.raises(SimdocError, match=r"'a' is in both \S+ and \S+; name one of the indices") as caught:
            use()
        assert [True, True] == [store.index in str(caught.value) for store in (first, second)]

    assert "c" == both.get("c").id
    assert (5, ["a", "a"]) == (both.candidates(ANY).total, [id for _, id in found(both, ANY)][:2])


def test_an_alias_with_a_filter_shows_what_it_lets_through(made: Indices) -> None:
    """For instance the documents of one team."""
    name = made.name()
    put(
        in_index(made, name, create=True), record("mine", team="a"), record("yours", team="b"), record("more", team="a")
    )
    team = made.alias(name, filter={"term": {"simdoc.facts": "team\0a"}})
    store = in_index(made, team)

    assert ["mine", "more"] == ids(store) == [id for _, id in found(store, ANY)]
    assert store.get("yours") is None


def test_names_with_wildcards_and_lists(made: Indices) -> None:
    """They are read like an alias; one that no index has is not found, and cannot be made."""
    names = [made.name(), made.name()]
    for number, name in enumerate(names):
        put(in_index(made, name, create=True), record(str(number)))
    assert ["0", "1"] == ids(in_index(made, ",".join(names)))
    assert ["0"] == ids(in_index(made, names[0][:-4] + "*"))
    with pytest.raises(StoreNotFoundError, match="there is no index"):
        in_index(made, names[0] + "-none*")

    with pytest.raises(StoreError, match="Invalid index name"):
        in_index(made, names[0] + "-none*", create=True)


def test_indices_of_different_settings_are_asked_apart(made: Indices) -> None:
    """Their tokens cannot be compared; the error has both settings."""
    names = [made.name(), made.name()]
    for name, length in zip(names, (4, 5), strict=True):
        in_index(made, name, settings=Settings(token_length=length), create=True)
    with pytest.raises(FormatMismatchError, match="different settings; ask them apart") as caught:
        in_index(made, made.alias(*names))

    both = [Settings(token_length=length).to_dict() for length in (4, 5)]
    assert [caught.value.found, caught.value.expected] in (both, both[::-1])


# --- which index ---


def test_an_index_keeps_its_settings(made: Indices) -> None:
    """Others are refused with both; texts cannot be left out or asked for later."""
    name, settings = made.name(), Settings(Analysis(shingle_size=3))
    in_index(made, name, settings=settings, create=True, store_texts=False)
    assert settings == in_index(made, name).settings == in_index(made, name, settings=settings, create=True).settings
    with pytest.raises(FormatMismatchError, match="use its settings, or another index") as caught:
        in_index(made, name, settings=Settings(), create=True)
    assert (settings.to_dict(), Settings().to_dict()) == (caught.value.found, caught.value.expected)

    with pytest.raises(StoreError, match="was made without texts; index into another one"):
        in_index(made, name, store_texts=True)


def test_an_index_of_a_newer_version_is_refused(made: Indices) -> None:
    """What it says cannot be read."""
    newer = mapping()
    newer["properties"]["simdoc"]["properties"]["tokens"]["meta"]["simdoc_version"] = "99"

    with pytest.raises(FormatMismatchError, match="format version 99"):
        in_index(made, made.make(newer))


def test_an_index_without_our_field_is_refused(made: Indices) -> None:
    """The sentence names it, behind an alias too, and the one command to run."""
    name = made.make({"properties": {"title": {"type": "text"}}})
    alias = made.alias(name, made.make(mapping()))

    for asked in (name, alias):
        run_this = f"run simdoc-search backfill {made.engine}/{asked} --field title"
        with pytest.raises(StoreError, match=rf"index {name} of .* has no field simdoc\.tokens; {run_this}$"):
            in_index(made, asked)
    with pytest.raises(StoreError, match=r"has no field fp\.tokens; .* --field title --into fp$"):
        in_index(made, name, field="fp")


@pytest.mark.parametrize(
    ("source", "is_open"),
    [
        ({"excludes": ["simdoc.tokens"]}, False),
        ({"excludes": ["simdoc"]}, False),
        ({"excludes": ["*okens"]}, False),
        ({"includes": ["title"]}, False),
        ({"enabled": False}, False),
        ({"excludes": ["body"]}, True),
        ({"includes": ["simdoc.*"]}, True),
    ],
)
def test_an_index_whose_tokens_cannot_be_read_is_refused(made: Indices, source: Any, is_open: bool) -> None:
    """Where `_source` leaves them out, candidates are found and none can be a hit: that is said when it is opened."""
    name = made.make({**mapping(), "_source": source})
    made.put(name, "a", {"simdoc": ours()})
    if is_open:
        assert [(8, "a")] == found(in_index(made, name), ANY)
        return

    with pytest.raises(StoreError, match="cannot be asked: _source"):
        in_index(made, name)


def test_the_field_may_have_another_name(made: Indices) -> None:
    """Two fingerprints of one document do not disturb each other."""
    name = made.name()
    store = in_index(made, name, create=True, field="fp")
    put(store, record("a/b.txt", year=2020), record("b"))

    assert [(8, "a/b.txt")] == found(store, ANY, filters={"year": 2020, "path": "a/"})
    assert ["a/b.txt"] == in_index(made, name, field="fp").named("b.txt")
    with pytest.raises(StoreError, match="has no field simdoc"):
        in_index(made, name)


def test_two_make_an_index_at_the_same_time(made: Indices) -> None:
    """Both get the one that was made, and write into it."""
    for name in [made.name() for _ in range(3)]:
        gate = threading.Barrier(2, timeout=10)
        faults: list[Exception] = []

        def make(number: int, name: str = name, gate: Any = gate, faults: Any = faults) -> None:
            try:
                gate.wait()
                with closing(in_index(made, name, create=True)) as store:
                    put(store, record(str(number)))
            except Exception as error:
                faults.append(error)

        threads = [threading.Thread(target=make, args=(number,)) for number in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

        assert ([], ["0", "1"]) == (faults, ids(in_index(made, name)))


def test_an_index_that_was_removed_is_not_made_by_writing(made: Indices) -> None:
    """The engine would make one without our mapping, in which nothing is found."""
    name = made.name()
    store = in_index(made, name, create=True)
    call(made.engine, "DELETE", f"/{name}")

    with pytest.raises(StoreNotFoundError, match="index some documents"):
        store.get("a")
    with pytest.raises(StoreNotFoundError):
        put(store, record("a"))


# --- an application's own index ---


@pytest.fixture
def articles(made: Indices) -> str:
    """An index with texts, keywords, a number and a date, filled by an application with its own client."""
    fields = {"title": {"type": "text", "fields": {"raw": {"type": "keyword"}}}, "note": {"type": "text"}}
    fields |= {"team": {"type": "keyword"}, "year": {"type": "integer"}, "day": {"type": "date"}}
    name = made.make(mapping(**fields, origin={"properties": {"site": {"type": "keyword"}}}))
    body, other = text(random.Random(1), 100), text(random.Random(2), 100)
    common = {"title": "Two Words", "note": "red green", "team": "legal", "year": 2020, "day": "2020-02-02"}
    written = [
        {"_id": "source_1", "text": body, **common, "origin": {"site": "north"}},
        {"_id": "near", "text": body + " and more", **common, "origin": {"site": "south"}},
        {"_id": "far", "text": body[: len(body) // 2] + other, **common, "team": "sales", "title": "Two", "year": 2021},
        {"_id": "empty", "text": "...", **common},
        {"_id": "unread", **common},
    ]
    with closing(OpenSearch([made.engine])) as client:
        helpers.bulk(client, fingerprint_actions([{"_index": name, **each} for each in written], "text"), refresh=True)
    return name


@pytest.mark.parametrize(
    ("filters", "hits"),
    [
        (None, ["near", "far"]),
        ({"team": "legal"}, ["near"]),
        ({"team": "leg"}, []),
        ({"title": "Two Words"}, ["near"]),
        ({"title": "Two"}, ["far"]),
        ({"title.raw": "Two Words"}, ["near"]),
        ({"note": "green"}, ["near", "far"]),
        ({"year": "2021"}, ["far"]),
        ({"year": 2020, "team": ["legal"]}, ["near"]),
        ({"team": ["legal", "sales"]}, ["near", "far"]),
        ({"team": any_of("sales", "none"), "year": [2020, 2021]}, ["far"]),
        ([{"title": ["Two", "Two Words"]}, {"title": "Two"}], ["far"]),
        ([{"term": {"team": "legal"}}, {"year": [2020, 2021]}], ["near"]),
        ({"team": []}, []),
        ({"team": none_of("sales")}, ["near"]),
        ({"title": none_of("Two", "Three")}, ["near"]),
        ({"day": "2020-02-02", "origin.site": "south"}, ["near"]),
        ([{"range": {"year": {"gte": 2021}}}], ["far"]),
        ([{"match": {"title": "words"}}, {"bool": {"must_not": {"term": {"team": "sales"}}}}], ["near"]),
    ],
)
@pytest.mark.parametrize("query", ["source_1", '"source_1"_20_80'])
def test_an_index_of_an_application_is_asked(
    made: Indices, articles: str, query: str, filters: Any, hits: list[str]
) -> None:
    """Filters compare its own fields, texts by their keyword if they have one; clauses of the engine are kept."""
    search = SimilaritySearch(in_index(made, articles))

    assert hits == [hit.id for hit in search.similar(query, filters=filters).hits]


def test_a_field_that_an_application_does_not_have_is_said(made: Indices, articles: str) -> None:
    """With those of its mapping; a field below an object is found as well, and so is one without any value."""
    search = SimilaritySearch(in_index(made, articles))

    with pytest.raises(UnknownFieldError, match="no document has the field 'tem'; there are: team, note, t") as caught:
        search.similar("source_1", filters={"tem": "legal"})
    assert {"team", "title", "year", "origin.site"} <= set(caught.value.known)
    assert not [name for name in caught.value.known if name.startswith("simdoc")]
    assert [] == search.similar("source_1", filters={"origin.site": "nowhere"}).hits
    assert [] == search.similar("source_1", filters=[{"term": {"unknown": "x"}}]).hits


def test_an_index_of_an_application_is_not_written(made: Indices, articles: str, tmp_path: Path) -> None:
    """Its owner does that: documents of ours would lack its fields."""
    store = in_index(made, articles)
    search = SimilaritySearch(store)
    with pytest.raises(StoreError, match="with simdoc-search backfill, or with fingerprint_actions in the application"):
        search.index([Document("a", "some words")])
    with pytest.raises(StoreError, match="was not made by simdoc-search index"):
        search.delete(["near"])

    assert ["empty", "far", "near", "source_1", "unread"] == ids(store)


def test_an_index_of_an_application_has_no_names(made: Indices, articles: str) -> None:
    """A document is named by its whole id; one without fingerprint is an error of one sentence."""
    store = in_index(made, articles)
    search = SimilaritySearch(store)
    said = {"empty": "has no fingerprint", "unread": "has no fingerprint", "nothing": "no document 'nothing'"}
    for query, expected in said.items():
        with pytest.raises(SimdocError, match=expected):
            search.similar(query)

    assert ([], [], None) == (store.named("near"), store.suggest("nea"), store.info().text_bytes)


def test_an_index_that_demands_routing_is_read(made: Indices) -> None:
    """By id and by plan; the source is left out wherever it lies."""
    name = made.make({**mapping(), "_routing": {"required": True}}, {"number_of_shards": 3})
    for number, routing in enumerate("abcdef"):
        made.put(name, f"doc{number}", {"simdoc": ours()}, routing=routing)
    store = in_index(made, name)

    assert [f"doc{number}" for number in (1, 2, 3, 4, 5)] == [
        hit.id for hit in SimilaritySearch(store).similar("doc0").hits
    ]
    assert ["doc3", "doc5"] == sorted(each.id for each in store.records(["doc5", "doc3", "doc9"]))


@pytest.mark.parametrize("tokens", ["!!!! abcde", "!!!! éééé", "!!!! !!!"])
def test_tokens_that_are_none_of_ours_are_named(made: Indices, tokens: str) -> None:
    """A document was fingerprinted with other settings: as a hit it is left out, and it cannot be asked about."""
    name = made.make(mapping())
    made.put(name, "good", {"simdoc": ours([0])})
    made.put(name, "bad", {"simdoc": {**ours([0]), "tokens": tokens}})
    search = SimilaritySearch(in_index(made, name))
    with pytest.raises(NoFingerprintError, match="'bad' has tokens that are none of ours"):
        search.similar("bad")

    assert ["bad"] == [each.id for each in search.similar("good").left_out]


# --- many candidates ---


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
    """Most equal tokens first, none lost or twice, for any number of documents with as many equal tokens."""
    monkeypatch.setattr(moments, "PAGE", 7)
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


@pytest.mark.parametrize(("size", "searches"), [(10, 2), (50, 2), (60, 3), (700, 4)])
def test_of_a_thousand_that_are_equal_a_page_is_read(
    made: Indices, caplog: pytest.LogCaptureFixture, size: int, searches: int
) -> None:
    """Hits that nothing can surpass end the reading: one search for the source, few for its hits; all are counted."""
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
    """Where their order differs from page to page, as copies of a shard have orders of their own."""
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
    """Beyond index.max_result_window, counted and read to the last, whether the engine counts equal tokens or not."""
    count = 10_100
    store = new_opensearch_store(store_texts=False)
    put(store, *(record(f"{n:05}", range(1 + n % 3)) for n in range(count)))
    candidates = store.candidates(Threshold(tokens(range(3)), 1))
    wanted = sorted((-1 - n % 3, f"{n:05}") for n in range(count))

    assert count == candidates.total
    assert wanted == [(-matched, id) for matched, id in found(store, Threshold(tokens(range(3)), 1))]


def test_an_index_that_gives_few_hits_at_once_is_read_to_the_end(made: Indices) -> None:
    """Its owner may have lowered index.max_result_window."""
    name = made.make(OWN, {"max_result_window": 1000})
    store = in_index(made, name)
    put(store, *(record(f"{n:04}", range(1 + n % 2)) for n in range(2500)))

    assert sorted((-1 - n % 2, f"{n:04}") for n in range(2500)) == [(-n, id) for n, id in found(store, ANY)]


def test_bands_beyond_the_clause_limit_keep_their_order(
    made: Indices, new_memory_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where bands, tokens and filters are too many clauses for one query, equal tokens are counted here."""
    monkeypatch.setattr(remote_store, "BANDS_PAGE", 50)
    stores = in_index(made, made.name(), create=True), new_memory_store()
    choose = random.Random(0)
    written = [record("source", range(512), team="a")]
    written += [record(f"{n}", choose.sample(range(512), choose.randrange(20, 400)), team="a") for n in range(120)]
    for store in stores:
        put(store, *written)
    options: dict[str, Any] = {"planner": "all", "size": 200, "filters": {"team": ["a"] * 480}}
    engine, local = (SimilaritySearch(store).similar("source_20_80", **options) for store in stores)

    assert _in_any_store(engine) == _in_any_store(local)
    assert 50 < engine.candidates == len(list(stores[0].candidates(engine.plan, exclude=Place("source"))))


def test_a_query_beyond_the_clause_limit_is_an_error_of_that_query(new_opensearch_store: NewStore) -> None:
    """Of several asked at once the others are answered."""
    store = new_opensearch_store()
    put(store, record("large", range(512), team="a"), record("small", range(9), team="a"))
    search, filters = SimilaritySearch(store), [{"team": "a"}] * 600
    with pytest.raises(QuerySyntaxError, match="the query has 1114 clauses and the engine allows 1024"):
        search.similar("large", filters=filters)
    small, large = search.similar_many(["small", "large"], filters=filters)

    assert isinstance(large, QuerySyntaxError)
    assert search.similar("small", filters=filters) == small


# --- the same as the local store ---


@pytest.fixture(scope="module")
def both(opensearch_url: str) -> Iterator[list[SimilaritySearch]]:
    """A corpus in a local store and in OpenSearch: pairs, short texts, some without words, many versions of one."""
    rng = random.Random("both")
    texts = [
        each
        for words in (3, 9, 40, 150, 600, 1500)
        for s in (0.1, 0.3, 0.6, 0.9)
        for each in overlapping(rng, words, s)
    ]
    words = text(rng, 400).split()
    texts += [" ".join(words[: 400 - 4 * n]) for n in range(90)] + ["one", "one", "...", "... !"]
    corpus = [
        Document(
            f"{'ab'[n % 2]}/doc_{n}.txt",
            each,
            {
                "language": ["de", "en", "漢"][n % 3],
                "year": 2000 + n % 4,
                "tags": ["x", "y"][: n % 3],
                "draft": n % 5 == 0,
            },
        )
        for n, each in enumerate(texts)
    ]
    with indices(opensearch_url) as made:
        stores: list[Store] = [open_store(":memory:"), in_index(made, made.name(), create=True)]
        for store in stores:
            SimilaritySearch(store).index(corpus)
        yield [SimilaritySearch(store) for store in stores]


SUFFIXES = ["", "_20", "_100", "_5_95", "_20_80", "_50_99", "_80_80"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"size": 1000},
        {"size": 1, "include_self": True},
        {"planner": "all", "size": 1000},
        {"planner": "all", "size": 20, "filters": {"language": "漢", "path": "a/"}},
        {"size": 1000, "filters": {"year": ["2002"], "draft": False}},
        {"filters": {"tags": ["x", "y"]}, "include_self": True},
    ],
    ids=str,
)
def test_the_engine_answers_as_the_local_store_does(both: list[SimilaritySearch], options: dict[str, Any]) -> None:
    """Query, plan, number of candidates and every hit with its overlap are the very same."""
    known = [each.id for each in both[0].store.scan()][::9]
    queries = [f'"{id}"{suffix}' for id, suffix in itertools.product(known, SUFFIXES)]
    local, remote = (list(search.similar_many(queries, **options)) for search in both)

    plain = partial(_in_any_store, size=options.get("size", 10))

    assert [plain(each) for each in local] == [plain(each) for each in remote]
    assert any(isinstance(each, SearchResult) and each.hits for each in remote)


def test_clauses_are_for_an_engine(both: list[SimilaritySearch]) -> None:
    """The local store refuses them; on an engine they choose as filters do."""
    local, remote = both
    clauses = [{"term": {"simdoc.facts": "language\0de"}}]
    with pytest.raises(QuerySyntaxError, match="the local store takes filters as field and value"):
        local.similar("doc_60", filters=clauses)

    by_field = local.similar("doc_60", filters={"language": "de"})

    assert _in_any_store(by_field) == _in_any_store(remote.similar("doc_60", filters=clauses))


def test_texts_are_answered_as_by_the_local_store(both: list[SimilaritySearch]) -> None:
    """A text that is not stored, at any overlap."""
    asked = text(random.Random("both"), 30) + " ".join(text(random.Random(n), 20) for n in range(3))
    for source in [asked, *(both[0].store.get(id, text=True).text for id in ("a/doc_20.txt", "a/doc_60.txt"))]:  # type: ignore[union-attr]
        for overlap, probability in [(None, None), (0.3, None), (0.3, 0.9), (1, 0.5)]:
            local, remote = (
                search.similar_to_text(source or "", overlap=overlap, probability=probability, size=100)
                for search in both
            )

            assert _in_any_store(local) == _in_any_store(remote)


@pytest.mark.parametrize("options", [{}, {"overlap": 0.2}, {"planner": "all"}, {"size": 3}], ids=str)
def test_many_queries_are_answered_as_one_by_one(both: list[SimilaritySearch], options: dict[str, Any]) -> None:
    """In their order, over several requests, each with its result or with the error that it has alone."""
    names = ["doc_3", "doc_20.txt", "doc_60_20_80", "unknown_20", "a/doc_2", "doc_60_0.5", "", "one two", "doc_138"]
    queries = [*names, "a/doc_60.txt_20", "doc_60_101", '"a/doc_60.txt', *(f"doc_{n}_50_90" for n in range(60, 90))]
    for search in both:

        def alone(query: str, search: SimilaritySearch = search) -> object:
            try:
                return search.similar(query, **options)
            except SimdocError as error:
                return error

        many = [_plain(each) for each in search.similar_many(iter(queries), **options)]

        assert [_plain(alone(each)) for each in queries] == many


def _plain(answer: object) -> object:
    """An answer that can be compared; an unknown document without what looks like it, which stores find differently."""
    if isinstance(answer, UnknownDocumentError):
        return answer.id
    return (type(answer), str(answer)) if isinstance(answer, SimdocError) else answer


def _in_any_store(answer: object, size: int = 10) -> object:
    """The same without what is each store's own: which of equal hits come last, if there are as many as asked for."""
    if not isinstance(answer, SearchResult):
        return _plain(answer)
    hits = [(hit.overlap, hit.matched, hit.kind, hit.id) for hit in answer.hits]
    last = hits[-1][:2] if len(hits) == size else None
    return replace(answer, hits=[]), [hit[:3] if hit[:2] == last else hit for hit in hits]


# --- refusals and failures ---


def test_a_document_that_the_engine_refuses_is_listed_with_the_reason(made: Indices) -> None:
    """All others are stored; one that it would have replaced stays; a later run stores it when it fits."""
    mappings = store_index(Settings(), field="simdoc", store_texts=True)["mappings"]
    mappings["properties"]["body"] = {"type": "keyword"}  # which cannot hold a long text
    search = SimilaritySearch(in_index(made, made.make(mappings)))
    short, long = "a few words", "many words " * 4000
    search.index([Document("old", short)])
    report = search.index([Document(id, long if id in ("old", "new") else short) for id in ("a", "old", "new", "b")])

    assert ({"old", "new"}, 2, 0) == (set(report.refused), report.indexed, report.replaced)
    assert [True] * 2 == ["immense term" in each for each in report.refused.values()]
    assert ["a", "b", "old"] == ids(search.store)
    assert short == search.store.get("old", text=True).text  # type: ignore[union-attr]
    assert 1 == search.index([Document("new", short)]).indexed


def test_an_engine_that_fails_now_and_then_loses_nothing(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    """Busy, away, or cut off in the middle of an answer: in the end each document is there, with its last text."""
    monkeypatch.setattr(patience, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(patience, "LONGEST_PAUSE", 0.01)
    monkeypatch.setattr(sending, "CHUNK_ACTIONS", 20)
    choose, engine = random.Random(0), forward(made.engine)
    busy = error(429, "rejected_execution_exception", "queue full")

    def unsteady(request: Request) -> Answer | None:
        done = engine(request)
        if request.method != "POST" or choose.random() < 0.5:
            return done
        return choose.choice([busy, None, done and replace(done, cut=True)])

    written = documents("unsteady", 300, words=20)
    names = [made.name(), made.name()]
    for name in names:
        in_index(made, name, create=True)
    with (
        serving(unsteady) as server,
        closing(open_store(f"{server.url}/{made.alias(*names, write=names[0])}")) as store,
    ):
        report = SimilaritySearch(store).index([*(Document(each.id, "older") for each in written[::3]), *written])
    stored = in_index(made, ",".join(names)).scan(text=True)

    assert (300, 100, []) == (report.indexed, report.duplicates, report.skipped)
    assert sorted((each.id, each.text) for each in written) == sorted((each.id, each.text) for each in stored)


def test_what_is_known_is_asked_again_of_a_busy_engine(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the ids came from where they cannot be read twice; a run would take all documents for new."""
    monkeypatch.setattr(patience, "FIRST_PAUSE", 0.001)
    name = made.name()
    put(in_index(made, name, create=True), record("a"))
    engine, fates = forward(made.engine), iter([error(429, "busy", "queue full"), None])

    with serving(engine) as server, closing(open_store(f"{server.url}/{name}")) as store:
        server.handle = lambda request: next(fates, None) or engine(request)

        assert ["a"] == [each.id for each in store.digests(iter(["a", "b"]))]


def test_a_commit_waits_for_a_busy_engine(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent is there; that it cannot be seen yet is no reason to fail."""
    monkeypatch.setattr(patience, "FIRST_PAUSE", 0.001)
    engine, fates = forward(made.engine), iter([error(429, "busy", "queue full"), None])

    def busy(request: Request) -> Answer | None:
        return (request.path.endswith("/_refresh") and next(fates, None)) or engine(request)

    with serving(busy) as server, closing(open_store(f"{server.url}/{made.name()}", create=True)) as store:
        put(store, record("a"))

        assert ["a"] == ids(store)


def test_hits_of_some_indices_are_not_taken_for_all(made: Indices) -> None:
    """If the search fails in one of two, the answer would lack its documents."""
    names = [made.make(mapping(year={"type": kind})) for kind in ("integer", "keyword")]
    for name in names:
        made.put(name, name, {"year": 2020, "simdoc": ours()})
    store = in_index(made, made.alias(*names))
    filters: Any = [{"bool": {"should": [{"match_all": {}}, {"term": {"year": "no number"}}]}}]

    with pytest.raises(StoreError, match="no number"):
        found(store, ANY, filters=filters)


@pytest.mark.parametrize("what", ["scan", "candidates"])
def test_an_engine_that_goes_away_while_it_is_read_is_an_error(
    made: Indices, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A list that ends early is not taken for all there is."""
    monkeypatch.setattr(patience, "PATIENCE", 0.0)
    monkeypatch.setattr(patience, "QUESTION_PATIENCE", 0.0)
    monkeypatch.setattr(moments, "PAGE", 10)
    name = made.name()
    put(in_index(made, name, create=True), *(record(f"{n}", range(1 + n % 8)) for n in range(300)))
    with serving(forward(made.engine)) as server:
        store = open_store(f"{server.url}/{name}")
        read: Iterator[object] = store.scan() if what == "scan" else iter(store.candidates(ANY))
        next(read)
        server.handle = lambda _: None
        with pytest.raises(StoreUnavailableError, match="does not answer"):
            list(read)


def test_who_stops_reading_leaves_nothing_open(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine has room for a few hundred open searches; each is closed when it is read no more."""
    monkeypatch.setattr(moments, "PAGE", 10)
    monkeypatch.setattr(candidates, "LARGEST_PAGE", FIRST_PAGE)
    name = made.name()
    with serving(forward(made.engine)) as server:
        store = open_store(f"{server.url}/{name}", create=True)
        put(store, *(record(f"{n}") for n in range(100)))
        for read in (store.scan(), iter(store.candidates(ANY))):
            list(itertools.islice(read, FIRST_PAGE + 10))
        list(store.scan())
        del read
        moments_asked = [each.method for each in server.requests if "/_search/point_in_time" in each.path]
        opened, closed = moments_asked.count("POST"), moments_asked.count("DELETE")

    assert (3, 3) == (opened, closed)


def test_an_interrupted_run_is_completed_by_the_next(made: Indices) -> None:
    """What was ready when Ctrl-C came is stored; nothing of it is sent again."""
    written = documents("interrupted", 50, words=20)

    def interrupted() -> Iterator[Document]:
        yield from written[:30]
        raise KeyboardInterrupt

    search = SimilaritySearch(in_index(made, made.name(), create=True))
    with pytest.raises(KeyboardInterrupt):
        search.index(interrupted())
    kept = len(ids(search.store))
    report = search.index(written)

    assert 0 <= kept <= 30
    assert (50 - kept, kept, 50) == (report.indexed, report.unchanged, len(ids(search.store)))


# --- commands ---


@pytest.fixture
def url(made: Indices, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store that is not made yet, with a password that nobody must see."""
    monkeypatch.setenv("SIMDOC_PASSWORD", "s3cret")
    return f"{made.engine.replace('://', '://name@')}/{made.name()}"


def in_any_store(answer: Any) -> Any:
    """What is the same each time, wherever it is."""
    if isinstance(answer, list):
        return [in_any_store(each) for each in answer]
    if not isinstance(answer, dict):
        return answer
    return {key: in_any_store(value) for key, value in answer.items() if key not in ("seconds", "index", "routing")}


def test_commands_answer_as_on_a_local_store(url: str, tmp_path: Path) -> None:
    """The very same JSON but for the name of the index, from the first run to the last deletion."""
    corpus, local = write_corpus(tmp_path / "corpus"), tmp_path / "store"
    commands: list[tuple[object, ...]] = [
        ("index", corpus, "--workers", "2"),
        ("index", corpus, "--workers", "1"),
        ("similar", "doc123"),
        ("similar", "doc123_20_80", "--size", "2"),
        ("similar", "half_40", "--filter", "path=reports/", "--include-self"),
        ("similar", "--text", words(0, 150), "--overlap", "30"),
        ("explain", "doc123_20_80"),
        ("delete", "reports/copy.txt", "notes/old.txt"),
        ("similar", "doc123"),
        ("index", corpus, "--prune", "--workers", "1"),
    ]
    for number, command in enumerate(commands):
        if "--prune" in command:
            (corpus / "other.txt").unlink()
        wanted, given = (in_any_store(answer(*command, "--store", store)) for store in (local, url))
        assert wanted == given, number

    wanted, given = (answer("info", "--store", store) for store in (local, url))
    assert (4, wanted["settings"]) == (given["documents"], given["settings"])
    assert Settings().to_dict().items() <= given["settings"].items()
    assert wanted.keys() == given.keys()
    assert (True, True) == (given["bytes"] > 0, given["text_bytes"] > 0)
    assert url.replace("name@", "") == given["store"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["similar", "doc13"], "no document 'doc13' in the store; did you mean 'doc123.txt'"),
        (["delete", "doc13"], "no document 'doc13' in the store; did you mean 'doc123.txt'"),
        (["index", "corpus", "--shingle-size", "3"], "use its settings, or another index"),
        (["index", "corpus", "--no-texts"], "was made with texts; index into another one to change that"),
    ],
)
def test_commands_fail_with_a_sentence(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], said: str
) -> None:
    """On an index as on a folder; before there is one, all but `index` say how to make it."""
    write(tmp_path / "corpus", {"doc123.txt": words(0, 50)})
    monkeypatch.chdir(tmp_path)
    if command[0] != "index":
        assert "make it with simdoc-search index" in sentence(run(*command, "--store", url))
    output("index", "corpus", "--store", url)
    message = sentence(run(*command, "--store", url))

    assert said in message
    assert "s3cret" not in message


@pytest.fixture(params=["folder", "engine"])
def indexed(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of one of two kinds with the five documents of the corpus."""
    store = str(tmp_path / "store") if request.param == "folder" else request.getfixturevalue("url")
    output("index", write_corpus(tmp_path / "corpus"), "--store", store)
    return store


def test_all_queries_of_a_file_are_answered(indexed: str, tmp_path: Path) -> None:
    """In their order, each as it is alone; one that fails says why, and then so does the exit code."""
    write(tmp_path, {"queries.txt": "doc123\n\n  doc123_20_80 \r\nunknown_20\ndoc123_101\nhalf_40"})
    queries = ["doc123", "doc123_20_80", "unknown_20", "doc123_101", "half_40"]
    alone = [run("similar", each, "--store", indexed, "--json") for each in queries]
    wanted = [json.loads(e.stdout) if e.stdout else {"error": e.stderr.strip().partition("Error: ")[2]} for e in alone]
    result = run("similar", "--all-from", tmp_path / "queries.txt", "--store", indexed, "--json")

    assert {"results": [{"fingerprint": q, **w} for q, w in zip(queries, wanted, strict=True)]} == json.loads(
        result.stdout
    )
    assert (1, "Error: 2 queries of 5 failed\n") == (result.exit_code, result.stderr)


def test_all_queries_of_stdin_are_printed_for_people(indexed: str) -> None:
    """Each under its query, with an empty line after it; options are for all of them."""
    options = ["--size", "1", "--store", indexed]
    tables = [f"{each}\n{output('similar', each, *options)}\n" for each in ("doc123_20", "half")]

    assert "".join(tables) == output("similar", "--all-from", "-", *options, stdin="doc123_20\nhalf\n")
    assert {"results": []} == answer("similar", "--all-from", "-", *options, stdin="\n")
    assert "Error: no document 'x'" in run("similar", "--all-from", "-", *options, stdin="x").stdout


def test_queries_come_from_one_place(indexed: str, tmp_path: Path) -> None:
    """A file, a text and a FINGERPRINT exclude one another; a file that is not there is named."""
    said = usage_error(run("similar", "doc123", "--all-from", "-", "--store", indexed))

    assert "give one of FINGERPRINT, --file, --text or --all-from" == said
    assert "nowhere.txt" in sentence(run("similar", "--all-from", tmp_path / "nowhere.txt", "--store", indexed))
