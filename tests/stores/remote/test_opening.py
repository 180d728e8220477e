"""Opening and creating an index: its settings, its fingerprint field, and requirements for its mapping."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from simdoc_search import Analysis
from simdoc_search.attach.pipeline import build_pipeline_body
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.settings import Settings
from tests.support.cli import run
from tests.support.engines import call
from tests.support.http_server import TempIndices
from tests.support.remote import ANY, in_index, mapping, ours
from tests.support.stores import ids, put, ranked_candidates, record


def test_an_index_keeps_its_settings(temp_indices: TempIndices) -> None:
    name, settings = temp_indices.name(), Settings(Analysis(shingle_size=3))
    in_index(temp_indices, name, settings=settings, create=True, store_texts=False)
    assert (
        settings
        == in_index(temp_indices, name).settings
        == in_index(temp_indices, name, settings=settings, create=True).settings
    )
    with pytest.raises(FormatMismatchError, match=r"was created with analysis\.shingle_size 3, not 5; omit") as caught:
        in_index(temp_indices, name, settings=Settings(), create=True)
    stored = replace(settings, indexes_word_pairs=False)
    assert (stored.to_dict(), Settings(indexes_word_pairs=False).to_dict()) == (
        caught.value.found,
        caught.value.expected,
    )

    with pytest.raises(StoreError, match="was created without texts, and this cannot be changed"):
        in_index(temp_indices, name, store_texts=True)


def test_an_index_of_a_newer_version_is_refused(temp_indices: TempIndices) -> None:
    newer = mapping()
    newer["properties"]["simdoc"]["properties"]["tokens"]["meta"]["simdoc_version"] = "99"

    with pytest.raises(FormatMismatchError, match="format version 99"):
        in_index(temp_indices, temp_indices.make(newer))


def test_an_index_without_our_field_is_refused(temp_indices: TempIndices) -> None:
    name = temp_indices.make({"properties": {"title": {"type": "text"}}})
    other = temp_indices.make({"properties": {"title": {"type": "text"}, "text": {"type": "text"}}})
    alias = temp_indices.alias(name, other)
    guess = r"\(title is a guess; it is the only text field in the mapping\)"

    run_this = (
        f"to add fingerprints, run `simdoc-search backfill {temp_indices.engine}/{name} --text-field title` {guess}"
    )
    with pytest.raises(StoreError, match=rf"index {name} of .* has no field simdoc\.tokens; {run_this}$"):
        in_index(temp_indices, name)
    run_this = f"to add fingerprints, run `simdoc-search backfill {temp_indices.engine}/{alias} --text-field text` "
    guess = r"\(text is a guess; the text fields in the mapping are text, title\)"
    both = f"each of the indices {', '.join(sorted([name, other]))} of .* has no field simdoc.tokens"
    with pytest.raises(StoreError, match=f"{both}; {run_this}{guess}$"):
        in_index(temp_indices, alias)
    with pytest.raises(
        StoreError, match=r"has no field fp\.tokens; .* --field fp --text-field title` \(title is a guess"
    ):
        in_index(temp_indices, name, field="fp")


def test_an_index_that_guessed_the_mapping_is_refused(temp_indices: TempIndices) -> None:
    """`status` then does not advise `backfill`, which would refuse the index too."""
    name = temp_indices.make({"properties": {"title": {"type": "text"}}})
    temp_indices.put(name, "a", {"title": "some words", "simdoc": ours()})
    fault = "simdoc.tokens has analyzer None, not 'whitespace'; a mapping cannot be changed, so create a new index"
    url = f"{temp_indices.engine}/{name}"

    with pytest.raises(StoreError, match=f"cannot be queried: {fault}"):
        in_index(temp_indices, name)
    assert f"fingerprints cannot be added; to see why, run `simdoc-search check {url}`\n" == run("status", url).stderr


@pytest.mark.parametrize(
    "source", [{"excludes": ["simdoc"]}, {"excludes": ["*okens"]}, {"includes": ["title"]}, {"enabled": False}]
)
def test_an_index_that_does_not_store_its_tokens_is_refused(temp_indices: TempIndices, source: Any) -> None:
    with pytest.raises(StoreError, match="cannot be queried: _source"):
        in_index(temp_indices, temp_indices.make({**mapping(), "_source": source}))


@pytest.mark.parametrize("source", [{"excludes": ["body"]}, {"includes": ["simdoc.*"]}])
def test_an_index_that_stores_its_tokens_is_opened(temp_indices: TempIndices, source: Any) -> None:
    name = temp_indices.make({**mapping(), "_source": source})
    temp_indices.put(name, "a", {"simdoc": ours()})

    assert [(8, "a")] == ranked_candidates(in_index(temp_indices, name), ANY)


def test_the_field_may_have_another_name(temp_indices: TempIndices) -> None:
    name = temp_indices.name()
    store = in_index(temp_indices, name, create=True, field="fp")
    put(store, record("a/b.txt", year=2020), record("b"))

    assert [(8, "a/b.txt")] == ranked_candidates(store, ANY, filters={"year": 2020, "path": "a/"})
    assert ["a/b.txt"] == in_index(temp_indices, name).ids_with_name("b.txt")
    with pytest.raises(StoreError, match="has no field simdoc"):
        in_index(temp_indices, name, field="simdoc")


def test_one_of_several_fields_must_be_named(temp_indices: TempIndices) -> None:
    name = temp_indices.name()
    in_index(temp_indices, name, create=True, field="fp").close()
    alias = temp_indices.alias(name, temp_indices.make(mapping()))
    with pytest.raises(StoreError, match="has the fingerprint fields fp, simdoc; choose one with --field"):
        in_index(temp_indices, alias)


def test_our_own_index_does_not_run_a_final_pipeline(temp_indices: TempIndices) -> None:
    name = temp_indices.name()
    call(temp_indices.engine, "PUT", f"/_ingest/pipeline/{name}", build_pipeline_body())
    template = {"index_patterns": [f"{name}*"], "priority": 9, "template": {"settings": {"index.final_pipeline": name}}}
    call(temp_indices.engine, "PUT", f"/_index_template/{name}", template)
    store = in_index(temp_indices, name, create=True)
    put(store, record("a", text="some words", year=2020))

    assert ["a"] == ids(store)
    assert ["digest of a"] == [document.digest for document in store.records(["a"])]
    call(temp_indices.engine, "DELETE", f"/_index_template/{name}")


def test_two_threads_may_create_an_index_at_the_same_time(temp_indices: TempIndices) -> None:
    for name in [temp_indices.name(), temp_indices.name()]:
        gate = threading.Barrier(2, timeout=10)
        faults: list[Exception] = []

        def make(number: int, name: str = name, gate: Any = gate, faults: Any = faults) -> None:
            try:
                gate.wait()
                with closing(in_index(temp_indices, name, create=True)) as store:
                    put(store, record(str(number)))
            except Exception as error:
                faults.append(error)

        threads = [threading.Thread(target=make, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert ([], ["0", "1"]) == (faults, ids(in_index(temp_indices, name)))
