"""Documents that others wrote into our field: what cannot be read is left out and named, and breaks nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.documents import Place
from simdoc_search.errors import NoFingerprintError
from simdoc_search.stores.remote.records import codes_of, to_record
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import run
from tests.support.http_server import Indices
from tests.support.stores import put, record, tokens

T, HALF = " ".join(tokens(range(8))), " ".join(tokens(range(4)))
GOOD = {"tokens": T, "shingles": 8, "buckets": 8}


def filled(made: Indices, **documents: Any) -> str:
    """An application's index with our field and these documents."""
    name = made.make({"properties": component_template()["template"]["mappings"]["properties"]})
    for id, source in documents.items():
        made.put(name, id, source)
    return name


UNREADABLE = [
    ({"simdoc": {**GOOD, "tokens": [HALF, T]}}, "has 2 values in simdoc.tokens"),
    ({"simdoc": [GOOD, GOOD]}, "has 2 values in simdoc.tokens"),
    ({"simdoc": GOOD, "simdoc.tokens": T}, "has 2 values in simdoc.tokens"),
    ({"simdoc": {**GOOD, "tokens": f"{T} foreign"}}, "has tokens that are none of ours ('foreign' is not a token of"),
    ({"simdoc": {**GOOD, "tokens": f"{T} é漢"}}, "has tokens that are none of ours"),
    ({"simdoc": {**GOOD, "tokens": f"{T} !!!é"}}, "has tokens that are none of ours"),
    ({"simdoc": {**GOOD, "tokens": " ".join([T] * 10)}}, "has tokens that are there twice"),
]

READABLE = [
    {"simdoc": [GOOD]},
    {"simdoc": {**GOOD, "tokens": [T]}},
    {"simdoc": [{"tokens": [T], "shingles": [8], "buckets": [8]}]},
    {"simdoc.tokens": T, "simdoc.shingles": 8, "simdoc.buckets": 8},
    {"simdoc": {**GOOD, "tokens": [T, None]}},
    {"simdoc": {**GOOD, "shingles": None}},
    {"simdoc": {**GOOD, "shingles": "8"}},
    {"simdoc": {**GOOD, "tokens": f"  {T}\n"}},
]


@pytest.mark.parametrize("query", ["good", "good_50", '"good"_50_80'])
@pytest.mark.parametrize(("source", "reason"), UNREADABLE, ids=[each[1] for each in UNREADABLE])
def test_what_cannot_be_compared_is_left_out_and_named(made: Indices, source: Any, reason: str, query: str) -> None:
    """The other hits are there as they are; nothing overlaps by more than all of it."""
    name = filled(made, good={"simdoc": GOOD}, copy={"simdoc": GOOD}, bad=source)
    result = SimilaritySearch(open_store(f"{made.engine}/{name}")).similar(query)

    assert [("copy", 1.0)] == [(hit.id, hit.overlap) for hit in result.hits]
    assert ["bad"] == [each.id for each in result.left_out]
    assert reason in result.left_out[0].reason


@pytest.mark.parametrize("source", READABLE, ids=lambda source: json.dumps(source)[:60])
def test_what_means_the_same_is_read_as_the_same(made: Indices, source: Any) -> None:
    """Dots in a key are an object, and a list of one value is this value, as they are for the engine."""
    name = filled(made, good={"simdoc": GOOD}, other=source)
    search = SimilaritySearch(open_store(f"{made.engine}/{name}"))
    asked = [search.similar("good"), search.similar("other"), search.similar('"other"_50_80')]

    assert [["other"], ["good"], ["good"]] == [[hit.id for hit in each.hits] for each in asked]
    assert [1.0] * 3 == [each.hits[0].overlap for each in asked]
    assert [()] * 3 == [each.left_out for each in asked]


def test_one_document_that_cannot_be_read_fails_its_own_query_alone(made: Indices) -> None:
    """Among many that are asked at once."""
    name = filled(made, good={"simdoc": GOOD}, copy={"simdoc": GOOD}, bad=UNREADABLE[-1][0])
    search = SimilaritySearch(open_store(f"{made.engine}/{name}"))
    first, bad, last = search.similar_many(["good", "bad", "copy"])

    assert ["copy"] == [hit.id for hit in first.hits]  # type: ignore[union-attr]
    assert ["good"] == [hit.id for hit in last.hits]  # type: ignore[union-attr]
    assert isinstance(bad, NoFingerprintError)
    assert str(bad).startswith("the document 'bad' has tokens that are there twice")


def test_a_hit_without_tokens_in_its_source_is_named() -> None:
    """The engine found it by its tokens, so there must be some: nothing is compared with nothing."""
    assert "has no simdoc.tokens in its _source" == codes_of({"simdoc": {"shingles": 7}}, 4, field="simdoc")


@pytest.mark.parametrize("ours", [{"metadata": "text"}, {"metadata": [{}, {}]}, {"body": 7}, {"body": ["a", "b"]}])
def test_a_store_is_read_past_what_others_changed(made: Indices, ours: Any) -> None:
    """Metadata and texts of another kind are empty, and the record says so."""
    name = made.name()
    store = open_store(f"{made.engine}/{name}", create=True)
    put(store, record("good"), record("changed"))
    made.put(name, "changed", {"simdoc": GOOD, **ours})
    (field,) = ours
    by_id = {each.id: each for each in store.scan(text=True)}

    assert ("", True) == (by_id["good"].fault, field in by_id["changed"].fault)
    assert [] == [each.id for each in store.digests(["changed"]) if each.digest]


def test_people_are_told_what_was_left_out(made: Indices) -> None:
    """On stderr, with the first few; in JSON all."""
    bad = {f"bad{n}": UNREADABLE[-1][0] for n in range(5)}
    name = filled(made, good={"simdoc": GOOD}, copy={"simdoc": GOOD}, **bad)
    url = f"{made.engine}/{name}"
    shown, given = run("similar", "good", "--store", url), run("similar", "good", "--store", url, "--json")
    lines = shown.stderr.splitlines()

    assert "copy" in shown.stdout
    assert "note: 1 overlap estimated, as the store has no text there" == lines[0]
    assert "left out: the document 'bad0' has tokens that are there twice; make its fingerprint again" == lines[1]
    assert (5, "left out: 2 more like these; --json names them") == (len(lines), lines[-1])
    assert sorted(bad) == [each["id"] for each in json.loads(given.stdout)["left_out"]]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(T) | st.just("\ud800"),
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
def test_whatever_a_document_holds_it_is_a_record(source: dict[str, Any]) -> None:
    """Its codes are ascending and none is twice, and each part is of its kind."""
    made = to_record(Place("a"), source, 4, field="simdoc")
    codes = made.codes.tolist()

    assert codes == sorted(set(codes))
    assert isinstance(made.metadata, dict)
    assert made.text is None or isinstance(made.text, str)
    assert 0 <= made.shingles < 2**31
    assert "\n" not in made.fault
