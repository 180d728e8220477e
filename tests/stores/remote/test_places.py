"""Where documents are: two with one id behind an alias; what an application's index has in its fields; its texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Place, SearchResult, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.errors import (
    AmbiguousQueryError,
    LocationError,
    StoreError,
    UnknownDocumentError,
)
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote import errors
from simdoc_search.stores.remote.records import field_values
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer, output, run, sentence, words
from tests.support.engines import call
from tests.support.http_server import Indices, indices
from tests.support.stores import put, record


@pytest.fixture(params=["opensearch", "elasticsearch"])
def made(request: pytest.FixtureRequest) -> Iterator[Indices]:
    """Indices of a test's own in each kind of engine."""
    with indices(request.getfixturevalue(f"{request.param}_url")) as them:
        yield them


def in_index(made: Indices, name: str, **options: Any) -> Any:
    """The store in an index."""
    return open_store(f"{made.engine}/{name}", **options)


def ours(codes: Any = range(8)) -> dict[str, Any]:
    """What our field holds."""
    return field_values(record("", codes).codes, 8, ("hash", "words"), Settings())


def article(made: Indices, **properties: object) -> str:
    """An index of an application with our field."""
    fields: dict[str, Any] = component_template()["template"]["mappings"]["properties"]
    return made.make({"properties": {**fields, **properties}})


# --- one id in two indices ---


@pytest.fixture
def twins(made: Indices) -> tuple[str, str, str]:
    """Two indices that both have `twin` and `dir/pair.txt`, and an alias of them."""
    names = sorted([made.name(), made.name()])
    for name, other in zip(names, ("a", "b"), strict=True):
        twin = record("twin", [*range(8), 9 if other == "b" else 8])
        put(in_index(made, name, create=True), twin, record("dir/pair.txt", range(20, 28)), record(other))
    return names[0], names[1], made.alias(*names)


def test_two_documents_with_one_id_are_two_hits(made: Indices, twins: tuple[str, str, str]) -> None:
    first, second, alias = twins
    search = SimilaritySearch(in_index(made, alias))
    expected = [Place("b", second), Place("twin", first), Place("twin", second)]

    assert expected == [hit.place for hit in search.similar("a").hits]
    for found in search.similar_many(["a_20", "a_20_80", "a"]):
        assert isinstance(found, SearchResult)
        assert expected == [hit.place for hit in found.hits]


def test_an_id_in_two_indices_is_an_error_of_its_query_alone(made: Indices, twins: tuple[str, str, str]) -> None:
    first, second, alias = twins
    search = SimilaritySearch(in_index(made, alias))
    asked = ["twin_20", "pair", "./dir/pair.txt", "a", "b", "nobody"]
    answers = list(search.similar_many(asked))

    assert [AmbiguousQueryError] * 3 + [SearchResult] * 2 + [UnknownDocumentError] == [type(each) for each in answers]
    assert f"the document 'twin' is in both {first} and {second}; name one of the indices" == str(answers[0])
    assert str(answers[0]).replace("twin", "dir/pair.txt") == str(answers[1]) == str(answers[2])


def test_the_command_line_answers_the_other_queries(made: Indices, twins: tuple[str, str, str]) -> None:
    first, second, alias = twins
    store = f"{made.engine}/{alias}"
    result = run("similar", "--all-from", "-", "--store", store, "--json", stdin="twin\na\n")
    failed, found = json.loads(result.stdout)["results"]
    places = [(each["id"], each["index"], each["routing"]) for each in found["hits"]]

    assert (1, ["error"]) == (result.exit_code, list(failed.keys() - {"fingerprint"}))
    assert [("b", second, None), ("twin", first, None), ("twin", second, None)] == places
    shown = output("similar", "a", "--store", store).splitlines()[1:4]
    assert ["b", f"twin  in {first}", f"twin  in {second}"] == [line.split("  ", 1)[1].strip() for line in shown]


