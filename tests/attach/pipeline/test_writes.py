"""An index with the pipeline has a fresh fingerprint after every kind of write, and refuses none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.attach.pipeline import LONGEST_TEXT, install_pipeline, use_pipeline
from simdoc_search.attach.pipeline.install import final_pipeline
from simdoc_search.errors import StoreError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.remote.connecting import connect
from simdoc_search.stores.remote.engine import Engine
from tests.support.cli import answer, output, run
from tests.support.engines import call, discard
from tests.support.pipeline import expected, made_by_engine
from tests.support.texts import documents, text

OLD, NEW = "the old text of a document", "and the new text which it has now"


@pytest.fixture(scope="module")
def engine(opensearch_url: str) -> Engine:
    """An engine that has the pipeline, of the field `body`."""
    found, _ = connect(opensearch_url, index=False)
    install_pipeline(found, force=True)
    return found


@pytest.fixture
def index(engine: Engine, opensearch_url: str) -> Iterator[str]:
    """An empty index that uses it."""
    name = f"test-{uuid4()}"
    call(opensearch_url, "PUT", f"/{name}", {"mappings": {"properties": {"body": {"type": "text"}}}})
    assert [name] == use_pipeline(engine, name)
    yield name
    discard(opensearch_url, name)


def ours(url: str, index: str, id: str = "1") -> Any:
    """What a document has in our field."""
    return call(url, "GET", f"/{index}/_doc/{id}")["_source"].get("simdoc")


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
    found = source.get("simdoc", {})

    if isinstance(source.get("body"), int):
        assert (None, "the field body holds a number") == (found["tokens"], found["error"][:29])
    elif "body" in source:
        assert expected(source["body"] or "") == {key: each for key, each in found.items() if key != "error"}
    else:
        assert {} == found


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


@pytest.mark.parametrize(
    "update",
    [{"doc": {"body": None}}, {"doc": {"body": " "}}, {"script": "ctx._source.body = ''"}],
)
def test_a_text_that_goes_takes_its_fingerprint_with_it(
    opensearch_url: str, index: str, update: dict[str, Any]
) -> None:
    """What is left says that there are no words, as backfill says it."""
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": OLD})
    call(opensearch_url, "POST", f"/{index}/_update/1", update)
    text = call(opensearch_url, "GET", f"/{index}/_doc/1")["_source"].get("body") or ""

    assert expected(text) == ours(opensearch_url, index)
    assert ours(opensearch_url, index)["tokens"] is None


def test_a_field_that_is_removed_takes_its_fingerprint_with_it(opensearch_url: str, index: str) -> None:
    """As if it had never been there."""
    call(opensearch_url, "PUT", f"/{index}/_doc/1", {"body": OLD})
    call(opensearch_url, "POST", f"/{index}/_update/1", {"script": "ctx._source.remove('body')"})

    assert ours(opensearch_url, index) is None


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
    assert "the pipeline made no fingerprint of 2 documents: simdoc.error says why" in checked.stdout

    call(opensearch_url, "POST", f"/{index}/_update/2", {"doc": {"body": NEW}})
    assert expected(NEW) == ours(opensearch_url, index, "2")


def test_backfill_makes_what_the_pipeline_could_not(opensearch_url: str, index: str) -> None:
    """Of a text that is too long, as updates in bulks pass no pipeline: the reason goes when the fingerprint comes."""
    long = "some long text " * (LONGEST_TEXT // 14)
    call(opensearch_url, "PUT", f"/{index}/_doc/1?refresh=true", {"body": long})
    assert 1 == answer("backfill", f"{opensearch_url}/{index}", "--field", "body")["updated"]

    assert {**expected(long), "error": None} == ours(opensearch_url, index)


def test_backfill_has_nothing_to_do_after_the_pipeline(opensearch_url: str, index: str) -> None:
    """Not for documents without words either; all are as it would make them."""
    for id, document in {"1": {"body": OLD}, "2": {"body": ""}, "3": {"body": None}}.items():
        call(opensearch_url, "PUT", f"/{index}/_doc/{id}?refresh=true", document)

    assert 0 == answer("backfill", f"{opensearch_url}/{index}", "--field", "body")["updated"]
    stale = answer("backfill", f"{opensearch_url}/{index}", "--field", "body", "--stale")
    assert (0, 3) == (stale["updated"], stale["unchanged"])


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


def test_the_command_installs_all_and_says_what_is_left(opensearch_url: str, engine: Engine) -> None:
    """The index gets our mapping and the pipeline; a second time nothing changes; another pipeline is not replaced."""
    name, pipeline = f"test-{uuid4()}", f"test-{uuid4()}"
    call(
        opensearch_url,
        "PUT",
        f"/{name}",
        {"mappings": {"dynamic": "strict", "properties": {"title": {"type": "text"}}}},
    )
    command = ["template", "install", opensearch_url, "--pipeline", "--name", pipeline]
    first = answer(*command, "--field", "title", "--index", name, "--force")
    again = answer(*command, "--field", "title", "--index", name)
    call(opensearch_url, "PUT", f"/{name}/_doc/1", {"title": OLD})
    other = run(*command, "--field", "body")

    assert (True, [name]) == (first["pipeline_installed"], first["indices"])
    assert (False, False) == (again["pipeline_installed"], again["installed"])
    assert expected(OLD) == ours(opensearch_url, name)
    assert f"has another pipeline {pipeline}; compare it with template show, or use --force" in other.stderr
    assert f'"settings": {{"index.final_pipeline": "{pipeline}"}}' in output(*command, "--field", "title")
    discard(opensearch_url, name)


def test_another_final_pipeline_stays(opensearch_url: str, engine: Engine) -> None:
    """The sentence says how both run."""
    name = f"test-{uuid4()}"
    call(opensearch_url, "PUT", f"/_ingest/pipeline/{name}", {"processors": []})
    call(opensearch_url, "PUT", f"/{name}", {"settings": {"index.final_pipeline": name}})

    with pytest.raises(StoreError, match=r'add the processor \{"pipeline": \{"name": "simdoc"\}\} to that'):
        use_pipeline(engine, name)
    with pytest.raises(StoreNotFoundError):
        use_pipeline(engine, f"{name}-none")
    assert [name] == use_pipeline(engine, name, force=True)
    assert "simdoc" == final_pipeline(engine, name)
    discard(opensearch_url, name)


def test_an_index_has_the_pipeline_of_its_settings(opensearch_url: str) -> None:
    """Those of its mapping; what no script can make is said before anything is changed."""
    name = f"test-{uuid4()}"
    call(opensearch_url, "PUT", f"/{name}/_doc/1?refresh=true", {"body": OLD})
    output("backfill", f"{opensearch_url}/{name}", "--field", "body", "--no-passages")
    output("template", "install", opensearch_url, "--pipeline", "--name", name, "--index", name)
    call(opensearch_url, "PUT", f"/{name}/_doc/1?refresh=true", {"body": NEW})

    assert expected(NEW, Settings(passages=None)) == ours(opensearch_url, name)
    with open_store(f"{opensearch_url}/{name}") as store:
        assert Settings(passages=None) == store.settings
    refused = run("template", "install", opensearch_url, "--pipeline", SIMDOC_HASH_KEY="0123456789abcdef")
    assert "cannot make fingerprints with a secret hash key; use simdoc-search backfill" in refused.stderr
    discard(opensearch_url, name)
