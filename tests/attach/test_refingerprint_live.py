"""Other settings for an index in use: nothing missed, nothing doubled, while an application writes and asks."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.attach import refingerprint
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import Backfill, Task
from simdoc_search.attach.refingerprint import change_of, fill, remove_others, switch
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.watches import WATCHES
from tests.support.backfill import TEXTS, bodies, load, to
from tests.support.cli import answer, output, run, sentence
from tests.support.http_server import Indices, indices
from tests.support.installing import install_search_templates
from tests.support.refingerprint import FOUR, Beside, asked, fresh, of_four


@pytest.fixture(scope="module")
def engine(opensearch_url: str) -> Iterator[Engine]:
    """The way to it."""
    with to(opensearch_url) as opened:
        yield opened


@pytest.fixture
def made(opensearch_url: str) -> Iterator[Indices]:
    """Indices of an application's own."""
    with indices(opensearch_url) as them:
        yield them


def indexed(made: Indices, engine: Engine) -> str:
    """An index with fingerprints of the usual settings, and something of its owner's in `_meta`."""
    name = made.make({"_meta": {"owner": "a team"}, "properties": {"body": {"type": "text"}}})
    load(engine, name, bodies(TEXTS))
    Backfill(engine, name, Task("body")).run()
    return name


def test_queries_switch_once_all_documents_have_the_new_field(made: Indices, engine: Engine) -> None:
    """Before that they ask the first one; the owner's part of `_meta` stays."""
    name = indexed(made, engine)
    change = change_of(engine, name, of_four)
    report = fill(engine, change)

    assert ("simdoc", "simdoc_2", FOUR, ("body",)) == (change.old, change.new, change.settings, change.text_fields)
    assert (len(TEXTS), []) == (report.updated, report.refused)
    assert ("simdoc", Settings()) == asked(engine, name)
    switch(engine, change)
    assert ("simdoc_2", FOUR) == asked(engine, name)
    assert "a team" == engine.call("GET", [name, "_mapping"])[name]["mappings"]["_meta"]["owner"]
    assert fresh(engine, name, "simdoc_2", FOUR) == len(TEXTS) == fresh(engine, name, "simdoc", Settings())
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

    with Beside(write, ask):
        change = change_of(engine, name, of_four)
        fill(engine, change)
        while threading.active_count() > 1 and any(each.name == "write" for each in threading.enumerate()):
            fill(engine, change)
        switch(engine, change)
    assert [] == wrong
    assert ("simdoc_2", FOUR) == asked(engine, name)
    assert len(written) == fresh(engine, name, "simdoc_2", FOUR)


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
    assert ("simdoc", len(TEXTS)) == (asked(engine, name)[0], fresh(engine, name, "simdoc", Settings()))


def test_all_indices_behind_an_alias_switch(made: Indices, engine: Engine) -> None:
    """Between them the field is asked that all have; an index that lacks it is one clear sentence."""
    names = [indexed(made, engine) for _ in range(2)]
    alias = made.alias(*names)
    change = change_of(engine, alias, of_four)
    fill(engine, change)
    switch(engine, replace(change, index=names[0]))

    assert ("simdoc", Settings()) == asked(engine, alias)
    assert ("simdoc_2", FOUR) == asked(engine, names[0])
    switch(engine, change)
    assert ("simdoc_2", FOUR) == asked(engine, alias)
    alone = made.alias(names[0], indexed(made, engine))
    assert ("simdoc", Settings()) == asked(engine, alone)
    remove_others(engine, names[0])
    with pytest.raises(StoreError, match="use the fields simdoc, simdoc_2; run simdoc-search refingerprint"):
        asked(engine, alone)


def test_a_name_that_has_another_mapping_is_passed_over(made: Indices, engine: Engine) -> None:
    """Be it of no documents; the next free one is taken, and that is said."""
    name = indexed(made, engine)
    guessed = {"properties": {"tokens": {"type": "text"}, "buckets": {"type": "long"}}}
    engine.call("PUT", [name, "_mapping"], {"properties": {"simdoc_2": guessed}})
    said = output("refingerprint", f"{engine.name}/{name}", "--shingle-size", 4)

    assert "documents get simdoc_3, as simdoc_2 is a field of something else" in said
    assert ("simdoc_3", FOUR) == asked(engine, name)


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
    assert "1 updated" in output("backfill", url, "--text-field", "body")


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
