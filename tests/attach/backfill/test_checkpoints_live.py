"""`--stale` and `status` read only the documents that were written since the last comparison."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import BackfillOptions, BackfillReport, checkpoints, estimate_cost
from simdoc_search.attach.inspection import inspect_indices
from simdoc_search.attach.inspection.sample import Sample
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.texts import read_text
from tests.support.backfill import OTHER, TEXTS, backfill, filled, interposed, load, one_engine, stored
from tests.support.engines import each_engine
from tests.support.http_server import TempIndices

SEED = 20261123


engine_url = each_engine("opensearch", "elasticsearch_7")


def bulk(engine: Engine, index: str, parts: Mapping[str, Any], **place: Any) -> None:
    """Send bulk updates, with a partial document or a script. They do not pass a pipeline."""
    lines = [line for id, part in parts.items() for line in ({"update": {"_id": id, **place}}, part)]
    sent = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    assert not engine.call("POST", [index, "_bulk"], sent, refresh=True)["errors"]


def count_read(report: BackfillReport) -> int:
    """The number of documents that a run read."""
    return report.document_count + report.conflict_count


def sampled(engine: Engine, index: str) -> Sample:
    """The sample of `status`."""
    sample = inspect_indices(engine, index).sample
    assert not sample.not_compared_reason
    return sample


@pytest.mark.parametrize("shards", [1, 3])
def test_only_documents_written_since_are_compared(temp_indices: TempIndices, engine: Engine, shards: int) -> None:
    """`status` compares all of these documents, so it is exact. `--full` compares all documents."""
    name = filled(temp_indices, engine, number_of_shards=shards)
    backfill(engine, name)
    first, quiet = backfill(engine, name, stale=True), sampled(engine, name)
    bulk(engine, name, {"doc3": {"doc": {"body": OTHER}}, "doc5": {"doc": {"number": -1}}})
    script = {"source": "ctx._source.body = params.text", "params": {"text": OTHER}}
    bulk(engine, name, {"doc4": {"script": script}})
    found = sampled(engine, name)
    report, after = backfill(engine, name, stale=True), sampled(engine, name)
    full = backfill(engine, name, stale=True, full=True)

    assert (len(TEXTS), 0) == (first.unchanged_count, first.updated_count)
    assert Sample(len(TEXTS), 0, 0, (), len(TEXTS)) == quiet
    assert (2, ("doc3", "doc4"), True) == (found.stale_count, found.stale_ids, found.is_exact)
    assert 2 / len(TEXTS) == pytest.approx(found.stale_share)
    assert (2, 1, len(TEXTS) - 3) == (report.updated_count, report.unchanged_count, report.unread_count)
    assert (0, 0, True) == (after.stale_count, after.sampled_count, after.is_exact)
    assert (0, len(TEXTS), 0) == (full.updated_count, full.unchanged_count, full.unread_count)
    assert fingerprint_field(OTHER) == stored(engine, name)["doc4"]["simdoc"]


def test_each_shard_has_its_own_checkpoint(temp_indices: TempIndices, engine: Engine) -> None:
    """A nearly empty shard does not make the run read a full shard again."""
    name = temp_indices.make({"properties": {"body": {"type": "text"}}}, {"number_of_shards": 5})
    load(engine, name, {id: {"body": text} for id, text in TEXTS.items()}, routing="all")
    load(engine, name, {"few": {"body": OTHER}}, routing="another")
    backfill(engine, name, stale=True)
    bulk(engine, name, {"doc1": {"doc": {"body": OTHER}}}, routing="all")
    estimate = estimate_cost(engine, name, BackfillOptions("body", stale=True))
    report = backfill(engine, name, stale=True)

    assert (1, 1) == (report.updated_count, count_read(report))
    assert (1, 1, 1) == (estimate.document_count, estimate.write_count, estimate.max_write_count)
    assert 0 == sampled(engine, name).stale_count


def test_a_copy_of_an_index_is_compared_again(temp_indices: TempIndices, engine: Engine) -> None:
    """The mapping of the copy has the checkpoints, but its shards have another history."""
    name, copy, cloned = filled(temp_indices, engine), temp_indices.name(), temp_indices.name()
    backfill(engine, name, stale=True)
    engine.call("PUT", [copy], {"mappings": engine.call("GET", [name])[name]["mappings"]})
    engine.call("POST", ["_reindex"], {"source": {"index": name}, "dest": {"index": copy}}, refresh=True)
    bulk(engine, copy, {"doc3": {"doc": {"body": OTHER}}})
    reindexed = sampled(engine, copy)
    engine.call("PUT", [name, "_settings"], {"index.blocks.write": True})
    engine.call("PUT", [name, "_clone", cloned], {"settings": {"index.blocks.write": None}})
    engine.call("GET", ["_cluster", "health", cloned], wait_for_status="yellow")

    assert (len(TEXTS), 0, 1) == (reindexed.sampled_count, reindexed.already_compared_count, reindexed.stale_count)
    assert [len(TEXTS), 0] == [sampled(engine, index).already_compared_count for index in (name, cloned)]
    assert len(TEXTS) == backfill(engine, cloned, stale=True).unchanged_count


@one_engine
def test_a_run_over_an_alias_with_a_filter_records_nothing(temp_indices: TempIndices, engine: Engine) -> None:
    name = filled(temp_indices, engine)
    backfill(engine, name)
    bulk(engine, name, {"doc1": {"doc": {"body": OTHER}}})
    alias = temp_indices.alias(name, filter={"range": {"number": {"gte": 50}}})
    backfill(engine, alias, stale=True)

    assert (0, 1) == (sampled(engine, name).already_compared_count, sampled(engine, name).stale_count)
    assert 1 == backfill(engine, name, stale=True).updated_count


@one_engine
def test_documents_are_compared_again_with_other_text_fields(temp_indices: TempIndices, engine: Engine) -> None:
    name = temp_indices.make({"properties": {"title": {"type": "text"}, "body": {"type": "text"}}})
    load(engine, name, {id: {"title": "a title of words", "body": text} for id, text in TEXTS.items()})
    backfill(engine, name, stale=True)

    assert len(TEXTS) == backfill(engine, name, ("title", "body"), stale=True, force=True).updated_count
    assert 0 == count_read(backfill(engine, name, ("title", "body"), stale=True))


@one_engine
def test_a_write_during_the_run_is_compared_next_time(temp_indices: TempIndices, engine: Engine) -> None:
    name = filled(temp_indices, engine)
    backfill(engine, name)
    bulk(engine, name, {"doc1": {"doc": {"body": OTHER}}})

    def meanwhile(number: int) -> None:
        if number == 0:
            bulk(engine, name, {"doc2": {"doc": {"body": OTHER}}})

    with interposed(temp_indices, meanwhile) as (through, _):
        first = backfill(through, name, stale=True)
    found = sampled(engine, name)
    second, third = (backfill(engine, name, stale=True) for _ in range(2))

    assert (1, 1) == (first.updated_count, found.stale_count)
    assert (1, fingerprint_field(OTHER)) == (second.updated_count, stored(engine, name)["doc2"]["simdoc"])
    assert 0 == count_read(third)


@one_engine
def test_the_smallest_checkpoint_is_recorded_if_only_one_fits(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = filled(temp_indices, engine, number_of_shards=7)
    monkeypatch.setattr(checkpoints, "MAX_META_ENTRIES", 1)
    backfill(engine, name, stale=True)
    bulk(engine, name, {"doc1": {"doc": {"body": OTHER}}})
    report = backfill(engine, name, stale=True)

    assert 1 == report.updated_count
    assert count_read(report) < len(TEXTS)


@one_engine
def test_status_and_backfill_are_right_after_any_writes(temp_indices: TempIndices, engine: Engine) -> None:
    """The test compares them with the state of all documents."""
    rng = random.Random(SEED)
    texts: list[Any] = [*TEXTS.values(), "", "...", None, []]
    name = temp_indices.make({"properties": {"body": {"type": "text"}}}, {"number_of_shards": 2})
    ids = [f"doc{number}" for number in range(40)]
    load(engine, name, {id: {"body": rng.choice(texts)} for id in ids})
    backfill(engine, name)
    for _ in range(8):
        for id in rng.sample(ids, 6):
            text, kind = rng.choice(texts), rng.choice(["index", "bulk", "update", "delete", "fingerprint", "script"])
            if kind == "index":
                load(engine, name, {id: {"body": text}})
            elif kind == "fingerprint":
                load(engine, name, {id: {"body": text, "simdoc": fingerprint_field(str(text))}})
            elif kind == "delete":
                engine.call("DELETE", [name, "_doc", id], allowed_statuses=(404,), refresh=True)
            elif id in stored(engine, name):
                script = {"script": "ctx._source.remove('body')"}
                bulk(engine, name, {id: script if kind == "script" else {"doc": {"body": text}}})
        wrong, fingerprinted = states(engine, name)
        found = inspect_indices(engine, name)
        assert len(wrong & fingerprinted) == found.sample.stale_count, (SEED, wrong)
        assert found.sample.is_exact
        assert len(wrong - fingerprinted) == found.missing_count
        if rng.random() < 0.5:
            backfill(engine, name)
            wrong, fingerprinted = states(engine, name)
            assert wrong <= fingerprinted
        if rng.random() < 0.7:
            backfill(engine, name, stale=True)
            assert set() == states(engine, name)[0], SEED


def states(engine: Engine, name: str) -> tuple[set[str], set[str]]:
    """The documents whose fingerprint does not match their text, and those with a fingerprint or a mark."""
    wrong, fingerprinted = set(), set()
    for id, source in stored(engine, name).items():
        text, ours = read_text(source, "body"), source.get("simdoc") or {}
        expected = {} if text is None else fingerprint_field(text)
        wrong |= {id} if ours.get("tokens") != expected.get("tokens") or bool(ours) != bool(expected) else set()
        fingerprinted |= {id} if ours.get("format") else set()
    return wrong, fingerprinted