def test_a_place_says_which_document_is_meant(made: Indices, twins: tuple[str, str, str]) -> None:
    first, second, alias = twins
    search = SimilaritySearch(in_index(made, alias))
    for index, other in ((first, second), (second, first)):
        places = [hit.place for hit in search.similar(Place("twin", index), overlap=0.5).hits]

        assert Place("twin", index) not in places
        assert {Place("twin", other), Place("a", first), Place("b", second)} == set(places)
    itself = search.similar(Place("twin", first), overlap=1, include_self=True).hits

    assert [Place("twin", first)] == [hit.place for hit in itself]


def test_a_place_may_leave_out_the_index_or_name_an_alias(made: Indices, twins: tuple[str, str, str]) -> None:
    first, second, alias = twins
    only_first = made.alias(first)
    search = SimilaritySearch(in_index(made, alias))
    several = f"the document 'twin' is in both {first} and {second}; name one of the indices"
    for place in (Place("a"), Place("a", alias), Place("a", only_first), Place("a", f"{first[:-1]}*")):
        assert ["b", "twin", "twin"] == [hit.id for hit in search.similar(place).hits]
    places = [hit.place for hit in search.similar(Place("twin", only_first)).hits]
    assert sorted(places, key=str) == [Place("a", first), Place("b", second), Place("twin", second)]
    for place in (Place("twin"), Place("twin", alias), Place("twin", f"{first},{second}")):
        with pytest.raises(AmbiguousQueryError) as caught:
            search.similar(place)
        assert several == str(caught.value)
    assert search.nearest_duplicate("x", exclude=Place("twin", alias)) is None


def test_a_place_without_its_document_says_where_the_id_is(made: Indices, twins: tuple[str, str, str]) -> None:
    first, second, alias = twins
    search = SimilaritySearch(in_index(made, alias))
    for place, where in (
        (Place("twin", "elsewhere"), "index 'elsewhere'"),
        (Place("twin", "Not a name"), "index 'Not a name'"),
        (Place("twin", alias, "x"), f"index '{alias}' with routing 'x'"),
        (Place("twin", None, "x"), "the store with routing 'x'"),
    ):
        with pytest.raises(UnknownDocumentError) as caught:
            search.similar(place)
        assert f"no document 'twin' in {where}; the id is in: {first}, {second}" == str(caught.value)
    with pytest.raises(UnknownDocumentError, match=f"^no document 'a' in index '{second}'; the id is in: {first}$"):
        search.similar(Place("a", second))
    with pytest.raises(UnknownDocumentError, match="no document 'pair' in the store"):
        search.similar(Place("pair"))


def test_an_alias_in_a_place_shows_what_its_filter_shows(made: Indices) -> None:
    name = made.name()
    put(in_index(made, name, create=True), record("mine", team="a"), record("yours", team="b"))
    team = made.alias(name, filter={"term": {"simdoc.facts": "team\0a"}})
    search = SimilaritySearch(in_index(made, name))

    assert ["yours"] == [hit.id for hit in search.similar(Place("mine", team)).hits]
    with pytest.raises(UnknownDocumentError):
        search.similar(Place("yours", team))


def test_a_data_stream_in_a_place_means_its_indices(made: Indices) -> None:
    stream = made.name()
    body = {"index_patterns": [stream], "data_stream": {}, "priority": 500, **component_template()}
    try:
        call(made.engine, "GET", "/_data_stream")
    except AssertionError as error:  # what there is of Elasticsearch in packages has none
        pytest.skip(f"this engine has no data streams: {error}")
    call(made.engine, "PUT", f"/_index_template/{stream}", body)
    try:
        for number, id in enumerate(("old", "new")):
            document = {"@timestamp": f"2026-01-0{number + 1}T00:00:00Z", "simdoc": ours()}
            call(made.engine, "PUT", f"/{stream}/_create/{id}?refresh=true", document)
            call(made.engine, "POST", f"/{stream}/_rollover")
        search = SimilaritySearch(in_index(made, stream))
        (hit,) = search.similar(Place("old", stream)).hits

        assert "new" == hit.id == search.similar(hit.place).query.id == search.similar(Place("new")).query.id
        assert hit.index not in (stream, search.similar(Place("new", stream)).hits[0].index)
    finally:
        call(made.engine, "DELETE", f"/_data_stream/{stream}")
        call(made.engine, "DELETE", f"/_index_template/{stream}")


