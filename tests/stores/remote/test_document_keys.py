"""Ids that several documents have, ids in a field, and texts and other fields of an application's documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from simdoc_search import DocumentKey, SearchResult, SimilaritySearch
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.errors import AmbiguousQueryError, LocationError, StoreError, UnknownDocumentError
from simdoc_search.stores.remote import errors
from simdoc_search.stores.remote.texts import build_text_fields_mapping
from tests.support.cli import answer, output, run, sentence, words
from tests.support.http_server import TempIndices, indices
from tests.support.remote import in_index, mapping, ours
from tests.support.stores import put, record

# --- one id in two indices ---


class Twins(NamedTuple):
    """Two indices that both have documents `twin` and `dir/pair.txt`, and an alias for both."""

    temp_indices: TempIndices
    first: str
    second: str
    alias: str

    @property
    def search(self) -> SimilaritySearch:
        """A search in both indices."""
        return SimilaritySearch(in_index(self.temp_indices, self.alias))


@pytest.fixture(scope="module")
def twins(opensearch_url: str) -> Iterator[Twins]:
    """Two indices with the same ids, which no test changes."""
    with indices(opensearch_url) as temp_indices:
        first, second = sorted([temp_indices.name(), temp_indices.name()])
        for name, other in ((first, "a"), (second, "b")):
            twin = record("twin", [*range(8), 9 if other == "b" else 8])
            put(in_index(temp_indices, name, create=True), twin, record("dir/pair.txt", range(20, 28)), record(other))
        yield Twins(temp_indices, first, second, temp_indices.alias(first, second))


def test_two_documents_with_the_same_id_are_two_hits(twins: Twins) -> None:
    expected = [DocumentKey("b", twins.second), DocumentKey("twin", twins.first), DocumentKey("twin", twins.second)]

    for result in twins.search.similar_many(["a_20", "a_20_80", "a"]):
        assert isinstance(result, SearchResult)
        assert expected == [hit.key for hit in result.hits]


def test_only_the_query_for_an_ambiguous_id_fails(twins: Twins) -> None:
    results = list(twins.search.similar_many(["twin_20", "pair", "./dir/pair.txt", "a", "nobody"]))
    names = f"'{twins.first}/twin', '{twins.second}/twin'"
    message = f"2 documents have the id 'twin'; choose one of them: {names}"

    assert [AmbiguousQueryError] * 3 + [SearchResult, UnknownDocumentError] == [type(result) for result in results]
    assert message == str(results[0])
    assert message.replace("twin", "dir/pair.txt") == str(results[1]) == str(results[2])
    with pytest.raises(StoreError, match="2 documents have the id 'twin'; choose"):
        in_index(twins.temp_indices, twins.alias).get("twin")


def test_the_command_line_shows_the_indices_of_ambiguous_hits(twins: Twins) -> None:
    store = f"{twins.temp_indices.engine}/{twins.alias}"
    result = run("similar", "--all-from", "-", "--store", store, "--json", stdin="twin\na\n")
    failed, answered = json.loads(result.stdout)["results"]
    keys = [(hit["id"], hit["index"], hit["routing"]) for hit in answered["hits"]]
    lines = output("similar", "a", "--store", store).splitlines()[1:4]

    assert (1, ["error"]) == (result.exit_code, list(failed.keys() - {"fingerprint"}))
    assert [("b", twins.second, None), ("twin", twins.first, None), ("twin", twins.second, None)] == keys
    assert ["b", f"{twins.first}/twin", f"{twins.second}/twin"] == [line.split(" %  ")[1] for line in lines]
    of_one = output("similar", f"{twins.first}/twin", "--store", store)
    assert f"  {twins.second}/twin\n" in of_one
    assert "  a\n" in of_one


def test_a_key_selects_one_of_two_documents_with_the_same_id(twins: Twins) -> None:
    for index, other in ((twins.first, twins.second), (twins.second, twins.first)):
        keys = {hit.key for hit in twins.search.similar(DocumentKey("twin", index), overlap=0.5).hits}

        assert {DocumentKey("twin", other), DocumentKey("a", twins.first), DocumentKey("b", twins.second)} == keys
    itself = twins.search.similar(DocumentKey("twin", twins.first), overlap=1, include_self=True).hits

    assert [DocumentKey("twin", twins.first)] == [hit.key for hit in itself]


def test_an_index_before_an_id_selects_a_document(twins: Twins) -> None:
    """It works in every command that takes an id, and respects the filters of the query document."""
    store, first, second = f"{twins.temp_indices.engine}/{twins.alias}", f"{twins.first}/twin", f"{twins.second}/twin"
    expected = [DocumentKey("twin", twins.second), DocumentKey("a", twins.first), DocumentKey("b", twins.second)]
    for query in (f"{first}_20", f'"{first}"_20_80', first):
        assert sorted(expected, key=str) == sorted((hit.key for hit in twins.search.similar(query).hits), key=str)

    assert output("explain", second, "--store", store).startswith(f'readings   "{second}"')
    assert f"document   twin\nindex      {twins.second}\n" in output("show", second, "--store", store)
    for command in (("passages", first), ("compare", first, second)):
        assert "'twin'" in run(*command, "--store", store).stderr  # it has no text
    with pytest.raises(UnknownDocumentError):
        twins.search.similar(f"{twins.first}/b")
    with pytest.raises(UnknownDocumentError):
        twins.search.similar(first, query_document_filters=[{"term": {"_index": twins.second}}])


def test_a_key_may_name_an_alias_or_no_index(twins: Twins) -> None:
    only_first = twins.temp_indices.alias(twins.first)
    for index in (None, twins.alias, only_first, f"{twins.first[:-1]}*"):
        assert ["b", "twin", "twin"] == [hit.id for hit in twins.search.similar(DocumentKey("a", index)).hits]
    keys = {hit.key for hit in twins.search.similar(DocumentKey("twin", only_first)).hits}
    assert {DocumentKey("a", twins.first), DocumentKey("b", twins.second), DocumentKey("twin", twins.second)} == keys
    for index in (None, twins.alias, f"{twins.first},{twins.second}"):
        with pytest.raises(AmbiguousQueryError, match="2 documents have the id 'twin'; choose one of them"):
            twins.search.similar(DocumentKey("twin", index))


@pytest.mark.parametrize(
    ("key", "where"),
    [
        (("twin", "elsewhere"), "index 'elsewhere'; this id exists in: {0}, {1}"),
        (("twin", "Not a name"), "index 'Not a name'; this id exists in: {0}, {1}"),
        (("twin", None, "x"), "the index with routing 'x'; this id exists in: {0}, {1}"),
        (("pair",), "the index"),
    ],
)
def test_the_error_for_an_unknown_key_lists_the_indices_with_the_id(twins: Twins, key: Any, where: str) -> None:
    with pytest.raises(UnknownDocumentError) as caught:
        twins.search.similar(DocumentKey(*key))

    assert str(caught.value).startswith(f"no document '{key[0]}' in " + where.format(twins.first, twins.second))


def test_filters_of_an_application_limit_the_documents_that_may_be_queries(twins: Twins) -> None:
    filters: Any = [{"term": {"_index": twins.first}}]

    assert DocumentKey("twin", twins.second) in {
        hit.key for hit in twins.search.similar("twin", query_document_filters=filters).hits
    }
    for query in (DocumentKey("twin", twins.second), "b"):
        with pytest.raises(UnknownDocumentError):
            twins.search.similar(query, query_document_filters=filters)


def test_an_alias_in_a_key_keeps_its_filter(temp_indices: TempIndices) -> None:
    name = temp_indices.name()
    put(in_index(temp_indices, name, create=True), record("mine", team="a"), record("yours", team="b"))
    team = temp_indices.alias(name, filter={"term": {"simdoc.facts": "team\0a"}})
    search = SimilaritySearch(in_index(temp_indices, name))

    assert ["yours"] == [hit.id for hit in search.similar(DocumentKey("mine", team)).hits]
    with pytest.raises(UnknownDocumentError):
        search.similar(DocumentKey("yours", team))


def test_an_id_with_two_routings_is_two_documents(temp_indices: TempIndices) -> None:
    name = temp_indices.make(mapping(), {"number_of_shards": 3})
    for routing in "abcdef":
        temp_indices.put(name, "twin", {"simdoc": ours()}, routing=routing)
    store = in_index(temp_indices, name)
    keys = sorted((document.key for document in store.records(["twin"])), key=str)  # at most one from each shard
    search = SimilaritySearch(store)

    assert 2 <= len(keys) <= 3
    with pytest.raises(
        AmbiguousQueryError, match=f"{len(keys)} documents have the id 'twin', all in {name}; choose one of them with"
    ):
        search.similar("twin")
    for key in keys:
        hits = search.similar(key).hits
        assert hits == search.similar(DocumentKey("twin", None, key.routing)).hits
        assert {*keys} - {key} == {hit.key for hit in hits}


# --- fields ---


def test_hits_have_the_fields_of_an_application(temp_indices: TempIndices) -> None:
    name = temp_indices.make(mapping(title={"type": "text"}, origin={"properties": {"site": {"type": "keyword"}}}))
    documents: dict[str, Any] = {
        "source": {},
        "full": {"title": "T", "origin": {"site": "n"}, "by": [{"name": "x"}, {"name": "y"}]},
        "bare": {"title": None},
        "dotted": {"origin.site": ["s", "t"]},
    }
    for id, document in documents.items():
        temp_indices.put(name, id, {"simdoc": ours(), **document})
    fields = ["title", "origin.site", "by.name", "origin"]
    hits = SimilaritySearch(in_index(temp_indices, name)).similar("source", fields=fields).hits

    assert {
        "bare": {},
        "dotted": {"origin.site": ["s", "t"]},
        "full": {"title": "T", "origin.site": "n", "by.name": ["x", "y"], "origin": {"site": "n"}},
    } == {hit.id: hit.fields for hit in hits}


@pytest.mark.parametrize("kind", ["long", "keyword"])
def test_ids_may_be_numbers_in_a_field(temp_indices: TempIndices, kind: str) -> None:
    name = temp_indices.make(mapping(key={"type": kind}))
    for number in range(1234, 1237):
        temp_indices.put(name, f"_{number}", {"simdoc": ours(), "key": number})
    search = SimilaritySearch(in_index(temp_indices, name, id_field="key"))
    keys = [hit.key for hit in search.similar("1234").hits]

    assert [DocumentKey("1235", name), DocumentKey("1236", name)] == keys
    assert ["1234", "1236"] == [hit.id for hit in search.similar(keys[0]).hits]
    assert ["1235", "1236"] == [hit.id for hit in search.similar("FINGERPRINT:1234_20_80").hits]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("nosuch", "no document has a field nosuch; choose a field with ids: uuid$"),
        ("title", "the field title has the type text, .*; choose a keyword field with ids"),
    ],
)
def test_a_field_that_cannot_contain_ids_is_refused(temp_indices: TempIndices, field: str, message: str) -> None:
    name = temp_indices.make(mapping(uuid={"type": "keyword"}, title={"type": "text"}))

    with pytest.raises(LocationError, match=message):
        in_index(temp_indices, name, id_field=field)


def test_a_page_of_each_kind_of_hit_has_ids_and_fields(temp_indices: TempIndices) -> None:
    name = temp_indices.make(mapping(uuid={"type": "keyword"}, by={"type": "object"}))
    text = "five words and a few more, which both of them have, and nobody else does so far as we know"
    for action in fingerprint_actions(({"_id": f"_{n}", "body": text, "uuid": f"u{n}"} for n in range(4)), "body"):
        temp_indices.put(name, action.pop("_id"), {**action, "by": [{"name": "x"}, {"name": "y"}]}, routing="r")
    search = SimilaritySearch(in_index(temp_indices, name, id_field="uuid", text_field="body"))
    for page in (
        search.passages("u0", offset=1, size=1, fields=["uuid", "by.name"], min_words=5),
        search.similar("u0", offset=1, size=1, fields=["uuid", "by.name"], measure="containment"),
        search.similar("u0", offset=1, size=1, fields=["uuid", "by.name"]),
    ):
        (hit,) = page.hits

        assert ("u2", name, "r", {"uuid": "u2", "by.name": ["x", "y"]}) == (hit.id, hit.index, hit.routing, hit.fields)


# --- texts ---

FIELDS: dict[str, Any] = {
    "title": {"type": "text"},
    "page": {"properties": {"body": {"type": "text"}}},
    "size": {"type": "long"},
}


def texts(store: Any, ids: list[str]) -> list[dict[str, str | None]]:
    """Return the texts by id, read in three ways: together, in a scan, and one by one."""
    by_id = {document.id: document.text for document in store.records(ids, load={"text"})}
    scanned = {document.id: document.text for document in store.scan(load={"text"})}
    return [by_id, scanned, {id: store.get(id, load={"text"}).text for id in ids}]


def test_texts_of_an_application_are_read_from_its_fields(temp_indices: TempIndices) -> None:
    name = temp_indices.make(mapping(**FIELDS))
    temp_indices.put(name, "a", {"simdoc": ours(), "title": "A title", "page": {"body": ["one", "two"]}, "size": 3})
    temp_indices.put(name, "b", {"simdoc": ours(), "page.body": "three"})
    temp_indices.put(name, "c", {"simdoc": ours()})

    expected: dict[Any, list[str | None]] = {
        None: [None, None, None],
        "page.body": ["one\ntwo", "three", None],
        ("title", "page.body"): ["A title\none\ntwo", "three", None],
    }
    for text_field, read in expected.items():
        store = in_index(temp_indices, name, text_field=text_field)

        assert [dict(zip("abc", read, strict=True))] * 3 == texts(store, ["a", "b", "c"])
        assert [None] * 3 == [document.text for document in store.records(["a", "b", "c"])]
        assert (text_field is not None) == store.has_texts


@pytest.mark.parametrize(
    ("text_field", "message"),
    [
        ("size", "size has the type long; choose a text field"),
        ("page", "page is an object; choose a text field in it: page.body"),
        ("titel", "no document has a field titel; choose a text field: page.body, title"),
    ],
)
def test_a_field_without_texts_is_refused(temp_indices: TempIndices, text_field: str, message: str) -> None:
    name = temp_indices.make(mapping(**FIELDS))
    with pytest.raises(LocationError, match=message):
        in_index(temp_indices, name, text_field=text_field)


def test_a_field_is_unknown_in_an_index_that_rejects_new_fields(temp_indices: TempIndices) -> None:
    name = temp_indices.make({**mapping(**FIELDS), "dynamic": "strict"})
    with pytest.raises(LocationError, match=r"a field titel; choose a text field: page\.body, title"):
        in_index(temp_indices, name, text_field="titel")


def test_another_text_field_than_that_of_the_fingerprints_is_refused(temp_indices: TempIndices) -> None:
    """Otherwise all documents would seem to have changed since they were indexed."""
    described = mapping(**FIELDS)
    fields = described["properties"]["simdoc"]["properties"]
    fields["text_hash"] = build_text_fields_mapping(fields["text_hash"], ["page.body"])
    name = temp_indices.make(described)
    with pytest.raises(LocationError, match=r"were computed from page\.body, not title"):
        in_index(temp_indices, name, text_field="title")

    assert in_index(temp_indices, name, text_field="page.body").has_texts


def test_a_text_that_is_not_a_string_is_a_fault_of_its_document(temp_indices: TempIndices) -> None:
    name = temp_indices.make(mapping(**FIELDS))
    temp_indices.put(name, "a", {"simdoc": ours(), "page": {"body": 7}})
    document = in_index(temp_indices, name, text_field="page.body").get("a", load={"text"})

    assert (None, 8) == (document.text, len(document.token_ids))
    assert "has no text that can be read (the field page.body contains a number, not text" in document.fault


def test_our_own_index_has_its_texts_in_body(temp_indices: TempIndices) -> None:
    store = in_index(temp_indices, temp_indices.name(), create=True)
    put(store, record("a", text="some words"))
    with pytest.raises(LocationError, match="the texts are in the field `body`; omit --text-field"):
        in_index(temp_indices, store.index, text_field="title")

    assert [{"a": "some words"}] * 3 == texts(in_index(temp_indices, store.index, text_field="body"), ["a"])


def test_commands_use_the_texts_of_an_application(temp_indices: TempIndices) -> None:
    name = temp_indices.make(mapping(title={"type": "text"}, text={"type": "text"}))
    for id in "ab":
        document = {"title": f"title {id} of five words", "text": f"{words(0, 60)} {id}"}
        (action,) = fingerprint_actions([{"_id": id, "_source": document}], text_field="text")
        temp_indices.put(name, id, action["_source"])
    store = ("--store", f"{temp_indices.engine}/{name}", "--json")
    text = (*store, "--text-field", "text")
    exact = answer("passages", "a", *text)["hits"]
    verified = answer("similar", "a", *text)["hits"]
    estimated = answer("passages", "a", *store)["hits"]

    assert [61, 61] == [answer("compare", "a", "b", *text)[id]["word_count"] for id in "ab"]
    assert 66 == answer("compare", "a", "b", *store, "--text-field", "title", "--text-field", "text")["a"]["word_count"]
    assert "does not have the text of 'a'" in sentence(run("compare", "a", "b", *store))
    assert [("b", name, 60, "exact")] == [(hit["id"], hit["index"], hit["word_count"], hit["kind"]) for hit in exact]
    assert [("b", 56 / 58, "exact")] == [(hit["id"], hit["jaccard"], hit["kind"]) for hit in verified]
    assert [("b", "estimated", [])] == [(hit["id"], hit["kind"], hit["passages"]) for hit in estimated]


def test_texts_that_are_too_large_for_one_answer_are_read_in_several_answers(
    temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = in_index(temp_indices, temp_indices.name(), create=True)
    put(store, *(record(f"{n}", text="x" * 20_000) for n in range(20)))
    monkeypatch.setattr("simdoc_search.stores.remote.clients.MAX_RESPONSE_BYTES", 100_000)
    ids = [f"{n}" for n in range(20)]

    assert set(ids) == {document.id for document in store.records(ids, load={"text"}) if document.text == "x" * 20_000}
    monkeypatch.setattr("simdoc_search.stores.remote.clients.MAX_RESPONSE_BYTES", 10_000)
    with pytest.raises(errors.ResponseTooLargeError):
        list(store.records(ids, load={"text"}))


# --- the fingerprint field ---


def test_each_query_command_accepts_the_fingerprint_field(temp_indices: TempIndices) -> None:
    name = temp_indices.make({"properties": {"body": {"type": "text"}}})
    for id, end in (("a", 200), ("b", 190)):
        temp_indices.put(name, id, {"body": words(0, end)})
    url = f"{temp_indices.engine}/{name}"
    output("backfill", url, "--text-field", "body", "--field", "fp")
    store = ["--store", url, "--field", "fp"]

    assert ["b"] == [hit["id"] for hit in answer("similar", "a", *store)["hits"]]
    assert ["b"] == [hit["id"] for hit in answer("passages", "a", *store)["hits"]]
    assert {"a", "b"} == {pair[name] for pair in answer("duplicates", *store)["pairs"] for name in ("a", "b")}
    assert words(0, 200) == answer("show", "a", *store)["text"]
    assert "190 words" in output("compare", "a", "b", *store)
    assert "fp.tokens" in output("explain", "a_20", "--dsl", *store)
    assert ["a", "b"] == sorted(json.loads(line)["id"] for line in output("list", *store, "--json").splitlines())
    assert (2, ["body"]) == tuple(answer("info", *store)[name] for name in ("document_count", "text_fields"))
    assert "texts      in body\n" in output("info", *store)
    assert 2 == answer("languages", *store)["document_count"]


def test_a_local_store_refuses_a_fingerprint_field(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "store")]
    output("index", "-", *store, stdin='{"id": "a", "text": "five words or a few more"}\n')
    result = run("similar", "a", *store, "--field", "fp")

    assert result.exit_code == 2
    assert "is a local index, which does not support --field; omit this option" in result.stderr
