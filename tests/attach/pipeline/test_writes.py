"""The pipeline updates the fingerprint at each write that passes it, and never makes a write fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from simdoc_search.attach.backfill import Backfill, BackfillOptions
from simdoc_search.attach.inspection import inspect_indices
from simdoc_search.attach.pipeline import MAX_TEXT_LENGTH, build_pipeline_body
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from tests.support.cli import answer, run
from tests.support.engines import call, discard, own_name
from tests.support.http_server import indices
from tests.support.pipeline import NEW, OLD, expected, ours, run_pipeline
from tests.support.pipeline_installation import install_pipeline, use_pipeline

SCRIPT = {"script": {"source": "ctx._source.body = params.text", "params": {"text": NEW}}}
NEW_PART = {"doc": {"body": NEW}}

THROUGH: dict[str, dict[str, Any]] = {
    "index": {"doc": {"body": NEW}},
    "index in a bulk": {"index": {"body": NEW}},
    "partial update": {"update": NEW_PART},
    "script": {"update": SCRIPT},
    "partial update with an upsert": {"update": {**NEW_PART, "upsert": {"body": OLD}}},
    "doc_as_upsert": {"update": {**NEW_PART, "doc_as_upsert": True}},
    "scripted upsert": {"update": {**SCRIPT, "scripted_upsert": True, "upsert": {}}},
    "update by query": {"by query": SCRIPT},
    "doc_as_upsert in a bulk": {"bulk": {**NEW_PART, "doc_as_upsert": True}},
}
PAST: dict[str, dict[str, Any]] = {
    "partial update in a bulk": {"bulk": NEW_PART},
    "script in a bulk": {"bulk": SCRIPT},
    "partial update with an upsert in a bulk": {"bulk": {**NEW_PART, "upsert": {"body": OLD}}},
    "scripted upsert in a bulk": {"bulk": {**SCRIPT, "scripted_upsert": True, "upsert": {}}},
}


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch_7"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine with the pipeline for the field `body`."""
    opened, _ = connect(request.getfixturevalue(f"{request.param}_url"), expects_index=False)
    with closing(opened):
        install_pipeline(opened, force=True)
        yield opened


@pytest.fixture
def index(engine: Engine) -> Iterator[str]:
    """An index with the pipeline, and with the documents 1 and 2."""
    with indices(engine.name) as made:
        name = made.make({"properties": {"body": {"type": "text"}}})
        use_pipeline(engine, name)
        for id in "12":
            put(engine, name, id, {"body": OLD})
        yield name


def put(engine: Engine, index: str, id: str, source: dict[str, Any]) -> None:
    """Index a document."""
    engine.call("PUT", [index, "_doc", id], source, refresh=True)


def update(engine: Engine, index: str, id: str, body: Any) -> None:
    """Update a document."""
    engine.call("POST", [index, "_update", id], body, refresh=True)


def write(engine: Engine, index: str, id: str, how: dict[str, Any]) -> None:
    """Write a document as in THROUGH or PAST."""
    ((kind, body),) = how.items()
    if kind == "doc":
        put(engine, index, id, body)
    elif kind == "update":
        update(engine, index, id, body)
    elif kind == "by query":
        call(engine.name, "POST", f"/{index}/_update_by_query?refresh", {**body, "query": {"ids": {"values": [id]}}})
    else:
        lines = [{"update" if kind == "bulk" else kind: {"_index": index, "_id": id}}, body]
        data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        assert not engine.call("POST", ["_bulk"], data, refresh=True)["errors"]


def source_of(engine: Engine, index: str, id: str = "1") -> dict[str, Any]:
    """The source of a document."""
    return dict(engine.call("GET", [index, "_doc", id])["_source"])


# --- writes that pass the pipeline, and writes that do not ---


@pytest.mark.parametrize("how", THROUGH.values(), ids=THROUGH)
def test_a_write_through_the_pipeline_updates_the_fingerprint(engine: Engine, index: str, how: dict[str, Any]) -> None:
    write(engine, index, "1", how)
    if "upsert" in str(how):
        write(engine, index, "new", how)
        created = source_of(engine, index, "new")
        assert expected(created["body"]) == created["simdoc"]

    assert [expected(NEW), expected(OLD)] == [ours(engine.name, index, id) for id in "12"]


@pytest.mark.parametrize("how", PAST.values(), ids=PAST)
def test_a_bulk_update_does_not_pass_the_pipeline(engine: Engine, index: str, how: dict[str, Any]) -> None:
    """`status` finds the stale fingerprint, and `backfill --stale` replaces it."""
    options = BackfillOptions("body", stale=True)
    Backfill(engine, index, options).run()
    write(engine, index, "1", how)
    before = ours(engine.name, index)
    sample = inspect_indices(engine, index).sample
    report = Backfill(engine, index, options).run()

    assert expected(OLD) == before
    assert (1, 1, ("1",), 1) == (
        sample.stale_count,
        sample.sampled_count,
        sample.stale_ids,
        sample.already_compared_count,
    )
    assert (1, 1) == (report.updated_count, report.document_count)
    assert expected(NEW) == ours(engine.name, index)


