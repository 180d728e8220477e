"""Fingerprint fields that others have written: malformed ones are reported, and the other documents are found."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import NoFingerprintError
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.records import read_token_ids, to_record
from tests.support.backfill import backfill
from tests.support.cli import answer, output, run
from tests.support.engines import call
from tests.support.http_server import TempIndices
from tests.support.marks import articles, mark
from tests.support.pipeline import expected
from tests.support.remote import mapping
from tests.support.stores import put, record, tokens

TOKENS, HALF_OF_THE_TOKENS = " ".join(tokens(range(8))), " ".join(tokens(range(4)))
GOOD = {"tokens": TOKENS, "shingles": 8, "buckets": 8}

UNREADABLE: list[tuple[dict[str, Any], str]] = [
    ({"simdoc": {**GOOD, "tokens": [HALF_OF_THE_TOKENS, TOKENS]}}, "has 2 values in simdoc.tokens"),
    ({"simdoc": [GOOD, GOOD]}, "has 2 values in simdoc.tokens"),
    ({"simdoc": GOOD, "simdoc.tokens": TOKENS}, "has 2 values in simdoc.tokens"),
    ({"simdoc": {**GOOD, "tokens": f"{TOKENS} foreign"}}, "has invalid tokens ('foreign' is not a token of"),
    ({"simdoc": {**GOOD, "tokens": f"{TOKENS} !!!é"}}, "has invalid tokens"),
    ({"simdoc": {**GOOD, "tokens": " ".join([TOKENS] * 10)}}, "has repeated tokens"),
]

READABLE: list[dict[str, Any]] = [
    {"simdoc": [{"tokens": [TOKENS], "shingles": [8], "buckets": [8]}]},
    {"simdoc.tokens": TOKENS, "simdoc.shingles": 8, "simdoc.buckets": 8},
    {"simdoc": {**GOOD, "tokens": [TOKENS, None]}},
    {"simdoc": {**GOOD, "shingles": None}},
    {"simdoc": {**GOOD, "shingles": "8"}},
    {"simdoc": {**GOOD, "tokens": f"  {TOKENS}\n"}},
]


def test_unreadable_documents_are_reported_and_the_others_are_found(temp_indices: TempIndices) -> None:
    name = temp_indices.make(mapping())
    for id in ("good", "copy"):
        temp_indices.put(name, id, {"simdoc": GOOD})
    for number, (source, _) in enumerate(UNREADABLE):
        temp_indices.put(name, f"bad{number}", source)
    search = SimilaritySearch(open_store(f"{temp_indices.engine}/{name}"))
    for query in ("good", "good_50", '"good"_50_80'):
        result = search.similar(query)
        reasons = {document.id: document.reason for document in result.left_out}

        assert [("copy", 1.0)] == [(hit.id, hit.overlap) for hit in result.hits]
        assert {f"bad{number}" for number in range(len(UNREADABLE))} == reasons.keys()
        assert all(reason in reasons[f"bad{number}"] for number, (_, reason) in enumerate(UNREADABLE))
    first, bad, last = search.similar_many(["good", "bad5", "copy"])

    assert [["copy"], ["good"]] == [[hit.id for hit in result.hits] for result in (first, last)]  # type: ignore[union-attr]
    assert isinstance(bad, NoFingerprintError)
    assert str(bad).startswith("the document 'bad5' has repeated tokens")
    url = f"{temp_indices.engine}/{name}"
    shown, given = run("similar", "good", "--store", url), run("similar", "good", "--store", url, "--json")
    lines = shown.stderr.splitlines()
    assert lines[1].startswith("left out: the document 'bad")
    assert (5, "left out: 3 more documents; --json lists all of them") == (len(lines), lines[-1])
    assert 6 == len(json.loads(given.stdout)["left_out"])


@pytest.mark.parametrize("source", READABLE, ids=lambda source: json.dumps(source)[:60])
def test_forms_that_are_equal_to_an_engine_are_read_alike(temp_indices: TempIndices, source: dict[str, Any]) -> None:
    name = temp_indices.make(mapping())
    temp_indices.put(name, "good", {"simdoc": GOOD})
    temp_indices.put(name, "other", source)
    search = SimilaritySearch(open_store(f"{temp_indices.engine}/{name}"))
    results = [search.similar("good"), search.similar('"other"_50_80')]

    assert [["other"], ["good"]] == [[hit.id for hit in result.hits] for result in results]
    assert [1.0] * 2 == [result.hits[0].overlap for result in results]
    assert [()] * 2 == [result.left_out for result in results]


def test_a_hit_without_tokens_in_its_source_is_a_fault() -> None:
    assert "has no simdoc.tokens in its _source" == read_token_ids({"simdoc": {"shingles": 7}}, field="simdoc")


def test_malformed_parts_of_our_own_documents_are_faults(temp_indices: TempIndices) -> None:
    name = temp_indices.name()
    store = open_store(f"{temp_indices.engine}/{name}", create=True)
    changes: dict[str, Any] = {"metadata": "text", "body": ["a", "b"]}
    put(store, record("good"), *map(record, changes))
    for id, value in changes.items():
        temp_indices.put(name, id, {"simdoc": GOOD, id: value})
    faults = {document.id: document.fault for document in store.scan(load={"text"})}

    assert "" == faults["good"]
    assert all(id in faults[id] for id in changes)
    assert [] == [digest.id for digest in store.digests(changes) if digest.digest]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(TOKENS) | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["tokens", "shingles", "digest", "origin", "root", "size", "mtime_ns", "prefix", "x.y"]),
            inner,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["simdoc", "simdoc.tokens", "simdoc.shingles", "simdoc.origin", "metadata", "body"]), VALUES
    )
)
def test_any_document_is_read_as_a_record(source: dict[str, Any]) -> None:
    document = to_record(DocumentKey("a"), source, field="simdoc")
    token_ids = document.token_ids.tolist()

    assert token_ids == sorted(set(token_ids))
    assert isinstance(document.metadata, dict)
    assert document.text is None or isinstance(document.text, str)
    assert 0 <= document.shingle_count < 2**31
    assert "\n" not in document.fault


TEXT = "a text of an application with some more words than five"


@pytest.mark.parametrize("origin", ["template", "backfill", "marks", "index"])
def test_foreign_keys_in_the_fingerprint_field_are_not_mapped(temp_indices: TempIndices, origin: str) -> None:
    engine, _ = connect(temp_indices.engine, expects_index=False)
    name = articles(temp_indices) if origin == "marks" else temp_indices.name()
    if origin == "template":
        call(temp_indices.engine, "PUT", f"/{name}", {"mappings": mapping()})
    elif origin == "backfill":
        temp_indices.put(name, "first", {"body": TEXT})
        assert 1 == backfill(engine, name).updated_count
    elif origin == "marks":
        mark(temp_indices, name, overlap=0.5)
    else:
        open_store(f"{temp_indices.engine}/{name}", create=True).close()
    path = f"/{name}/_mapping"
    before = call(temp_indices.engine, "GET", path)[name]["mappings"]["properties"]["simdoc"]
    foreign: dict[str, Any] = {f"key{number}": {"below": number} for number in range(20)}
    temp_indices.put(name, "other", {"body": TEXT, "simdoc": {**expected(TEXT), **foreign}})

    assert before == call(temp_indices.engine, "GET", path)[name]["mappings"]["properties"]["simdoc"]
    assert "false" == before["dynamic"]
    engine.close()


def test_a_document_is_shown_with_the_fields_of_the_application(temp_indices: TempIndices) -> None:
    """The text and the fingerprint are not among them. A long value is shortened, but not in JSON."""
    index = temp_indices.make(mapping())
    own = {"title": "Kettle", "author": {"name": "Ann Bo"}, "tags": ["a", "b"], "html": "word " * 100}
    temp_indices.put(index, "good", {"simdoc": GOOD, "body": "some text", **own})
    arguments = ["show", "good", "--store", f"{temp_indices.engine}/{index}", "--text-field", "body"]
    shown = output(*arguments).splitlines()

    assert ["author.name Ann Bo", "tags        a, b", "title       Kettle"] == [*shown[3:4], *shown[5:7]]
    assert shown[4].startswith("html        word word")
    assert len(shown[4]) < 100
    assert {"author.name": "Ann Bo", **{name: own[name] for name in ("title", "tags", "html")}} == (
        answer(*arguments)["metadata"]
    )
