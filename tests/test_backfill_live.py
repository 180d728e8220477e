"""Fingerprints for indices that exist, in real engines: while others write, after kill -9, and what is refused."""

from __future__ import annotations

import itertools
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from simdoc_search import Analysis, SimilaritySearch, open_store
from simdoc_search.actions import fingerprint_field, fingerprint_fields
from simdoc_search.backfill import Backfill, BackfillReport, Estimate, Task, estimate, rounds, running
from simdoc_search.errors import StoreError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import patience
from simdoc_search.stores.checks import check_index
from simdoc_search.stores.connecting import connect
from simdoc_search.stores.rest import Engine
from simdoc_search.stores.templates import component_template
from tests.cli import answer, environment, output, run, sentence
from tests.engines import call
from tests.http_server import Answer, Indices, Request, Server, error, forward, indices, serving
from tests.texts import documents

TEXTS = {each.id: each.text for each in documents("backfill", 160, words=30)}
OTHER = "quite another text that somebody wrote while we were busy with the first one"


one_engine = pytest.mark.parametrize("engine_url", ["opensearch"], indirect=True)
"""For what is decided on our side: it need not be asked of each engine."""


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """The address of each engine."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(scope="module")
def engine(engine_url: str) -> Iterator[Engine]:
    """The way to it."""
    with to(engine_url) as opened:
        yield opened


@pytest.fixture
def made(engine_url: str) -> Iterator[Indices]:
    """Indices of an application's own."""
    with indices(engine_url) as them:
        yield them


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is made to be busy is asked again at once."""
    monkeypatch.setattr(patience, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(patience, "LONGEST_PAUSE", 0.01)


@contextmanager
def to(url: str) -> Iterator[Engine]:
    """The way to an engine."""
    opened, _ = connect(url, index=False)
    with closing(opened):
        yield opened


def load(engine: Engine, index: str, sources: Mapping[str, Mapping[str, Any]], **place: Any) -> None:
    """Put documents into an index, as its application does."""
    lines = (
        json.dumps(line)
        for id, source in sources.items()
        for line in ({"index": {"_index": index, "_id": id, **place}}, source)
    )
    assert not engine.call("POST", ["_bulk"], "".join(f"{line}\n" for line in lines).encode(), refresh=True)["errors"]


def bodies(texts: Mapping[str, Any] = TEXTS) -> dict[str, dict[str, Any]]:
    """Documents with a text, and a field that is none of our business."""
    return {id: {"body": text, "number": number} for number, (id, text) in enumerate(texts.items())}


def filled(made: Indices, engine: Engine, texts: Mapping[str, Any] = TEXTS, **settings: Any) -> str:
    """An index with documents."""
    name = made.make({"properties": {"body": {"type": "text"}, "number": {"type": "integer"}}}, settings)
    load(engine, name, bodies(texts))
    return name


def stored(engine: Engine, index: str) -> dict[str, Any]:
    """What an index has, by id."""
    engine.call("POST", [index, "_refresh"])
    hits = engine.call("POST", [index, "_search"], {"size": 1000})["hits"]["hits"]
    assert len(hits) == len({hit["_id"] for hit in hits})
    return {hit["_id"]: hit["_source"] for hit in hits}


def done(texts: Mapping[str, str] = TEXTS) -> dict[str, dict[str, Any]]:
    """What it has when all is done."""
    made = fingerprint_fields(list(texts.values()), Settings())
    return {id: {**source, "simdoc": ours} for (id, source), ours in zip(bodies(texts).items(), made, strict=True)}


def backfill(engine: Engine, index: str, text_field: str = "body", **options: Any) -> BackfillReport:
    """What a run reports."""
    return Backfill(engine, index, Task(text_field, **options)).run()


def reasons(report: BackfillReport | Estimate) -> dict[str, str]:
    """Why indices were skipped."""
    return {each.index: each.reason for each in report.skipped_indices}


# --- what is written ---


def test_every_document_gets_the_fingerprint_of_its_text(made: Indices, engine: Engine) -> None:
    """The same that a loader with `fingerprint_actions` writes; nothing else in the documents is another."""
    name = filled(made, engine)
    report = backfill(engine, name)

    assert replace(BackfillReport(updated=len(TEXTS)), seconds=report.seconds) == report
    assert done() == stored(engine, name)
    assert [] == [each for each in check_index(engine, name) if each.wrong or "no fingerprint" in each.problem]


def test_the_mapping_gets_our_field_and_nothing_else(made: Indices, engine: Engine) -> None:
    """The other fields, and what their owner says of them, stay."""
    own = {"dynamic": "strict", "_meta": {"owner": "a team"}, "properties": {"body": {"type": "text"}}}
    name = made.make(own)
    load(engine, name, {"a": {"body": TEXTS["doc0"]}})
    before = engine.call("GET", [name])[name]["mappings"]
    backfill(engine, name)
    after = engine.call("GET", [name])[name]["mappings"]

    assert component_template()["template"]["mappings"]["properties"]["simdoc"] == after["properties"].pop("simdoc")
    assert before == after


def test_a_second_run_has_nothing_to_do(made: Indices, engine: Engine) -> None:
    """Only documents without a fingerprint are asked for; new ones are done then."""
    name = filled(made, engine)
    backfill(engine, name)
    again = backfill(engine, name)
    load(engine, name, {"new": {"body": OTHER}})

    assert (0, 0) == (again.updated, again.unchanged)
    assert 1 == backfill(engine, name).updated


@one_engine
@pytest.mark.parametrize("text", [" ... ", "", None, []])
def test_a_text_without_words_is_read_once(made: Indices, engine: Engine, text: object) -> None:
    """It gets a mark in the place of a fingerprint, so that it is not read for ever; `check` counts it as done."""
    name = filled(made, engine, {"a": text, "b": OTHER})
    report = backfill(engine, name)

    assert (1, 1) == (report.updated, report.without_text)
    assert (0, 0) == (backfill(engine, name).without_text, backfill(engine, name, stale=True).without_text)
    assert 0 == stored(engine, name)["a"]["simdoc"]["buckets"]
    assert [] == [each for each in check_index(engine, name) if "no fingerprint" in each.problem]


@one_engine
@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("content.body", {"content": {"body": OTHER}}),
        ("content.body", {"content.body": OTHER}),
        ("pages", {"pages": OTHER.split(" that ")}),
        ("pages.text", {"pages": [{"text": each} for each in OTHER.split(" that ")]}),
    ],
    ids=["object", "dotted", "list", "objects"],
)
def test_the_text_may_be_deep_and_in_parts(made: Indices, engine: Engine, path: str, source: Any) -> None:
    """Dots lead into objects, a list is one text; the document stays as it was written."""
    name = made.make({})
    load(engine, name, {"a": source})
    backfill(engine, name, path)
    found = stored(engine, name)["a"]
    text = "\n".join(OTHER.split(" that ")) if "pages" in source else OTHER

    assert fingerprint_field(text) == found.pop("simdoc")
    assert source == found


def test_a_document_whose_text_is_none_is_listed(made: Indices, engine: Engine) -> None:
    """The others are done."""
    name = made.make({"dynamic": False})
    load(engine, name, {"a": {"body": 7}, "b": {"body": OTHER}})
    report = backfill(engine, name)

    assert (1, [("a", name)]) == (report.updated, [(each.id, each.index) for each in report.refused])
    assert "holds int, not text" in report.refused[0].reason


def test_a_document_that_the_engine_takes_no_more_is_listed(made: Indices, engine: Engine) -> None:
    """An update indexes the whole document anew, by the mapping of today; it is refused once, not in every round."""
    name = made.make({"dynamic": False, "properties": {"body": {"type": "text"}}})
    load(engine, name, {"a": {"body": OTHER, "unknown": 1}, "b": {"body": OTHER}})
    engine.call("PUT", [name, "_mapping"], {"dynamic": "strict"})
    report = backfill(engine, name)

    assert (1, ["a"]) == (report.updated, [each.id for each in report.refused])
    assert "strict" in report.refused[0].reason
    assert {"body": OTHER, "unknown": 1} == stored(engine, name)["a"]


def test_a_query_chooses(made: Indices, engine: Engine) -> None:
    """In Lucene's syntax, or as JSON."""
    name = filled(made, engine)
    some = answer("backfill", f"{made.engine}/{name}", "--field", "body", "--query", "number:[0 TO 9]")
    more = answer(
        "backfill", f"{made.engine}/{name}", "--field", "body", "--query", '{"range": {"number": {"lt": 15}}}'
    )

    assert (10, 5) == (some["updated"], more["updated"])
    assert 15 == sum("simdoc" in each for each in stored(engine, name).values())