def test_one_id_under_two_routings_is_two_documents(made: Indices) -> None:
    fields = component_template()["template"]["mappings"]["properties"]
    name = made.make({"properties": fields}, {"number_of_shards": 3})
    places = [Place("twin", name, routing) for routing in "abcdef"]
    for place in places:
        made.put(name, "twin", {"simdoc": ours()}, routing=place.routing or "")
    store = in_index(made, name)
    there = sorted((each.place for each in store.records(["twin"])), key=str)  # in a shard the last one replaced others
    search = SimilaritySearch(store)
    with pytest.raises(AmbiguousQueryError, match=f"is in {name} {len(there)} times; name one of the indices"):
        search.similar("twin")

    assert 2 <= len(there) <= 3
    for place in there:
        assert search.similar(place).hits == search.similar(Place("twin", None, place.routing)).hits
    assert sorted(there[1:], key=str) == sorted((hit.place for hit in search.similar(there[0]).hits), key=str)


def test_an_id_in_two_indices_is_not_got(made: Indices, twins: tuple[str, str, str]) -> None:
    first, second, alias = twins
    store = in_index(made, alias)
    with pytest.raises(StoreError, match="'twin' is in both"):
        store.get("twin")

    assert {Place("twin", first), Place("twin", second), Place("a", first)} == {
        each.place for each in store.records(["twin", "a", "unknown"])
    }


# --- fields ---


def test_hits_have_the_fields_of_an_application(made: Indices) -> None:
    name = article(made, title={"type": "text"}, origin={"properties": {"site": {"type": "keyword"}}})
    made.put(name, "source", {"simdoc": ours()})
    made.put(
        name, "full", {"simdoc": ours(), "title": "T", "origin": {"site": "n"}, "by": [{"name": "x"}, {"name": "y"}]}
    )
    made.put(name, "bare", {"simdoc": ours(), "title": None})
    made.put(name, "dotted", {"simdoc": ours(), "origin.site": ["s", "t"]})
    asked = ["title", "origin.site", "by.name", "origin"]
    found = SimilaritySearch(in_index(made, name)).similar("source", fields=asked).hits

    assert {
        "bare": {},
        "dotted": {"origin.site": ["s", "t"]},
        "full": {"title": "T", "origin.site": "n", "by.name": ["x", "y"], "origin": {"site": "n"}},
    } == {hit.id: hit.fields for hit in found}


def test_documents_that_are_named_by_a_field_have_places_by_it(made: Indices) -> None:
    name = article(made, uuid={"type": "keyword"})
    for number in range(3):
        made.put(name, f"_{number}", {"simdoc": ours(), "uuid": f"u{number}"})
    search = SimilaritySearch(in_index(made, name, id_field="uuid"))
    places = [hit.place for hit in search.similar("u0", fields=["uuid"]).hits]

    assert [Place("u1", name), Place("u2", name)] == places
    assert ["u0", "u2"] == [hit.id for hit in search.similar(places[0]).hits]


@pytest.mark.parametrize("kind", ["long", "keyword"])
def test_documents_may_be_named_by_numbers(made: Indices, kind: str) -> None:
    name = article(made, dbid={"type": kind})
    for number in (1234, 1235):
        made.put(name, f"_{number}", {"simdoc": ours(), "dbid": number})
    search = SimilaritySearch(in_index(made, name, id_field="dbid"))

    assert ["1235"] == [hit.id for hit in search.similar("FINGERPRINT:1234_20_80").hits]


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("nosuch", "no document has a field nosuch; name a field of ids: uuid$"),
        ("title", "title is text, by which no document is found as a whole; name a keyword field of ids"),
    ],
)
def test_a_field_that_can_name_no_document_is_said(made: Indices, field: str, reason: str) -> None:
    name = article(made, uuid={"type": "keyword"}, title={"type": "text"})

    with pytest.raises(LocationError, match=reason):
        in_index(made, name, id_field=field)


