"""Other settings for an index whose pipeline fills it: no write is refused, nothing is lost, and nothing is left."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from simdoc_search.attach.backfill import Backfill, Task
from simdoc_search.attach.pipeline import install_pipeline
from simdoc_search.attach.refingerprint import change_of, fill, remove_others, switch
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import TEXTS, bodies, load, to
from tests.support.engines import PREFIX, own_name
from tests.support.http_server import Indices, indices
from tests.support.installing import use_pipeline
from tests.support.refingerprint import FOUR, Beside, fresh, of_four, of_three


@pytest.fixture(scope="module")
def engine(opensearch_url: str) -> Iterator[Engine]:
    """The way to it."""
    with to(opensearch_url) as opened:
        yield opened


@pytest.fixture
def made(opensearch_url: str, engine: Engine) -> Iterator[Indices]:
    """Indices of an application's own; they and their pipelines go in the end."""
    with indices(opensearch_url) as them:
        yield them
    for each in pipelines(engine, PREFIX):
        engine.call("DELETE", ["_ingest", "pipeline", each])


def piped(made: Indices, engine: Engine, pipeline: str, *, dynamic: str | bool = True) -> str:
    """An index whose documents a pipeline of this name fingerprints."""
    properties = {"body": {"type": "text"}, "number": {"type": "integer"}}
    name = made.make({"dynamic": dynamic, "properties": properties})
    install_pipeline(engine, name=pipeline)
    use_pipeline(engine, name, name=pipeline)
    load(engine, name, bodies(TEXTS))
    Backfill(engine, name, Task("body")).run()  # which notes where the text is
    return name


def pipelines(engine: Engine, beginning: str) -> set[str]:
    """The names of those in the engine that begin so."""
    found = engine.call("GET", ["_ingest", "pipeline"], allow=(404,), filter_path="*.description,**.pipeline.name")
    return {each for each in found or () if each.startswith(beginning)}


def test_a_pipeline_fills_both_and_then_the_new_one_alone(made: Indices, engine: Engine) -> None:
    """Each write has a fresh fingerprint in the field that is asked, from the beginning of the change to its end."""
    install_pipeline(engine)
    name = made.make({"properties": {"body": {"type": "text"}}})
    use_pipeline(engine, name)
    load(engine, name, bodies(TEXTS))
    Backfill(engine, name, Task("body")).run()  # which notes where the text is
    change = change_of(engine, name, of_four)
    fill(engine, change)
    load(engine, name, bodies({"during": "a text that came while the change was going on"}))

    assert len(TEXTS) + 1 == fresh(engine, name, "simdoc", Settings()) == fresh(engine, name, "simdoc_2", FOUR)
    switch(engine, change)
    remove_others(engine, name)
    load(engine, name, bodies({"after": "a text that came after the change was done"}))
    assert len(TEXTS) + 2 == fresh(engine, name, "simdoc_2", FOUR)
    sources = engine.search(name, {"size": 1000})["hits"]["hits"]
    assert not any("simdoc" in each["_source"] for each in sources)
    with pytest.raises(StoreError, match="cannot make fingerprints with stems"):
        fill(engine, change_of(engine, name, lambda now: replace(now, analysis=replace(now.analysis, stem="en"))))
    engine.call("PUT", [name, "_settings"], {"index.final_pipeline": "_none"})
    for each in ("simdoc", "simdoc-simdoc_2"):
        engine.call("DELETE", ["_ingest", "pipeline", each])


@pytest.mark.parametrize("dynamic", ["strict", True])
def test_no_write_of_the_application_is_refused(made: Indices, engine: Engine, dynamic: str | bool) -> None:
    """The mapping has the new field before the pipeline fills it: nothing is strange to it, and nothing is guessed."""
    name = piped(made, engine, own_name(), dynamic=dynamic)
    stop, written = threading.Event(), dict(TEXTS)

    def write() -> None:
        while not stop.is_set():
            id = f"new{len(written)}"
            engine.call("PUT", [name, "_doc", id], {"body": f"the new text {id} of the application", "number": 1})
            written[id] = id

    def change() -> None:
        try:
            changed = change_of(engine, name, of_four)
            for each in (fill, switch):
                report = each(engine, changed)
                assert ([], []) == (report.refused, report.skipped_indices)
        finally:
            stop.set()

    with Beside(write, change):
        pass
    assert len(TEXTS) < len(written) == fresh(engine, name, "simdoc_2", FOUR)