def test_documents_keep_their_routing(made: Indices, engine: Engine) -> None:
    """An update without it would look for the document on another shard."""
    name = made.make({"_routing": {"required": True}}, {"number_of_shards": 3})
    for number in range(6):
        load(engine, name, {f"{number}": {"body": OTHER}}, routing=f"r{number}")

    assert 6 == backfill(engine, name).updated
    assert 6 == sum("simdoc" in each for each in stored(engine, name).values())


def test_the_found_documents_are_what_a_query_finds(made: Indices, engine: Engine) -> None:
    """The whole way: an application's index, backfilled, asked by our search."""
    name = filled(made, engine, {"a": TEXTS["doc0"], "copy": TEXTS["doc0"], "other": OTHER, "empty": ""})
    backfill(engine, name)
    with closing(open_store(f"{made.engine}/{name}")) as store:
        search = SimilaritySearch(store)

        assert ["copy"] == [hit.id for hit in search.similar("a_80_90").hits]


# --- what has changed ---


@pytest.mark.parametrize("renewed_after", [7, 50_000])
def test_a_changed_text_is_found_by_its_hash(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch, renewed_after: int
) -> None:
    """`stale` reads all documents; one whose text became another gets another fingerprint, or loses it."""
    monkeypatch.setattr(running, "RENEWED_AFTER", renewed_after)
    monkeypatch.setattr(rounds, "FIRST_PAGE", 5)
    name = filled(made, engine, number_of_shards=3)
    backfill(engine, name)
    texts = dict(TEXTS)
    for id, text in (("doc7", OTHER), ("doc8", "")):
        engine.call("POST", [name, "_update", id], {"doc": {"body": text}}, refresh=True)
        texts[id] = text
    report = backfill(engine, name, stale=True)
    found = stored(engine, name)

    assert (1, 1, len(TEXTS) - 2) == (report.updated, report.without_text, report.unchanged)
    assert {**done(texts), "doc8": found["doc8"]} == found
    assert (None, 0) == (found["doc8"]["simdoc"]["tokens"], found["doc8"]["simdoc"]["buckets"])