def test_a_page_of_any_kind_has_the_fields_of_an_application(made: Indices) -> None:
    name = article(made, uuid={"type": "keyword"}, by={"type": "object"})
    text = "five words and a few more, which both of them have, and nobody else does so far as we know"
    for action in fingerprint_actions(({"_id": f"_{n}", "body": text, "uuid": f"u{n}"} for n in range(4)), "body"):
        made.put(name, action.pop("_id"), {**action, "by": [{"name": "x"}, {"name": "y"}]}, routing="r")
    search = SimilaritySearch(in_index(made, name, id_field="uuid", text_field="body"))
    for page in (
        search.passages("u0", offset=1, size=1, fields=["uuid", "by.name"], min_words=5),
        search.similar("u0", offset=1, size=1, fields=["uuid", "by.name"], measure="containment"),
        search.similar("u0", offset=1, size=1, fields=["uuid", "by.name"]),
    ):
        (hit,) = page.hits

        assert ("u2", name, "r", {"uuid": "u2", "by.name": ["x", "y"]}) == (hit.id, hit.index, hit.routing, hit.fields)


def test_clauses_of_an_application_say_who_may_be_asked_about(made: Indices, twins: tuple[str, str, str]) -> None:
    first, second, alias = twins
    search = SimilaritySearch(in_index(made, alias))
    for index, other in ((first, second), (second, first)):
        mine: Any = [{"term": {"_index": index}}]

        assert Place("twin", other) in {hit.place for hit in search.similar("twin", source_filters=mine).hits}
        assert "twin" == search.similar(Place("twin", index), source_filters=mine).query.id
        for asked in (Place("twin", other), "a" if index == second else "b"):
            with pytest.raises(UnknownDocumentError):
                search.similar(asked, source_filters=mine)


# --- texts ---


def texts(store: Any, ids: list[str]) -> list[dict[str, str | None]]:
    """The texts that a store gives, on each of three ways."""
    by_id = {each.id: each.text for each in store.records(ids, text=True)}
    scanned = {each.id: each.text for each in store.scan(text=True)}
    return [by_id, scanned, {id: store.get(id, text=True).text for id in ids}]


def test_texts_of_an_application_are_read_from_its_field(made: Indices) -> None:
    name = article(made, title={"type": "text"}, page={"properties": {"body": {"type": "text"}}}, size={"type": "long"})
    made.put(name, "a", {"simdoc": ours(), "title": "A title", "page": {"body": ["one", "two"]}, "size": 3})
    made.put(name, "b", {"simdoc": ours(), "page.body": "three"})
    made.put(name, "c", {"simdoc": ours()})

    wanted: dict[Any, list[str | None]] = {
        None: [None, None, None],
        "page.body": ["one\ntwo", "three", None],
        ("title", "page.body"): ["A title\none\ntwo", "three", None],
    }
    for text_field, expected in wanted.items():
        store = in_index(made, name, text_field=text_field)

        assert [dict(zip("abc", expected, strict=True))] * 3 == texts(store, ["a", "b", "c"])
        assert [None] * 3 == [each.text for each in store.records(["a", "b", "c"])]
        assert (text_field is not None) == store.store_texts


def test_two_documents_of_an_application_are_compared(made: Indices) -> None:
    name = article(made, title={"type": "text"}, text={"type": "text"})
    for id in "ab":
        made.put(name, id, {"simdoc": ours(), "title": f"title {id} of five words", "text": "and five words of text"})
    asked = ("compare", "a", "b", "--store", f"{made.engine}/{name}", "--json")

    assert [5, 5] == [answer(*asked, "--text-field", "text")[each]["words"] for each in "ab"]
    assert 10 == answer(*asked, "--text-field", "title", "--text-field", "text")["a"]["words"]
    assert "'a' is stored without its text" in sentence(run(*asked))


