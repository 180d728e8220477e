"""Other settings for an index in use: nothing missed, nothing doubled, while an application writes and asks."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from simdoc_search import Analysis, SimilaritySearch, open_store
from simdoc_search.attach import refingerprint
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import Backfill, Task
from simdoc_search.attach.pipeline import install_pipeline, use_pipeline
from simdoc_search.attach.refingerprint import change_of, fill, remove_others, switch
from simdoc_search.attach.search_templates import install_search_templates
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.watches import WATCHES
from tests.support.backfill import TEXTS, bodies, load, to
from tests.support.cli import answer, output, run, sentence
from tests.support.http_server import Indices, indices

FOUR = Settings(Analysis(shingle_size=4))


def of_four(settings: Settings) -> Settings:
    """The change that is made here."""
    return replace(settings, analysis=replace(settings.analysis, shingle_size=4))


def of_three(settings: Settings) -> Settings:
    """Another one."""
    return replace(settings, analysis=replace(settings.analysis, shingle_size=3))


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
    for each in pipelines(engine, "test-"):
        engine.call("DELETE", ["_ingest", "pipeline", each])


def indexed(made: Indices, engine: Engine) -> str:
    """An index with fingerprints of the usual settings, and something of its owner's in `_meta`."""
    name = made.make({"_meta": {"owner": "a team"}, "properties": {"body": {"type": "text"}}})
    load(engine, name, bodies(TEXTS))
    Backfill(engine, name, Task("body")).run()
    return name


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


def test_queries_switch_once_all_documents_have_the_new_field(made: Indices, engine: Engine) -> None:
    """Before that they ask the first one; the owner's part of `_meta` stays."""
    name = indexed(made, engine)
    change = change_of(engine, name, of_four)
    report = fill(engine, change)

    assert ("simdoc", "simdoc_2", FOUR, ("body",)) == (change.old, change.new, change.settings, change.text_fields)
    assert (len(TEXTS), []) == (report.updated, report.refused)
    assert ("simdoc", Settings()) == _asked(engine, name)
    switch(engine, change)
    assert ("simdoc_2", FOUR) == _asked(engine, name)
    assert "a team" == engine.call("GET", [name, "_mapping"])[name]["mappings"]["_meta"]["owner"]
    assert _fresh(engine, name, "simdoc_2", FOUR) == len(TEXTS) == _fresh(engine, name, "simdoc", Settings())
    with pytest.raises(StoreError, match="has these settings already, in its field simdoc_2; there is nothing"):
        change_of(engine, name, of_four)


def test_nothing_is_missed_while_the_application_writes(made: Indices, engine: Engine) -> None:
    """New documents, changed texts and deletions, until the switch; and each query finds its document once."""
    name = indexed(made, engine)
    wrong: list[str] = []
    written = dict(TEXTS)

    def write() -> None:
        for number, (id, text) in enumerate(TEXTS.items()):
            if number % 3 == 0:
                load(engine, name, bodies({f"new{number}": f"{text} of the new {number}"}))
                written[f"new{number}"] = f"{text} of the new {number}"
            elif number % 3 == 1:
                written[id] = f"changed {number} {text}"
                engine.call("POST", [name, "_update", id], {"doc": {"body": written[id]}}, retry_on_conflict=5)
            else:
                engine.call("DELETE", [name, "_doc", id])
                del written[id]

    def ask() -> None:
        for number, (id, text) in enumerate(TEXTS.items()):
            if number % 3 == 0:  # which nobody changes
                search = SimilaritySearch(open_store(client=engine._client, index=name))
                found = [hit.id for hit in search.similar_to_text(text, overlap=0.9).hits]
                wrong.extend([id] if found != [id] else [])

    with _Beside(write, ask):
        change = change_of(engine, name, of_four)
        fill(engine, change)
        while threading.active_count() > 1 and any(each.name == "write" for each in threading.enumerate()):
            fill(engine, change)
        switch(engine, change)
    assert [] == wrong
    assert ("simdoc_2", FOUR) == _asked(engine, name)
    assert len(written) == _fresh(engine, name, "simdoc_2", FOUR)


def test_a_change_goes_on_and_the_first_field_goes(made: Indices, engine: Engine) -> None:
    """A run that was stopped goes on with the same field; what is removed is all of the others, and back again."""
    name = indexed(made, engine)
    fill(engine, change_of(engine, name, of_four))
    other = change_of(engine, name, lambda settings: replace(settings, passages=None))
    change = change_of(engine, name, of_four)
    fill(engine, other)

    assert ("simdoc_3", "simdoc_2") == (other.new, change.new)
    switch(engine, change)
    assert {"simdoc": len(TEXTS), "simdoc_3": len(TEXTS)} == remove_others(engine, name).documents
    assert {"simdoc": 0, "simdoc_3": 0} == remove_others(engine, name).documents
    sources = engine.search(name, {"size": 1000})["hits"]["hits"]
    assert {("body", "number", "simdoc_2")} == {tuple(sorted(each["_source"])) for each in sources}
    back = change_of(engine, name, lambda _: Settings())
    assert "simdoc" == back.new
    switch(engine, back)
    assert ("simdoc", len(TEXTS)) == (_asked(engine, name)[0], _fresh(engine, name, "simdoc", Settings()))


