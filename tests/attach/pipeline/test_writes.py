"""An index with the pipeline has a fresh fingerprint after every kind of write, and refuses none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.attach.pipeline import LONGEST_TEXT, pipeline_body
from tests.support.cli import answer, run
from tests.support.engines import call, discard, own_name
from tests.support.pipeline import NEW, OLD, expected, made_by_engine, ours
from tests.support.texts import documents, text


def bulk(url: str, *lines: dict[str, Any]) -> Any:
    """A bulk request that succeeds."""
    import urllib.request

    data = "".join(f"{json.dumps(each)}\n" for each in lines).encode()
    asked = urllib.request.Request(f"{url}/_bulk?refresh=true", data, {"Content-Type": "application/x-ndjson"})
    with urllib.request.urlopen(asked) as response:
        done = json.load(response)
    assert not done["errors"], done
    return done


def test_documents_that_are_indexed_have_fingerprints(opensearch_url: str, index: str) -> None:
    """Alone, created, and in a bulk."""
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": OLD})
    call(opensearch_url, "PUT", f"/{index}/_create/2", {"body": OLD})
    bulk(opensearch_url, {"index": {"_index": index, "_id": "3"}}, {"body": OLD})
    bulk(opensearch_url, {"create": {"_index": index, "_id": "4"}}, {"body": OLD})

    assert [expected(OLD)] * 4 == [ours(opensearch_url, index, id) for id in "1234"]
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": NEW})
    assert expected(NEW) == ours(opensearch_url, index)


@pytest.mark.parametrize(
    "update",
    [
        {"doc": {"body": NEW}},
        {"script": {"source": "ctx._source.body = params.text", "params": {"text": NEW}}},
        {"doc": {"body": NEW, "simdoc": {"tokens": "!!!!", "format": "none"}}},
    ],
)
def test_updates_have_the_fingerprint_of_the_new_text(opensearch_url: str, index: str, update: dict[str, Any]) -> None:
    """By a part of a document and by a script: the final pipeline sees the whole document."""
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": OLD, "n": 1})
    call(opensearch_url, "POST", f"/{index}/_update/1", update)

    assert expected(NEW) == ours(opensearch_url, index)


def test_an_update_in_a_bulk_passes_no_pipeline(opensearch_url: str, index: str) -> None:
    """So engines have it, and the docs say it; a run of the pipeline over the index mends what is stale."""
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": OLD})
    bulk(opensearch_url, {"update": {"_index": index, "_id": "1"}}, {"doc": {"body": NEW}})
    assert expected(OLD) == ours(opensearch_url, index)

    call(opensearch_url, "POST", f"/{index}/_update_by_query?pipeline=simdoc")
    assert expected(NEW) == ours(opensearch_url, index)


@pytest.mark.parametrize("first", [{"body": OLD}, {"body": 7}, {"n": 1}])
@pytest.mark.parametrize("then", [{"body": NEW}, {"body": None}, {"n": 2}])
def test_an_upsert_in_a_bulk_is_merged_into_what_is_there(
    opensearch_url: str, index: str, first: dict[str, Any], then: dict[str, Any]
) -> None:
    """The pipeline sees the new part alone; a part without the text leaves the fingerprint, the others replace it."""
    for each in (first, then):
        bulk(opensearch_url, {"update": {"_index": index, "_id": "1"}}, {"doc": each, "doc_as_upsert": True})
    source = call(opensearch_url, "GET", f"/{index}/_doc/1")["_source"]
    found = source.get("simdoc")

    if isinstance(source.get("body"), int):
        assert (None, "the field body holds a number") == (found["tokens"], found["error"][:29])
    elif source.get("body") is not None:
        assert expected(source["body"]) == {key: each for key, each in found.items() if key != "error"}
    else:
        assert found is None


def test_an_update_of_another_field_leaves_the_fingerprint(opensearch_url: str, index: str) -> None:
    """The text is the same."""
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": OLD, "n": 1})
    call(opensearch_url, "POST", f"/{index}/_update/1", {"doc": {"n": 2}})

    assert expected(OLD) == ours(opensearch_url, index)


@pytest.mark.parametrize(
    "update",
    [
        {"doc": {"body": NEW}, "upsert": {"body": OLD}},
        {"doc": {"body": NEW}, "doc_as_upsert": True},
        {"scripted_upsert": True, "upsert": {}, "script": {"source": f"ctx._source.body = '{NEW}'"}},
    ],
)
def test_upserts_have_fingerprints(opensearch_url: str, index: str, update: dict[str, Any]) -> None:
    """Of the document that is made, then of the updated one."""
    call(opensearch_url, "POST", f"/{index}/_update/1", update)
    made = call(opensearch_url, "GET", f"/{index}/_doc/1")["_source"]
    assert expected(made["body"]) == made["simdoc"]

    call(opensearch_url, "POST", f"/{index}/_update/1", update)
    assert expected(NEW) == ours(opensearch_url, index)


@pytest.mark.parametrize("update", [{"doc": {"body": " "}}, {"script": "ctx._source.body = ''"}])
def test_words_that_go_take_their_fingerprint_with_them(
    opensearch_url: str, index: str, update: dict[str, Any]
) -> None:
    """What is left says that there are no words, as backfill says it."""
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": OLD})
    call(opensearch_url, "POST", f"/{index}/_update/1", update)
    text = call(opensearch_url, "GET", f"/{index}/_doc/1")["_source"]["body"]

    assert expected(text) == ours(opensearch_url, index)
    assert ours(opensearch_url, index)["tokens"] is None


@pytest.mark.parametrize(
    "update", [{"doc": {"body": None}}, {"doc": {"body": []}}, {"script": "ctx._source.remove('body')"}]
)
def test_a_text_that_goes_takes_its_fingerprint_with_it(
    opensearch_url: str, index: str, update: dict[str, Any]
) -> None:
    """As if it had never been there: where there is no text there is no fingerprint."""
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": OLD})
    call(opensearch_url, "POST", f"/{index}/_update/1", update)

    assert ours(opensearch_url, index) is None


def test_a_text_that_comes_later_gets_its_fingerprint(opensearch_url: str, index: str) -> None:
    """The application writes a document first, and its text when it has been read."""
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": None, "n": 1})
    assert ours(opensearch_url, index) is None
    call(opensearch_url, "POST", f"/{index}/_update/1", {"doc": {"body": NEW}})

    assert expected(NEW) == ours(opensearch_url, index)


MADE_UP = {"duplicate_of": "2", "cluster": "2", "tokens": "!!!!", "digest": "x", "facts": ["a"], "key": {"below": 1}}


@pytest.mark.parametrize(
    "sent",
    [
        {"simdoc": MADE_UP},
        {"simdoc": {**MADE_UP, "text_hash": "0" * 32}},
        {"simdoc": [MADE_UP, MADE_UP]},
        {"simdoc": "a text"},
        {f"simdoc.{key}": value for key, value in MADE_UP.items()},
        {"simdoc": {"format": "none"}, "simdoc.cluster": "2"},
    ],
)
def test_only_what_the_pipeline_made_is_in_our_field(opensearch_url: str, index: str, sent: dict[str, Any]) -> None:
    """A client may send what it likes. Without a text there is no field at all."""
    documents: dict[str, dict[str, Any]] = {"1": {"body": OLD}, "2": {"body": ""}, "3": {}, "4": {"body": 7}}
    for id, document in documents.items():
        call(opensearch_url, "PUT", f"/{index}/_doc/{id}", {**document, **sent})
    found = {id: call(opensearch_url, "GET", f"/{index}/_doc/{id}")["_source"] for id in "1234"}

    assert {"body": OLD, "simdoc": expected(OLD)} == found["1"]
    assert {"body": "", "simdoc": expected("")} == found["2"]
    assert {} == found["3"]
    assert {"body", "simdoc"} == found["4"].keys()
    assert {"tokens", "passages", "words_hash", "error"} == found["4"]["simdoc"].keys()


def test_nothing_that_was_sent_stays_after_an_error_that_no_script_catches(opensearch_url: str) -> None:
    """Such as that of a list with more texts than the steps that an engine lets a script take."""
    texts = [""] * 1_000_001
    sent = {"body": texts, "simdoc": MADE_UP, **{f"simdoc.{key}": value for key, value in MADE_UP.items()}}
    (made,) = made_by_engine(opensearch_url, [sent])

    assert {"body", "simdoc"} == made.keys()
    assert ["error"] == [*made["simdoc"]]
    assert made["simdoc"]["error"].startswith("the pipeline failed: ")


@pytest.mark.parametrize("reason", ["x" * 40_000, "\U0001f600" * 20_000, "x" + "\U0001f600" * 20_000])
def test_no_write_is_refused_for_a_long_reason(opensearch_url: str, index: str, reason: str) -> None:
    """Engines take no keyword of more than 32,766 bytes; half of a character would be refused as well."""
    name = own_name()
    body = pipeline_body()
    script = body["processors"][0]["script"]
    script |= {"source": "throw new IllegalArgumentException(params.reason)"}
    script["params"]["reason"] = reason
    call(opensearch_url, "PUT", f"/_ingest/pipeline/{name}", body)
    call(opensearch_url, "PUT", f"/{index}/_settings", {"index.final_pipeline": name})
    call(opensearch_url, "PUT", f"/{index}/_doc/2", {"body": 7})
    call(opensearch_url, "PUT", f"/{index}/_settings", {"index.final_pipeline": "simdoc"})
    call(opensearch_url, "DELETE", f"/_ingest/pipeline/{name}")

    assert 490 < len(ours(opensearch_url, index, "2")["error"].encode("utf-16-le")) // 2 <= 500


def test_marks_stay_as_long_as_the_text_does(opensearch_url: str, index: str) -> None:
    """Of another text they are stale: it is no duplicate of what they name."""
    marks = {"duplicate_of": "2", "cluster": "2"}
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": OLD, "n": 1})
    bulk(opensearch_url, {"update": {"_index": index, "_id": "1"}}, {"doc": {"simdoc": marks}})

    call(opensearch_url, "POST", f"/{index}/_update/1?refresh=true", {"doc": {"n": 2}})
    assert {**expected(OLD), **marks} == ours(opensearch_url, index)
    call(opensearch_url, "POST", f"/{index}/_update_by_query?refresh=true", {"script": "ctx._source.n = 3"})
    assert {**expected(OLD), **marks} == ours(opensearch_url, index)

    call(opensearch_url, "POST", f"/{index}/_update/1", {"doc": {"body": NEW}})
    assert expected(NEW) == ours(opensearch_url, index)


def test_updates_by_query_and_copies_of_an_index_have_fingerprints(opensearch_url: str, index: str) -> None:
    """Of documents that were there before, through the pipeline that is named or that of the target."""
    bare = f"{index}-bare"
    call(opensearch_url, "PUT", f"/{bare}/_doc/1?refresh=true", {"body": OLD})
    call(opensearch_url, "POST", "/_reindex?refresh=true", {"source": {"index": bare}, "dest": {"index": index}})
    assert expected(OLD) == ours(opensearch_url, index)

    copied = {"index": f"{bare}-copy", "pipeline": "simdoc"}
    call(opensearch_url, "POST", "/_reindex?refresh=true", {"source": {"index": bare}, "dest": copied})
    assert expected(OLD) == ours(opensearch_url, f"{bare}-copy")

    done = call(opensearch_url, "POST", f"/{bare}/_update_by_query?pipeline=simdoc&refresh=true")
    assert (1, expected(OLD)) == (done["updated"], ours(opensearch_url, bare))

    script = {"script": {"source": "ctx._source.body = params.text", "params": {"text": NEW}}}
    call(opensearch_url, "POST", f"/{index}/_update_by_query", script)
    assert expected(NEW) == ours(opensearch_url, index)
    discard(opensearch_url, bare, f"{bare}-copy")


def test_no_write_is_refused(opensearch_url: str, index: str) -> None:
    """A text that is too long, one that is none; `check` counts them, and the reason goes with the fault."""
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": "x " * LONGEST_TEXT})
    call(opensearch_url, "PUT", f"/{index}/_doc/2?refresh=true", {"body": 7})
    assert [None, None] == [ours(opensearch_url, index, id)["tokens"] for id in "12"]
    checked = run("check", f"{opensearch_url}/{index}")
    assert (
        "the pipeline could not fingerprint 2 documents; correct these documents, whose simdoc.error has the reason"
        in checked.stdout
    )

    call(opensearch_url, "POST", f"/{index}/_update/2", {"doc": {"body": NEW}})
    assert expected(NEW) == ours(opensearch_url, index, "2")


def test_backfill_makes_what_the_pipeline_could_not(opensearch_url: str, index: str) -> None:
    """Of a text that is too long, as updates in bulks pass no pipeline: the reason goes when the fingerprint comes."""
    long = "some long text " * (LONGEST_TEXT // 14)
    call(opensearch_url, "PUT", f"/{index}/_doc/1?refresh=true", {"body": long})
    assert 1 == answer("backfill", f"{opensearch_url}/{index}", "--text-field", "body")["updated"]

    assert {**expected(long), "error": None} == ours(opensearch_url, index)


def test_backfill_has_nothing_to_do_after_the_pipeline(opensearch_url: str, index: str) -> None:
    """Not for documents without words either; all are as it would make them."""
    for id, document in {"1": {"body": OLD}, "2": {"body": ""}, "3": {"body": None}}.items():
        call(opensearch_url, "PUT", f"/{index}/_doc/{id}?refresh=true", document)

    assert 0 == answer("backfill", f"{opensearch_url}/{index}", "--text-field", "body")["updated"]
    stale = answer("backfill", f"{opensearch_url}/{index}", "--text-field", "body", "--stale")
    assert (0, 0, 2) == (stale["updated"], stale["removed"], stale["unchanged"])


def test_documents_of_both_ways_are_found_alike(opensearch_url: str, index: str) -> None:
    """Half of them from a loader that sends its own fingerprints, half by the pipeline; one query finds both."""
    import random

    common = text(random.Random("common"), 300)
    some = [{"body": f"{common} {each.text}"} for each in documents("both", 10)]
    loaded = [{"_index": index, "_id": str(number), **each} for number, each in enumerate(some)]
    for number, each in enumerate(fingerprint_actions(loaded, "body")):
        source = {key: value for key, value in each.items() if not key.startswith("_")}
        sent = source if number % 2 else some[number]
        call(opensearch_url, "PUT", f"/{index}/_doc/{number}?refresh=true", sent)

    found = answer("similar", "0_50", "--store", f"{opensearch_url}/{index}")
    assert {str(number) for number in range(1, 10)} == {hit["id"] for hit in found["hits"]}