def test_each_index_has_pipelines_of_its_own(made: Indices, engine: Engine) -> None:
    """Of one pipeline for two indices, other settings for each; a run that broke off goes on, and nothing is left."""
    pipeline = own_name()
    names = [piped(made, engine, pipeline) for _ in range(2)]
    changes = [change_of(engine, name, to) for name, to in zip(names, (of_four, of_three), strict=True)]
    for change in (*changes, *changes):
        fill(engine, change)
        load(engine, change.index, bodies({"during": "a text that came while the change was going on"}))
        assert len(TEXTS) + 1 == fresh(engine, change.index, "simdoc_2", change.settings)

    assert 5 == len(pipelines(engine, pipeline))
    for change in changes:
        switch(engine, change)
    first, second = (remove_others(engine, name) for name in names)
    assert ([f"{pipeline}-and-{pipeline}-simdoc_2"], []) == (first.pipelines, first.idle)
    assert ([f"{pipeline}-and-{pipeline}-simdoc_2-2"], [pipeline]) == (second.pipelines, second.idle)
    assert {pipeline, f"{pipeline}-simdoc_2", f"{pipeline}-simdoc_2-2"} == pipelines(engine, pipeline)
    third = change_of(engine, names[0], of_three)
    switch(engine, third)
    remove_others(engine, names[0])
    assert {pipeline, f"{pipeline}-simdoc_2-2", f"{pipeline}-simdoc_3"} == pipelines(engine, pipeline)
    load(engine, names[0], bodies({"after": "a text that came after the change was done"}))
    assert len(TEXTS) + 2 == fresh(engine, names[0], third.new, third.settings)


def test_another_field_of_the_application_stays_filled(made: Indices, engine: Engine) -> None:
    """One of titles, say, which the same pipeline fills, is none of other settings: nothing is changed for it."""
    name = piped(made, engine, ours := own_name())
    install_pipeline(engine, "title", "of_title", name=f"{ours}-title")
    calls = {"processors": [{"pipeline": {"name": each}} for each in (ours, f"{ours}-title")]}
    engine.call("PUT", ["_ingest", "pipeline", f"{ours}-both"], calls)
    engine.call("PUT", [name, "_settings"], {"index.final_pipeline": f"{ours}-both"})

    assert ({}, [], []) == ((done := remove_others(engine, name)).documents, done.pipelines, done.idle)
    switch(engine, change_of(engine, name, of_four))
    with pytest.raises(StoreError, match=f"{ours}-both of the index {name} does more than fill simdoc; let it call"):
        remove_others(engine, name)


def test_what_else_a_pipeline_does_is_not_lost(made: Indices, engine: Engine) -> None:
    """One of the application's own that calls ours is not taken from its index; what to do is said, and then done."""
    name = piped(made, engine, ours := own_name())
    calls: list[dict[str, Any]] = [{"pipeline": {"name": ours}}, {"set": {"field": "number", "value": 7}}]
    own = {"processors": calls}
    engine.call("PUT", ["_ingest", "pipeline", f"{ours}-own"], own)
    engine.call("PUT", [name, "_settings"], {"index.final_pipeline": f"{ours}-own"})
    switch(engine, change_of(engine, name, of_four))
    with pytest.raises(StoreError, match=rf"{ours}-own .* does more than fill simdoc; .* {ours}-own-simdoc_2"):
        remove_others(engine, name)

    calls[0] = {"pipeline": {"name": f"{ours}-own-simdoc_2"}}
    engine.call("PUT", ["_ingest", "pipeline", f"{ours}-own"], own)
    assert {"simdoc": len(TEXTS)} == remove_others(engine, name).documents
    assert {7} == {each["_source"]["number"] for each in engine.search(name, {"size": 1000})["hits"]["hits"]}