def test_a_bulk_upsert_creates_a_document_through_the_pipeline(engine: Engine, index: str) -> None:
    """The pipeline does not see the result of the script."""
    write(engine, index, "new", {"bulk": {**NEW_PART, "upsert": {"body": OLD}}})
    write(engine, index, "scripted", {"bulk": {**SCRIPT, "scripted_upsert": True, "upsert": {"body": OLD}}})

    assert expected(OLD) == ours(engine.name, index, "new")
    assert {"body": NEW, "simdoc": expected(OLD)} == source_of(engine, index, "scripted")


@pytest.mark.parametrize("first", [{"body": OLD}, {"body": 7}, {"n": 1}])
@pytest.mark.parametrize("then", [{"body": NEW}, {"body": None}, {"n": 2}])
def test_a_bulk_upsert_is_merged_into_the_document(
    engine: Engine, index: str, first: dict[str, Any], then: dict[str, Any]
) -> None:
    """The pipeline sees only the new part. A part without the text keeps the fingerprint."""
    for part in (first, then):
        write(engine, index, "new", {"bulk": {"doc": part, "doc_as_upsert": True}})
    source = source_of(engine, index, "new")
    values: Any = source.get("simdoc", {})

    if isinstance(source.get("body"), int):
        assert (None, "the field body contains a number") == (values["tokens"], values["error"].partition(",")[0])
    elif source.get("body") is not None:
        assert expected(source["body"]) == {key: value for key, value in values.items() if key != "error"}
    else:
        assert source.get("simdoc") is None


def test_copies_of_an_index_have_fingerprints(engine: Engine, index: str) -> None:
    """They pass the pipeline of the target, or the pipeline that the request names."""
    bare, url = own_name(), engine.name
    call(url, "PUT", f"/{bare}/_doc/3?refresh=true", {"body": OLD})
    call(url, "POST", "/_reindex?refresh=true", {"source": {"index": bare}, "dest": {"index": index}})
    done = call(url, "POST", f"/{bare}/_update_by_query?pipeline=simdoc&refresh=true")

    assert (expected(OLD), 1, expected(OLD)) == (ours(url, index, "3"), done["updated"], ours(url, bare, "3"))
    discard(url, bare)


# --- the value of the field ---


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"doc": {"body": " "}}, " "),
        ({"script": "ctx._source.body = ''"}, ""),
        ({"doc": {"body": None}}, None),
        ({"doc": {"body": []}}, None),
        ({"script": "ctx._source.remove('body')"}, None),
    ],
    ids=str,
)
def test_the_fingerprint_of_a_removed_text_is_removed(
    engine: Engine, index: str, change: dict[str, Any], text: str | None
) -> None:
    """A text without words gets a mark. A text that is added later gets a fingerprint."""
    update(engine, index, "1", change)
    simdoc = {} if text is None else {"simdoc": expected(text)}
    assert simdoc == {key: value for key, value in source_of(engine, index).items() if key != "body"}
    update(engine, index, "1", NEW_PART)
    assert expected(NEW) == ours(engine.name, index)


@pytest.mark.parametrize(
    ("how", "is_added"),
    [
        ({"doc": {"body": None}}, False),
        ({"index": {"body": None}}, False),
        ({"create": {"body": []}}, False),
        ({"update": {"doc": {"body": None}, "doc_as_upsert": True}}, False),
        ({"update": {"doc": {"n": 1}, "upsert": {"body": None}}}, False),
        ({"bulk": {"doc": {"body": None}, "doc_as_upsert": True}}, True),
        ({"bulk": {"doc": {"n": 1}, "upsert": {"body": None}}}, True),
    ],
    ids=str,
)
def test_a_document_without_text_gets_null_only_from_a_bulk_upsert(
    engine: Engine, index: str, how: dict[str, Any], is_added: bool
) -> None:
    write(engine, index, "new", how)

    assert is_added == ("simdoc" in source_of(engine, index, "new"))


def test_a_document_without_text_and_id_gets_null_only_in_a_bulk(engine: Engine, index: str) -> None:
    """In a bulk request, OpenSearch does not show the pipeline whether such a document is complete."""
    created = engine.call("POST", [index, "_doc"], {"body": None}, refresh=True)["_id"]
    lines = b'{"index": {}}\n{"body": null}\n{"create": {}}\n{"body": null}\n'
    indexed, created_in_bulk = (
        item[kind]["_id"]
        for kind, item in zip(
            ("index", "create"), engine.call("POST", [index, "_bulk"], lines, refresh=True)["items"], strict=True
        )
    )

    assert {"body": None} == source_of(engine, index, created) == source_of(engine, index, created_in_bulk)
    assert {"body": None, "simdoc": None} == source_of(engine, index, indexed)