def test_all_indices_behind_an_alias_switch(made: Indices, engine: Engine) -> None:
    """Between them the field is asked that all have; an index that lacks it is one clear sentence."""
    names = [indexed(made, engine) for _ in range(2)]
    alias = made.alias(*names)
    change = change_of(engine, alias, of_four)
    fill(engine, change)
    switch(engine, replace(change, index=names[0]))

    assert ("simdoc", Settings()) == _asked(engine, alias)
    assert ("simdoc_2", FOUR) == _asked(engine, names[0])
    switch(engine, change)
    assert ("simdoc_2", FOUR) == _asked(engine, alias)
    alone = made.alias(names[0], indexed(made, engine))
    assert ("simdoc", Settings()) == _asked(engine, alone)
    remove_others(engine, names[0])
    with pytest.raises(StoreError, match="use the fields simdoc, simdoc_2; run simdoc-search refingerprint"):
        _asked(engine, alone)


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

    assert len(TEXTS) + 1 == _fresh(engine, name, "simdoc", Settings()) == _fresh(engine, name, "simdoc_2", FOUR)
    switch(engine, change)
    remove_others(engine, name)
    load(engine, name, bodies({"after": "a text that came after the change was done"}))
    assert len(TEXTS) + 2 == _fresh(engine, name, "simdoc_2", FOUR)
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
    name = piped(made, engine, f"test-{uuid4()}", dynamic=dynamic)
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

    with _Beside(write, change):
        pass
    assert len(TEXTS) < len(written) == _fresh(engine, name, "simdoc_2", FOUR)


def test_a_name_that_has_another_mapping_is_passed_over(made: Indices, engine: Engine) -> None:
    """Be it of no documents; the next free one is taken, and that is said."""
    name = indexed(made, engine)
    guessed = {"properties": {"tokens": {"type": "text"}, "buckets": {"type": "long"}}}
    engine.call("PUT", [name, "_mapping"], {"properties": {"simdoc_2": guessed}})
    said = output("refingerprint", f"{engine.name}/{name}", "--shingle-size", 4)

    assert "documents get simdoc_3, as simdoc_2 is a field of something else" in said
    assert ("simdoc_3", FOUR) == _asked(engine, name)


def test_each_index_has_pipelines_of_its_own(made: Indices, engine: Engine) -> None:
    """Of one pipeline for two indices, other settings for each; a run that broke off goes on, and nothing is left."""
    pipeline = f"test-{uuid4()}"
    names = [piped(made, engine, pipeline) for _ in range(2)]
    changes = [change_of(engine, name, to) for name, to in zip(names, (of_four, of_three), strict=True)]
    for change in (*changes, *changes):
        fill(engine, change)
        load(engine, change.index, bodies({"during": "a text that came while the change was going on"}))
        assert len(TEXTS) + 1 == _fresh(engine, change.index, "simdoc_2", change.settings)

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
    assert len(TEXTS) + 2 == _fresh(engine, names[0], third.new, third.settings)


def test_another_field_of_the_application_stays_filled(made: Indices, engine: Engine) -> None:
    """One of titles, say, which the same pipeline fills, is none of other settings: nothing is changed for it."""
    name = piped(made, engine, ours := f"test-{uuid4()}")
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
    name = piped(made, engine, ours := f"test-{uuid4()}")
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


def test_watches_of_before_are_named_and_set_anew(made: Indices, engine: Engine) -> None:
    """They are listed and removed as ever; one that is set anew finds what arrives, in the same index of watches."""
    name = indexed(made, engine)
    url, ids = f"{engine.name}/{name}", list(TEXTS)[:3]
    output("watch", *ids, "--overlap", 60, "--store", url)
    install_search_templates(engine, force=True)
    said = output("refingerprint", url, "--shingle-size", 4)
    anew = f"simdoc-search watch {' '.join(ids)} --overlap 60 --store {url}"

    assert f"no copy after the switch, and are to be set anew then: {', '.join(ids)}" in said.splitlines()[0]
    assert anew in said
    assert 'the stored search templates ask simdoc; from now on give them "field": "simdoc_2"' in said
    assert 3 == output("watch", "--list", "--store", url).count("of other settings than documents have now: set it")
    remove_others(engine, name)
    load(engine, name, {"new": {"body": TEXTS[ids[0]], "simdoc_2": fingerprint_field(TEXTS[ids[0]], FOUR)}})
    arrived = run("watch", "--arrived", "new", "--store", url)
    assert "new is a copy of nothing that is watched" in arrived.stdout
    assert "3 watched are of other settings" in arrived.stderr
    assert "1 removed\n" == output("watch", "--remove", ids[2], "--store", url)
    output(*shlex.split(anew)[1:3], *shlex.split(anew)[5:])
    assert [False, True] == [each["outdated"] for each in answer("watch", "--list", "--store", url)["watched"]]
    assert ids[0] in output("watch", "--arrived", "new", "--store", url)
    asked = {"id": "simdoc-new-copies", "params": {"index": name, "id": "new", "field": "simdoc_2"}}
    hits = engine.call("POST", [WATCHES, "_search", "template"], asked)["hits"]["hits"]
    assert [ids[0]] == [each["_source"]["watched"]["id"] for each in hits]
    assert ids[:2] == answer("refingerprint", url, "--shingle-size", 3, "--no-switch")["watches_of_before"]
    engine.call("DELETE", [WATCHES])