def test_documents_of_an_application_share_passages(made: Indices) -> None:
    name = article(made, text={"type": "text"})
    for id in "ab":
        text = f"{words(0, 60)} {id}"
        (action,) = fingerprint_actions([{"_id": id, "_source": {"text": text}}], text_field="text")
        made.put(name, id, action["_source"])
    place = ("--store", f"{made.engine}/{name}", "--json")
    exact = answer("passages", "a", *place, "--text-field", "text")
    verified = answer("similar", "a", *place, "--text-field", "text")["hits"]
    estimated = answer("passages", "a", *place)["hits"]

    assert [("b", name, None, 60, "exact")] == [
        tuple(hit[key] for key in ("id", "index", "routing", "words", "kind")) for hit in exact["hits"]
    ]
    assert [("b", name, 56 / 58, "exact")] == [
        tuple(hit[key] for key in ("id", "index", "jaccard", "kind")) for hit in verified
    ]
    assert [("b", "estimated", [])] == [(hit["id"], hit["kind"], hit["passages"]) for hit in estimated]


def test_a_field_without_texts_is_refused(made: Indices) -> None:
    name = article(made, title={"type": "text"}, page={"properties": {"body": {"type": "text"}}}, size={"type": "long"})
    for text_field, said in {
        "size": "size is long, not text; name a field of text",
        "page": "page is an object; name a field of text in it: page.body",
        "titel": "no document has a field titel; name a field of text: page.body, title",
    }.items():
        with pytest.raises(LocationError, match=said):
            in_index(made, name, text_field=text_field)
    made.put(name, "a", {"simdoc": ours(), "page": {"body": 7}})
    read = in_index(made, name, text_field="page.body").get("a", text=True)

    assert (None, 8) == (read.text, len(read.codes))
    assert "has no text that can be read (the field page.body holds int, not text" in read.fault


def test_an_index_of_our_own_has_its_texts_in_body(made: Indices) -> None:
    store = in_index(made, made.name(), create=True)
    put(store, record("a", text="some words"))
    with pytest.raises(LocationError, match="has its texts in body; leave out --text-field"):
        in_index(made, store.index, text_field="title")

    assert [{"a": "some words"}] * 3 == texts(in_index(made, store.index, text_field="body"), ["a"])


def test_texts_that_are_too_large_together_are_read_apart(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    store = in_index(made, made.name(), create=True)
    put(store, *(record(f"{n}", text="x" * 20_000) for n in range(20)))
    monkeypatch.setattr("simdoc_search.stores.remote.clients.LARGEST_ANSWER", 100_000)
    ids = [f"{n}" for n in range(20)]

    assert set(ids) == {each.id for each in store.records(ids, text=True) if len(each.text or "") == 20_000}
    monkeypatch.setattr("simdoc_search.stores.remote.clients.LARGEST_ANSWER", 10_000)
    with pytest.raises(errors.TooLargeError):
        list(store.records(ids, text=True))


# --- the field of the fingerprints ---


def test_every_command_that_asks_takes_the_field_of_the_fingerprints(made: Indices) -> None:
    name = made.make({"properties": {"body": {"type": "text"}}})
    for id, end in (("a", 200), ("b", 190)):
        made.put(name, id, {"body": words(0, end)})
    url = f"{made.engine}/{name}"
    output("backfill", url, "--text-field", "body", "--field", "fp")
    store = ["--store", url, "--field", "fp"]

    assert ["b"] == [hit["id"] for hit in answer("similar", "a", *store)["hits"]]
    assert ["b"] == [hit["id"] for hit in answer("passages", "a", *store)["hits"]]
    assert {"a", "b"} == {pair[name] for pair in answer("duplicates", *store)["pairs"] for name in ("a", "b")}
    assert words(0, 200) == answer("show", "a", *store)["text"]
    assert "190 words" in output("compare", "a", "b", *store)
    assert "fp.tokens" in output("explain", "a_20", "--dsl", *store)
    assert ["a", "b"] == sorted(json.loads(line)["id"] for line in output("list", *store, "--json").splitlines())
    assert 2 == answer("info", *store)["documents"]
    assert 2 == answer("languages", *store)["documents"]


def test_a_local_store_has_no_object_field(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "store")]
    output("index", "-", *store, stdin='{"id": "a", "text": "five words or a few more"}\n')
    result = run("similar", "a", *store, "--field", "fp")

    assert result.exit_code == 2
    assert "is a local store, which has no such field; leave out --field" in result.stderr