FORGED = {"duplicate_of": "2", "cluster": "2", "tokens": "!!!", "digest": "x", "facts": ["a"], "key": {"below": 1}}


@pytest.mark.parametrize(
    "sent",
    [
        {"simdoc": FORGED},
        {"simdoc": {**FORGED, "text_hash": "0" * 32}},
        {"simdoc": [FORGED, FORGED]},
        {"simdoc": "a text"},
        {f"simdoc.{key}": value for key, value in FORGED.items()},
        {"simdoc": {"format": "none"}, "simdoc.cluster": "2"},
    ],
    ids=["object", "hash", "list", "text", "dots", "both"],
)
def test_values_of_a_client_in_the_fingerprint_field_are_replaced(
    engine: Engine, index: str, sent: dict[str, Any]
) -> None:
    texts: dict[str, dict[str, Any]] = {"1": {"body": OLD}, "2": {"body": ""}, "3": {}, "4": {"body": 7}}
    for id, text in texts.items():
        put(engine, index, id, {**text, **sent})
    sources = {id: source_of(engine, index, id) for id in texts}

    assert {"body": OLD, "simdoc": expected(OLD)} == sources["1"]
    assert {"body": "", "simdoc": expected("")} == sources["2"]
    assert {} == sources["3"]
    assert {"body", "simdoc"} == sources["4"].keys()
    assert {"tokens", "passages", "words_hash", "error"} == sources["4"]["simdoc"].keys()


def test_values_of_a_client_are_removed_after_an_error_that_no_script_catches(opensearch_url: str) -> None:
    """A list of a million texts needs more steps than an engine allows."""
    sent = {"body": [""] * 1_000_001, "simdoc": FORGED, **{f"simdoc.{key}": value for key, value in FORGED.items()}}
    (result,) = run_pipeline(opensearch_url, [sent])

    assert {"body", "simdoc"} == result.keys()
    assert ["error"] == [*result["simdoc"]]
    assert result["simdoc"]["error"].startswith("the pipeline failed: ")


@pytest.mark.parametrize("reason", ["x" * 40_000, "x" + "\U0001f600" * 20_000], ids=["ascii", "pairs"])
def test_a_long_reason_is_shortened(engine: Engine, index: str, reason: str) -> None:
    """Engines refuse a keyword of more than 32,766 bytes, and half of a surrogate pair."""
    name = own_name()
    body = build_pipeline_body()
    script = body["processors"][0]["script"]
    script |= {"source": "throw new IllegalArgumentException(params.reason)"}
    script["params"]["reason"] = reason
    call(engine.name, "PUT", f"/_ingest/pipeline/{name}", body)
    call(engine.name, "PUT", f"/{index}/_settings", {"index.final_pipeline": name})
    put(engine, index, "2", {"body": 7})
    call(engine.name, "PUT", f"/{index}/_settings", {"index.final_pipeline": "simdoc"})
    call(engine.name, "DELETE", f"/_ingest/pipeline/{name}")

    assert 490 < len(ours(engine.name, index, "2")["error"].encode("utf-16-le")) // 2 <= 500


def test_marks_of_duplicates_are_kept_until_the_text_changes(engine: Engine, index: str) -> None:
    marks = {"duplicate_of": "2", "cluster": "2"}
    write(engine, index, "1", {"bulk": {"doc": {"simdoc": marks}}})
    update(engine, index, "1", {"doc": {"n": 2}})
    assert {**expected(OLD), **marks} == ours(engine.name, index)
    update(engine, index, "1", NEW_PART)
    assert expected(NEW) == ours(engine.name, index)


# --- documents that the pipeline cannot fingerprint ---


def test_writes_succeed_without_a_fingerprint(engine: Engine, index: str) -> None:
    """`check` counts these documents, and `backfill` fills those that it can fill."""
    url, long = f"{engine.name}/{index}", "some long text " * (MAX_TEXT_LENGTH // 14)
    put(engine, index, "1", {"body": long})
    put(engine, index, "2", {"body": 7})
    assert [None, None] == [ours(engine.name, index, id)["tokens"] for id in "12"]
    why = "for the reasons in simdoc.error; run `simdoc-search backfill"
    assert f"the pipeline could not fingerprint 2 documents ('1', '2') {why}" in run("check", url).stdout

    update(engine, index, "2", NEW_PART)
    assert expected(NEW) == ours(engine.name, index, "2")
    assert 1 == answer("backfill", url, "--text-field", "body")["updated_count"]
    assert {**expected(long), "error": None} == ours(engine.name, index)


def test_a_backfill_does_not_change_documents_of_the_pipeline(engine: Engine, index: str) -> None:
    put(engine, index, "3", {"body": ""})
    put(engine, index, "4", {"body": None})
    url = f"{engine.name}/{index}"

    assert 0 == answer("backfill", url, "--text-field", "body")["updated_count"]
    stale = answer("backfill", url, "--text-field", "body", "--stale")
    assert (0, 0, 3) == (stale["updated_count"], stale["removed_count"], stale["unchanged_count"])