def test_fingerprints_of_other_settings_are_made_anew(made: Indices, engine: Engine) -> None:
    """What the mapping's `meta` says counts, for documents without fingerprint too."""
    settings = Settings(Analysis("lowercase", 3), token_length=5)
    name = made.make(component_template(settings)["template"]["mappings"])
    load(engine, name, {"a": {"body": OTHER, "simdoc": fingerprint_field(OTHER)}, "b": {"body": OTHER}})

    assert 1 == backfill(engine, name).updated
    assert 1 == backfill(engine, name, stale=True).updated
    assert [fingerprint_field(OTHER, settings)] * 2 == [each["simdoc"] for each in stored(engine, name).values()]


def test_watching_finds_what_is_new_and_what_changes(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new document without the field, a changed one with a greater value; a change that does not say so stays."""
    name = made.make({"properties": {"body": {"type": "text"}, "changed": {"type": "date"}}})
    load(engine, name, {id: {"body": TEXTS[id], "changed": "2024-01-01T00:00:00Z"} for id in ("doc0", "doc1", "doc2")})
    looks = itertools.count()

    def meanwhile(_: float) -> None:
        look = next(looks)
        if look == 0:
            load(engine, name, {"new": {"body": OTHER}})
            engine.call("POST", [name, "_update", "doc1"], {"doc": {"body": "", "changed": "2024-01-02"}}, refresh=True)
            engine.call("POST", [name, "_update", "doc2"], {"doc": {"body": "silent"}}, refresh=True)
            monkeypatch.setattr(running, "LAG", 0.0)
        elif look == 1:
            engine.call("POST", [name, "_update", "doc1"], {"doc": {"body": OTHER, "changed": "2025"}}, refresh=True)
        elif look == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("simdoc_search.backfill.running.time.sleep", meanwhile)
    watching = Backfill(engine, name, Task("body"))
    with pytest.raises(KeyboardInterrupt):
        watching.watch("changed")
    found = stored(engine, name)

    assert fingerprint_field(OTHER) == found["new"]["simdoc"] == found["doc1"]["simdoc"]
    assert fingerprint_field(TEXTS["doc2"]) == found["doc2"]["simdoc"]
    assert (5, 1) == (watching.report.updated, watching.report.without_text)


@one_engine
@pytest.mark.parametrize(("field", "said"), [("chnaged", "no document has the field chnaged"), ("body", "body")])
def test_watching_needs_a_field_that_grows(made: Indices, engine: Engine, field: str, said: str) -> None:
    """A misspelt one would never show a change."""
    name = filled(made, engine)

    with pytest.raises(StoreError, match=said):
        Backfill(engine, name, Task("body")).watch(field)


# --- while others write ---


@contextmanager
def interposed(made: Indices, before_bulk: Callable[[int], Answer | None]) -> Iterator[tuple[Engine, Server]]:
    """A way to the engine on which something happens before each bulk request, counted from 0."""
    passing, number = forward(made.engine), itertools.count()

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_bulk") and (instead := before_bulk(next(number))):
            return instead
        return passing(request)

    with serving(handle) as server, to(server.url) as engine:
        yield engine, server


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page is read while one is written."""
    monkeypatch.setattr(rounds, "READERS", 1)
    monkeypatch.setattr(rounds, "WRITERS", 1)


def test_a_document_that_changed_after_it_was_read_is_read_again(made: Indices, engine: Engine) -> None:
    """The other's write stays, and the fingerprint is that of the other's text."""
    name = filled(made, engine)

    def write(number: int) -> None:
        if number == 0:
            engine.call("PUT", [name, "_doc", "doc0"], {"body": OTHER, "number": -1})
            engine.call("POST", [name, "_update", "doc1"], {"doc": {"number": -2}})
            engine.call("POST", [name, "_update", "doc2"], {"doc": {"body": OTHER}})
            engine.call("PUT", [name, "_doc", "doc3"], {"body": OTHER, "simdoc": fingerprint_field(OTHER)})
            engine.call("DELETE", [name, "_doc", "doc4"])

    with interposed(made, write) as (through, _):
        report = backfill(through, name)
    found = stored(engine, name)

    assert {"body": OTHER, "number": -1, "simdoc": fingerprint_field(OTHER)} == found["doc0"]
    assert -2 == found["doc1"]["number"]
    assert fingerprint_field(OTHER) == found["doc2"]["simdoc"]
    assert {"body": OTHER, "simdoc": fingerprint_field(OTHER)} == found["doc3"]
    assert "doc4" not in found
    assert (4, 1, 1) == (report.conflicts, report.unchanged, report.deleted_meanwhile)
    assert len(TEXTS) - 2 == report.updated


@pytest.mark.usefixtures("one_by_one")
def test_what_a_loader_replaces_after_its_turn_is_done_again(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole document that is written anew has no fingerprint; the run looks again before it ends."""
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 40)
    name = filled(made, engine)

    def replaced(number: int) -> None:
        if number == 2:
            engine.call("PUT", [name, "_doc", "doc0"], {"body": OTHER})

    with interposed(made, replaced) as (through, _):
        report = backfill(through, name)

    assert len(TEXTS) + 1 == report.updated
    assert {"body": OTHER, "simdoc": fingerprint_field(OTHER)} == stored(engine, name)["doc0"]


def test_a_document_that_others_change_all_the_time_is_left(made: Indices, engine: Engine) -> None:
    """It is listed, and the next run does it; nobody's write is lost."""
    name = filled(made, engine, {"a": OTHER, "b": OTHER})
    numbers = itertools.count(100)

    def write(_: int) -> None:
        engine.call("POST", [name, "_update", "a"], {"doc": {"number": next(numbers)}})

    with interposed(made, write) as (through, _):
        report = backfill(through, name)
    last = stored(engine, name)["a"]

    assert (1, ["a"]) == (report.updated, sorted({each.id for each in report.refused}))
    assert "run it again" in report.refused[0].reason
    assert {"body": OTHER, "number": next(numbers) - 1} == last
    assert 1 == backfill(engine, name).updated


@pytest.mark.usefixtures("one_by_one")
def test_an_index_that_is_removed_meanwhile_is_not_made_anew(made: Indices, engine: Engine) -> None:
    """The engine makes an index for an update that comes too late, without its owner's mapping."""
    gone, kept = filled(made, engine), filled(made, engine)
    alias = made.alias(gone, kept)
    passing, removed = forward(made.engine), False

    def handle(request: Request) -> Answer | None:
        nonlocal removed
        if not removed and f"{gone}/_settings" in request.path:
            removed = True
            engine.call("DELETE", [gone])
        return passing(request)

    with serving(handle) as server, to(server.url) as through:
        report = backfill(through, alias)

    assert {gone: "it was removed meanwhile"} == reasons(report)
    assert len(TEXTS) == report.updated
    with pytest.raises(StoreNotFoundError):
        engine.call("GET", [gone])


@pytest.mark.usefixtures("one_by_one")
def test_an_index_that_takes_the_name_of_another_is_not_written(made: Indices, engine: Engine) -> None:
    """The same ids, counted by the engine from 0 as in the old one, do not make it the same document."""
    name = filled(made, engine)

    def handle(request: Request) -> Answer | None:
        if f"{name}/_settings" in request.path and not swapped:
            swapped.append(True)
            engine.call("DELETE", [name])
            load(engine, name, {id: {"body": OTHER} for id in TEXTS})
        return passing(request)

    passing, swapped = forward(made.engine), list[bool]()
    with serving(handle) as server, to(server.url) as through:
        report = backfill(through, name)

    assert {name: "another index has taken its name; run it again"} == reasons(report)
    assert {id: {"body": OTHER} for id in TEXTS} == stored(engine, name)


# --- engines that are busy, away, or old ---


def test_an_engine_that_fails_now_and_then_loses_nothing(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Busy, away, or cut off in the middle of an answer: what was sent twice is counted once."""
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 20)
    name = filled(made, engine, number_of_shards=2)
    choose, passing = random.Random(0), forward(made.engine)
    busy = error(429, "rejected_execution_exception", "queue full")

    def unsteady(request: Request) -> Answer | None:
        answered = passing(request)
        if request.method == "GET" or choose.random() < 0.6:
            return answered
        return choose.choice([busy, None, answered and replace(answered, cut=True)])

    with serving(unsteady) as server, to(server.url) as through:
        report = backfill(through, name)

    assert len(TEXTS) == report.updated + report.unchanged
    assert done() == stored(engine, name)


@pytest.mark.parametrize("lacks", ["point in time", "refresh"])
def test_an_engine_that_has_not_all_of_it_is_done_too(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    """Without points in time by a scroll; where we may not refresh, in one round."""
    monkeypatch.setattr(running, "RENEWED_AFTER", 50)
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 20)
    name = filled(made, engine, number_of_shards=2)
    passing = forward(made.engine)
    parts = {"point in time": ("point_in_time", "_pit"), "refresh": ("_refresh",)}[lacks]
    refusal = error(400 if lacks == "point in time" else 403, "no handler", "no such thing")

    def handle(request: Request) -> Answer | None:
        return refusal if any(part in request.path for part in parts) else passing(request)

    with serving(handle) as server, to(server.url) as through:
        report = backfill(through, name)
        kinds = Counter("scroll=" in each.path for each in server.requests)

    assert len(TEXTS) == report.updated
    assert done() == stored(engine, name)
    assert (lacks == "point in time") == (kinds[True] > 0)


def test_a_moment_is_held_for_so_many_documents_and_let_go(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No old segment is pinned for hours: each point in time is closed before the next is opened."""
    monkeypatch.setattr(running, "RENEWED_AFTER", 40)
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 20)
    name = filled(made, engine)
    with interposed(made, lambda _: None) as (through, server):
        backfill(through, name)
        requests = [each for each in server.requests if "_pit" in each.path or "point_in_time" in each.path]
    opened = [each.method for each in requests if each.method == "DELETE" or "keep_alive" in each.path]
    tried = opened.count("POST") // max(1, opened.count("DELETE"))  # OpenSearch's way comes first

    assert done() == stored(engine, name)
    assert 4 <= opened.count("DELETE")
    assert (["POST"] * tried + ["DELETE"]) * opened.count("DELETE") == opened


def test_a_moment_that_the_engine_let_go_is_replaced(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a long pause, or a restart of a node."""
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 30)
    name = filled(made, engine)
    passing, searches = forward(made.engine), itertools.count()

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_search?") and next(searches) == 3:
            return error(404, "search_context_missing_exception", "No search context found for id [7]")
        return passing(request)

    with serving(handle) as server, to(server.url) as through:
        assert len(TEXTS) == backfill(through, name).updated
    assert done() == stored(engine, name)


def test_all_shards_are_read_to_their_ends(made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order in a shard is that of its documents' numbers, which are the same in each: nothing falls between."""
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 3)
    monkeypatch.setattr(rounds, "FIRST_PAGE", 3)
    name = filled(made, engine, number_of_shards=5)
    backfill(engine, name)

    assert len(TEXTS) == backfill(engine, name, stale=True).unchanged


# --- killed, and interrupted ---


@contextmanager
def process(url: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A backfill in a process of its own."""
    command = [sys.executable, "-m", "simdoc_search", "backfill", url, "--field", "body", *arguments]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", env=environment()
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def wait_for(engine: Engine, index: str, least: int) -> None:
    """Wait until so many documents have a fingerprint; unless it is all of them, not all have one."""
    deadline = time.monotonic() + 30
    while True:
        engine.call("POST", [index, "_refresh"])
        found = engine.call("POST", [index, "_count"], {"query": {"exists": {"field": "simdoc.format"}}})["count"]
        if found >= least:
            assert found < len(TEXTS) or least == len(TEXTS)
            return
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_run_that_is_killed_three_times_is_completed(made: Indices, engine: Engine) -> None:
    """Each time it goes on where it was; in the end every document has exactly one fingerprint, the right one."""
    name = filled(made, engine)
    for least in (1, 40, 80):
        with process(f"{made.engine}/{name}", "--throttle", "100/s") as killed:
            wait_for(engine, name, least)
            killed.send_signal(signal.SIGKILL)
            killed.wait(10)
    report = backfill(engine, name)

    assert 0 < report.updated <= len(TEXTS) - 80
    assert done() == stored(engine, name)


def test_ctrl_c_says_what_is_done_and_how_to_go_on(made: Indices, engine: Engine) -> None:
    """Exit code 1; the report counts what the index has."""
    name = filled(made, engine)
    with process(f"{made.engine}/{name}", "--throttle", "100", "--json") as interrupted:
        wait_for(engine, name, 50)
        interrupted.send_signal(signal.SIGINT)
        printed, said = interrupted.communicate(timeout=30)
    report = json.loads(printed)

    assert (1, True) == (interrupted.returncode, report["interrupted"])
    assert "Error: interrupted; what was sent is done, run the same command to go on\n" == said
    assert report["updated"] == sum("simdoc" in each for each in stored(engine, name).values())


@one_engine
def test_ctrl_c_is_how_watching_ends(made: Indices, engine: Engine) -> None:
    """Exit code 0, and what was done."""
    name = filled(made, engine)
    with process(f"{made.engine}/{name}", "--watch", "--changed-field", "number") as watching:
        wait_for(engine, name, len(TEXTS))
        time.sleep(0.5)
        watching.send_signal(signal.SIGINT)
        printed, said = watching.communicate(timeout=30)

    assert (0, "") == (watching.returncode, said)
    assert printed.startswith(f"{len(TEXTS)} updated, 0 unchanged in ")


@one_engine
def test_a_throttle_is_kept(made: Indices, engine: Engine) -> None:
    """So many documents a second, from the first second on."""
    name = filled(made, engine, dict(list(TEXTS.items())[:60]))
    report = backfill(engine, name, throttle=40)

    assert 60 == report.updated
    assert 0.5 <= report.seconds < 3


# --- which indices ---


def test_a_partial_update_destroys_what_source_leaves_out(made: Indices, engine: Engine) -> None:
    """Why such an index is refused: after an update of another field nobody finds the document by it."""
    name = made.make({"_source": {"excludes": ["secret"]}, "properties": {"secret": {"type": "keyword"}}})
    load(engine, name, {"a": {"secret": "s", "body": OTHER}})
    asked = {"query": {"term": {"secret": "s"}}}
    before = engine.call("POST", [name, "_count"], asked)["count"]
    report = backfill(engine, name)
    kept = engine.call("POST", [name, "_count"], asked)["count"]
    engine.call("POST", [name, "_update", "a"], {"doc": {"simdoc": fingerprint_field(OTHER)}}, refresh=True)
    after = engine.call("POST", [name, "_count"], asked)["count"]

    assert "which a partial update would destroy" in reasons(report)[name]
    assert (1, 1, 0) == (before, kept, after)


@one_engine
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"enabled": False}, "_source is disabled"),
        ({"excludes": ["secret"]}, "leaves fields out"),
        ({"includes": ["body"]}, "leaves fields out"),
    ],
)
def test_an_index_without_all_of_its_source_is_not_touched(
    made: Indices, engine: Engine, source: dict[str, Any], said: str
) -> None:
    """Not even the mapping is added."""
    name = made.make({"_source": source, "properties": {"body": {"type": "text"}}})
    load(engine, name, {"a": {"body": OTHER}})
    before = engine.call("GET", [name])

    assert said in reasons(backfill(engine, name))[name]
    assert said in reasons(estimate(engine, name, Task("body")))[name]
    assert before == engine.call("GET", [name])


@pytest.mark.parametrize("block", ["read_only", "read_only_allow_delete", "write", "read", "metadata", "closed"])
def test_a_blocked_index_is_named_and_the_others_are_done(made: Indices, engine: Engine, block: str) -> None:
    """Behind one alias; exit code 1 says that not all is done."""
    blocked, kept = filled(made, engine), filled(made, engine)
    alias = made.alias(blocked, kept)
    if block == "closed":
        engine.call("POST", [blocked, "_close"])
    else:
        engine.call("PUT", [blocked, "_settings"], {f"index.blocks.{block}": True})
    try:
        result = run("backfill", f"{made.engine}/{alias}", "--field", "body", "--json")
    finally:
        if block != "closed":
            engine.call("PUT", [blocked, "_settings"], {f"index.blocks.{block}": None})
    report = json.loads(result.stdout)

    assert (1, len(TEXTS)) == (result.exit_code, report["updated"])
    assert [blocked] == [each["index"] for each in report["skipped_indices"]]
    assert ("closed" if block == "closed" else f"index.blocks.{block}") in report["skipped_indices"][0]["reason"]
    assert done() == stored(engine, kept)


@pytest.mark.usefixtures("one_by_one")
def test_an_index_that_is_blocked_meanwhile_costs_itself_alone(made: Indices, engine: Engine) -> None:
    """Not each of its documents is listed."""
    names = [filled(made, engine), filled(made, engine)]
    first = min(names)

    def block(number: int) -> None:
        if number == 0:
            engine.call("PUT", [first, "_settings"], {"index.blocks.write": True})

    with interposed(made, block) as (through, _):
        report = backfill(through, made.alias(*names))

    assert (len(TEXTS), []) == (report.updated, report.refused)
    assert "index write (api)" in reasons(report)[first]


def test_a_data_stream_is_written_where_its_documents_are(opensearch_url: str) -> None:
    """In its backing indices, which an application never names; those that are hidden too."""
    stream = f"test-{uuid4()}"
    with to(opensearch_url) as engine:
        template = {"index_patterns": [stream], "data_stream": {}, "priority": 900}
        call(opensearch_url, "PUT", f"/_index_template/{stream}", template)
        try:
            for text in (TEXTS["doc0"], OTHER):
                document = {"@timestamp": "2024-01-01", "body": text}
                engine.call("POST", [stream, "_doc"], document, refresh=True)
                engine.call("POST", [stream, "_rollover"])
            report = backfill(engine, stream)
            hits = engine.call("POST", [stream, "_search"])["hits"]["hits"]
        finally:
            call(opensearch_url, "DELETE", f"/_data_stream/{stream}")
            call(opensearch_url, "DELETE", f"/_index_template/{stream}")

    assert (2, []) == (report.updated, report.skipped_indices)
    assert 2 == len({hit["_index"] for hit in hits})
    assert [True, True] == [hit["_source"]["simdoc"] == fingerprint_field(hit["_source"]["body"]) for hit in hits]


def test_an_alias_with_a_filter_is_kept_to(made: Indices, engine: Engine) -> None:
    """What it does not show is not written; by the index's own name all is."""
    name = filled(made, engine)
    alias = made.alias(name, filter={"range": {"number": {"lt": 9}}})

    assert 9 == backfill(engine, alias).updated
    assert len(TEXTS) - 9 == backfill(engine, name).updated


def test_indices_behind_an_alias_get_the_same_settings(made: Indices, engine: Engine) -> None:
    """Those that one of them has; else no query could ask them together."""
    settings = Settings(Analysis("lowercase"))
    with_field = made.make(component_template(settings)["template"]["mappings"])
    without = filled(made, engine, {"a": OTHER})
    backfill(engine, made.alias(with_field, without))

    assert fingerprint_field(OTHER, settings) == stored(engine, without)["a"]["simdoc"]


def ours(**changes: Any) -> dict[str, Any]:
    """Our mapping, with changes to our fields."""
    mappings: dict[str, Any] = component_template()["template"]["mappings"]
    for name, change in changes.items():
        mappings["properties"]["simdoc"]["properties"][name] = change
    return mappings


@one_engine
@pytest.mark.parametrize(
    ("mappings", "settings", "said"),
    [
        ({"properties": {"simdoc": {"type": "keyword"}}}, {}, "its field simdoc is keyword; choose another name"),
        ({"properties": {"simdoc": {"type": "object", "enabled": False}}}, {}, "its field simdoc is a disabled object"),
        (ours(tokens={"type": "text"}), {}, "simdoc.tokens has analyzer None, not 'whitespace'"),
        (ours(format={"type": "text"}), {}, "simdoc.format has type 'text', not 'keyword'"),
        (ours(format={"type": "keyword", "index": False}), {}, "simdoc.format has index False, not None"),
        (ours(facts={"type": "keyword"}), {}, "made by simdoc-search index"),
        ({}, {"index.mapping.total_fields.limit": 3}, "3 of 3 fields are left for 6"),
        ({"properties": {"body": {"type": "integer"}}}, {}, "body is integer, not text"),
        ({"properties": {"body": {"properties": {"en": {"type": "text"}}}}}, {}, "name a field of text in it: body.en"),
        ({"properties": {"body": {"type": "alias", "path": "b"}, "b": {"type": "text"}}}, {}, "name b"),
    ],
)
def test_an_index_that_cannot_take_it_says_why_in_one_sentence(
    made: Indices, engine: Engine, mappings: object, settings: object, said: str
) -> None:
    """And is not changed."""
    name = made.make(mappings, settings)
    before = engine.call("GET", [name])
    report = backfill(engine, name)

    assert said in reasons(report)[name]
    assert before == engine.call("GET", [name])


@one_engine
@pytest.mark.parametrize(("field", "said"), [("bdoy", "it has body"), ("title.raw", "name title")])
def test_a_misspelt_field_marks_nothing_as_empty(made: Indices, engine: Engine, field: str, said: str) -> None:
    """A field that neither the mapping nor a document has, or that `_source` never has."""
    title = {"type": "text", "fields": {"raw": {"type": "keyword"}}}
    name = made.make({"properties": {"body": {"type": "text"}, "title": title}})
    load(engine, name, bodies())
    report = backfill(engine, name, field)

    assert said in reasons(report)[name]
    assert bodies() == stored(engine, name)


@one_engine
def test_no_index_is_an_error(made: Indices) -> None:
    """One sentence, exit code 1."""
    assert "no such index" in sentence(run("backfill", f"{made.engine}/test-{uuid4()}", "--field", "body"))


def test_a_query_that_the_engine_does_not_take_is_an_error(made: Indices, engine: Engine) -> None:
    """Nothing is written."""
    name = filled(made, engine)
    said = sentence(run("backfill", f"{made.engine}/{name}", "--field", "body", "--query", '{"nothing": {}}'))

    assert " answers 400: " in said
    assert bodies() == stored(engine, name)


# --- dry run ---


def test_a_dry_run_writes_nothing_and_is_about_right(made: Indices, engine: Engine) -> None:
    """Not even the mapping; the bytes are those that the fingerprints take after a merge, within a third."""
    name = filled(made, engine, number_of_replicas=0)
    before = engine.call("GET", [name])
    found = answer("backfill", f"{made.engine}/{name}", "--field", "body", "--dry-run")
    size = found["bytes_added"] / len(TEXTS)

    assert before == engine.call("GET", [name])
    assert bodies() == stored(engine, name)
    assert (len(TEXTS), len(TEXTS), len(TEXTS)) == (found["documents"], found["writes"], found["sampled"])
    assert 25 < found["tokens_per_document"] < 30
    assert 250 < size < 400
    assert found["bytes_added"] < found["bytes_meanwhile"]
    assert 0 < found["seconds"] < 60


@one_engine
def test_a_dry_run_tells_people_what_they_need(made: Indices, engine: Engine) -> None:
    """Documents, bytes, time by the throttle, disks."""
    name = filled(made, engine)
    shown = output("backfill", f"{made.engine}/{name}", "--field", "body", "--dry-run", "--throttle", "0.1/s")
    lines = [line.split()[0] for line in shown.splitlines()]

    assert ["documents", "bytes", "time"] == lines[:3]
    assert "nothing was written" == shown.splitlines()[-1]
    assert f"about {len(TEXTS) / 0.1 / 60:.0f} min" in shown


@one_engine
def test_a_dry_run_of_stale_ones_counts_what_would_be_mended(made: Indices, engine: Engine) -> None:
    """It reads as many as it would, and writes as many as are not right."""
    name = filled(made, engine)
    backfill(engine, name)
    found = estimate(engine, name, Task("body", stale=True))

    assert (len(TEXTS), 0, 0) == (found.documents, found.writes, found.bytes_added)
