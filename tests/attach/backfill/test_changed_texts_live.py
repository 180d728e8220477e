"""Texts that updates changed past all pipelines: only what was written since the last comparison is read."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import BackfillReport, seq_nos
from simdoc_search.attach.status import survey
from simdoc_search.attach.status.sample import Staleness
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.texts import text_of
from tests.support.backfill import OTHER, TEXTS, backfill, filled, interposed, load, one_engine, stored
from tests.support.http_server import Indices

SEED = 20261123


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch", "elasticsearch_7"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """The address of each engine."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


def bulk(engine: Engine, index: str, parts: Mapping[str, Any], **place: Any) -> None:
    """Updates in a bulk, with a part of a document or a script: these pass no pipeline."""
    lines = [line for id, part in parts.items() for line in ({"update": {"_id": id, **place}}, part)]
    sent = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    assert not engine.call("POST", [index, "_bulk"], sent, refresh=True)["errors"]


def read_by(report: BackfillReport) -> int:
    """How many documents a run read."""
    return report.documents + report.conflicts


def staleness(engine: Engine, index: str) -> Staleness:
    """What `status` says."""
    found = survey(engine, index)
    assert found.staleness is not None, found.not_sampled
    return found.staleness


with_modules = pytest.mark.parametrize("engine_url", ["opensearch", "elasticsearch_7"], indirect=True)
"""Scripts and `_reindex`, which the core of Elasticsearch does not have alone."""


@with_modules
@pytest.mark.parametrize("shards", [1, 3])
def test_only_what_was_written_since_is_compared(made: Indices, engine: Engine, shards: int) -> None:
    """`status` looks at all of it, so it knows all; `--stale` mends it, and `--full` reads all texts."""
    name = filled(made, engine, number_of_shards=shards)
    backfill(engine, name)
    first, quiet = backfill(engine, name, stale=True), staleness(engine, name)
    bulk(engine, name, {"doc3": {"doc": {"body": OTHER}}, "doc5": {"doc": {"number": -1}}})
    script = {"source": "ctx._source.body = params.text", "params": {"text": OTHER}}
    bulk(engine, name, {"doc4": {"script": script}})
    found = staleness(engine, name)
    report, after = backfill(engine, name, stale=True), staleness(engine, name)
    full = backfill(engine, name, stale=True, full=True)

    assert (len(TEXTS), 0) == (first.unchanged, first.updated)
    assert Staleness(len(TEXTS), 0, 0, (), len(TEXTS)) == quiet
    assert (2, ("doc3", "doc4"), True) == (found.stale, found.examples, found.is_exact)
    assert 2 / len(TEXTS) == pytest.approx(found.share)
    assert (2, 1) == (report.updated, report.unchanged)
    assert (0, 0, True) == (after.stale, after.sampled, after.is_exact)
    assert (0, len(TEXTS)) == (full.updated, full.unchanged)
    assert fingerprint_field(OTHER) == stored(engine, name)["doc4"]["simdoc"]


def test_shards_of_very_different_size(made: Indices, engine: Engine) -> None:
    """Each counts its own writes, so a full one is not read again for the sake of an empty one."""
    name = made.make({"properties": {"body": {"type": "text"}}}, {"number_of_shards": 5})
    load(engine, name, {id: {"body": text} for id, text in TEXTS.items()}, routing="all")
    load(engine, name, {"few": {"body": OTHER}}, routing="another")
    backfill(engine, name, stale=True)
    bulk(engine, name, {"doc1": {"doc": {"body": OTHER}}}, routing="all")
    report = backfill(engine, name, stale=True)

    assert (1, 1) == (report.updated, read_by(report))
    assert staleness(engine, name).stale == 0


@with_modules
def test_another_history_is_not_trusted(made: Indices, engine: Engine) -> None:
    """A copy of an index has the note in its mapping, and documents that nobody compared."""
    name, copy = filled(made, engine), made.name()
    backfill(engine, name)
    backfill(engine, name, stale=True)
    mappings = engine.call("GET", [name])[name]["mappings"]
    engine.call("PUT", [copy], {"mappings": mappings})
    engine.call("POST", ["_reindex"], {"source": {"index": name}, "dest": {"index": copy}}, refresh=True)
    bulk(engine, copy, {"doc3": {"doc": {"body": OTHER}}})
    reindexed = staleness(engine, copy)
    engine.call("PUT", [copy, "_settings"], {"index.blocks.write": True})
    backfill(engine, name, stale=True)
    cloned = made.name()
    engine.call("PUT", [name, "_settings"], {"index.blocks.write": True})
    engine.call("PUT", [name, "_clone", cloned], {"settings": {"index.blocks.write": None}})
    engine.call("GET", ["_cluster", "health", cloned], wait_for_status="yellow")

    assert (len(TEXTS), len(TEXTS), 0, 1) == (
        reindexed.documents,
        reindexed.sampled,
        reindexed.compared,
        reindexed.stale,
    )
    assert len(TEXTS) == staleness(engine, name).compared
    assert 0 == staleness(engine, cloned).compared
    assert len(TEXTS) == backfill(engine, cloned, stale=True).unchanged