def test_what_cannot_be_changed_is_said(made: Indices, engine: Engine) -> None:
    """An index of our own, and one whose text nobody knows."""
    name = made.make({"properties": {"body": {"type": "text"}}})
    load(engine, name, {id: {"body": text, "simdoc": fingerprint_field(text)} for id, text in TEXTS.items()})
    Backfill(engine, name, Task("body")).run()
    url = f"{engine.name}/{made.name()}"
    output("index", "LICENSE", "--store", url)

    assert "was made by simdoc-search index; index again" in sentence(run("refingerprint", url, "--shingle-size", 4))
    assert "leave out the other options" in run("refingerprint", url, "--remove-others", "--unit", "word").stderr
    missing = sentence(run("refingerprint", f"{engine.name}/no-such-index", "--shingle-size", 4))
    assert "has no index no-such-index; make it first" in missing


def test_one_command_does_it(made: Indices, engine: Engine) -> None:
    """Each step says what comes next, and who asks finds the same documents throughout."""
    name = indexed(made, engine)
    url, id = f"{engine.name}/{name}", next(iter(TEXTS))
    before = answer("similar", f'"{id}"', "--store", url)["hits"]
    said = output("refingerprint", url, "--shingle-size", 3, "--no-switch")

    assert "queries still ask simdoc;" in said
    assert 5 == answer("info", "--store", url)["settings"]["analysis"]["shingle_size"]
    said = output("refingerprint", url, "--shingle-size", 3)
    assert "queries ask simdoc_2; who writes documents" in said
    assert 3 == answer("info", "--store", url)["settings"]["analysis"]["shingle_size"]
    assert f"simdoc removed from {len(TEXTS)} documents" in output("refingerprint", url, "--remove-others")
    assert {each["id"] for each in before} <= {
        each["id"] for each in answer("similar", f'"{id}"', "--store", url)["hits"]
    }
    load(engine, name, bodies({"later": "a text that came later than all of the others did"}))
    assert "1 updated" in output("backfill", url, "--field", "body")


def test_what_was_refused_last_is_named_too(made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document that came between the first reading and the switch, and cannot be done: by name and exit code."""
    name = made.make({"properties": {"body": {"type": "text"}}})
    load(engine, name, bodies(TEXTS))
    Backfill(engine, name, Task("body")).run()

    def late(*args: Any, **options: Any) -> Any:
        load(engine, name, {"late": {"body": 7}})
        return switch(*args, **options)

    monkeypatch.setattr(refingerprint, "switch", late)
    result = run("refingerprint", f"{engine.name}/{name}", "--shingle-size", 4)
    assert 1 == result.exit_code
    assert "late: the field body holds int, not text" in result.stderr
    assert "queries ask simdoc_2" in result.stdout


class _Beside:
    """Runs things beside what is in the block, and waits for them at its end."""

    def __init__(self, *actions: Callable[[], None]) -> None:
        self._failed: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run, args=(each,), name=each.__name__) for each in actions]

    def _run(self, action: Callable[[], None]) -> None:
        try:
            action()
        except BaseException as error:
            self._failed.append(error)

    def __enter__(self) -> None:
        for each in self._threads:
            each.start()

    def __exit__(self, *_: object) -> None:
        for each in self._threads:
            each.join()
        assert [] == self._failed


def _asked(engine: Engine, name: str) -> tuple[str, Settings]:
    """The field that a store asks, and its settings."""
    store = open_store(client=engine._client, index=name)
    return store.field, store.settings  # type: ignore[attr-defined]


def _fresh(engine: Engine, name: str, field: str, settings: Settings) -> int:
    """How many documents have the fingerprint of their text in a field; all that have it must."""
    engine.refresh(name)
    hits = engine.search(name, {"size": 1000})["hits"]["hits"]
    for hit in hits:
        assert fingerprint_field(hit["_source"]["body"], settings) == hit["_source"][field], hit["_id"]
    return len(hits)