@one_engine
def test_part_of_the_documents_says_nothing_of_the_others(made: Indices, engine: Engine) -> None:
    """A query, or the filter of an alias: what it left out was not compared."""
    name = filled(made, engine)
    backfill(engine, name)
    bulk(engine, name, {"doc1": {"doc": {"body": OTHER}}})
    alias = made.alias(name, filter={"range": {"number": {"gte": 50}}})
    backfill(engine, name, stale=True, query={"range": {"number": {"gte": 50}}})
    backfill(engine, alias, stale=True)

    assert (0, 1) == (staleness(engine, name).compared, staleness(engine, name).stale)
    assert 1 == backfill(engine, name, stale=True).updated


@one_engine
def test_other_fields_of_text_are_compared_anew(made: Indices, engine: Engine) -> None:
    """What was compared was the text of the fields that are noted."""
    name = made.make({"properties": {"title": {"type": "text"}, "body": {"type": "text"}}})
    load(engine, name, {id: {"title": "a title of words", "body": text} for id, text in TEXTS.items()})
    backfill(engine, name, stale=True)

    assert len(TEXTS) == backfill(engine, name, ("title", "body"), stale=True, force=True).updated
    assert 0 == read_by(backfill(engine, name, ("title", "body"), stale=True))


@one_engine
def test_what_others_write_meanwhile_is_compared_next_time(made: Indices, engine: Engine) -> None:
    """A document that was written after it was read, and before the note."""
    name = filled(made, engine)
    backfill(engine, name)
    bulk(engine, name, {"doc1": {"doc": {"body": OTHER}}})

    def meanwhile(number: int) -> None:
        if number == 0:
            bulk(engine, name, {"doc2": {"doc": {"body": OTHER}}})

    with interposed(made, meanwhile) as (through, _):
        first = backfill(through, name, stale=True)
    found = staleness(engine, name)
    second = backfill(engine, name, stale=True)

    assert (1, 1) == (first.updated, found.stale)
    assert (1, fingerprint_field(OTHER)) == (second.updated, stored(engine, name)["doc2"]["simdoc"])
    assert 0 == read_by(backfill(engine, name, stale=True))


@one_engine
def test_a_note_with_little_room(made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more shards than a mapping can note, the least number counts for all: more is read, and nothing is missed."""
    name = filled(made, engine, number_of_shards=7)
    monkeypatch.setattr(seq_nos, "_MAX_VALUE", 5)
    monkeypatch.setattr(seq_nos, "_MAX_LINES", 1)
    backfill(engine, name, stale=True)
    bulk(engine, name, {"doc1": {"doc": {"body": OTHER}}})
    report = backfill(engine, name, stale=True)

    assert 1 == report.updated
    assert read_by(report) < len(TEXTS)


@with_modules
def test_any_writes_in_any_order(made: Indices, engine: Engine) -> None:
    """What `status` says is what a look at all documents says, whoever writes what; and a run mends all of it."""
    rng = random.Random(SEED)
    texts: list[Any] = [*TEXTS.values(), "", "...", None, []]
    name = made.make({"properties": {"body": {"type": "text"}}}, {"number_of_shards": 2})
    ids = [f"doc{number}" for number in range(40)]
    load(engine, name, {id: {"body": rng.choice(texts)} for id in ids})
    backfill(engine, name)
    for _ in range(12):
        for id in rng.sample(ids, 6):
            text, kind = rng.choice(texts), rng.choice(["index", "bulk", "update", "delete", "fingerprint", "script"])
            if kind == "index":
                load(engine, name, {id: {"body": text}})
            elif kind == "fingerprint":
                load(engine, name, {id: {"body": text, "simdoc": fingerprint_field(str(text))}})
            elif kind == "delete":
                engine.call("DELETE", [name, "_doc", id], allow=(404,), refresh=True)
            elif id in stored(engine, name):
                script = {"script": "ctx._source.remove('body')"}
                bulk(engine, name, {id: script if kind == "script" else {"doc": {"body": text}}})
        expected = wrong(engine, name)
        found = survey(engine, name)
        if found.staleness and found.documents - found.missing - found.without_text:
            assert len(expected & fingerprinted(engine, name)) == found.staleness.stale, (SEED, expected)
            assert found.staleness.is_exact
        assert len(expected - fingerprinted(engine, name)) == found.missing
        if rng.random() < 0.5:
            backfill(engine, name)
            assert not wrong(engine, name) - fingerprinted(engine, name)
        if rng.random() < 0.7:
            backfill(engine, name, stale=True)
            assert set() == wrong(engine, name), SEED


def fingerprinted(engine: Engine, name: str) -> set[str]:
    """Documents with a fingerprint, or a mark."""
    return {id for id, source in stored(engine, name).items() if (source.get("simdoc") or {}).get("format")}


def wrong(engine: Engine, name: str) -> set[str]:
    """Documents whose fingerprint is not that of their text, by all of them."""
    found = set()
    for id, source in stored(engine, name).items():
        text, ours = text_of(source, "body"), source.get("simdoc")
        made = None if text is None else fingerprint_field(text)
        is_same = ours is None if made is None else ours is not None and ours.get("tokens") == made["tokens"]
        if not is_same:
            found.add(id)
    return found
