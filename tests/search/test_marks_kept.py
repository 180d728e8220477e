"""Tests of marks: concurrent writes, interruptions, refusals, and documents that were kept before."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.duplicates import mark_update
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.schema import component_template
from tests.support.backfill import interposed, one_engine
from tests.support.cli import answer, environment, run, sentence, words
from tests.support.engines import call, each_engine
from tests.support.http_server import Answer, TempIndices, error
from tests.support.marks import BASE, MARKED, TEXTS, articles, counts, hits, mapping, mark, marks, put, search_in

engine_url = each_engine("opensearch", "elasticsearch")


# --- concurrent writes and interruptions ---


@one_engine
def test_changes_by_others_are_not_lost(temp_indices: TempIndices) -> None:
    """An updated document gets its mark. A replaced document gets its mark in the next run."""
    index = articles(temp_indices)

    def write(number: int) -> None:
        if number == 0:
            call(temp_indices.engine, "POST", f"/{index}/_update/kept", {"doc": {"views": 7}})
            put(temp_indices, index, {"near": TEXTS["other"]})
            call(temp_indices.engine, "DELETE", f"/{index}/_doc/loud")

    with interposed(temp_indices, write) as (_, server):
        search = SimilaritySearch(open_store(f"{server.url}/{index}", text_field="body"))
        report = search.mark_duplicates(search.duplicates())
    assert (1, 0, 0, 2, 0) == (
        report.marked_count,
        report.removed_count,
        report.unchanged_count,
        report.skipped_count,
        report.refused_count,
    )
    assert [7] == [hit["_source"]["views"] for hit in hits(temp_indices, index) if hit["_id"] == "kept"]
    assert {"kept": (None, "kept")} == marks(temp_indices, index)
    assert (2, 1, 0) == counts(mark(temp_indices, index))
    assert {"near": (None, "near"), "other": ("near", "near")} == marks(temp_indices, index)


@one_engine
def test_no_document_is_marked_if_the_kept_one_is_gone_or_replaced(temp_indices: TempIndices) -> None:
    """The next run marks the group."""
    index = articles(temp_indices)
    put(temp_indices, index, {"same": TEXTS["other"]})
    search = search_in(temp_indices, index)
    groups = search.duplicates()
    put(temp_indices, index, {"kept": words(300, 400)})
    call(temp_indices.engine, "DELETE", f"/{index}/_doc/same?refresh")
    report = search.mark_duplicates(groups)

    assert (0, 5, {}) == (report.marked_count, report.skipped_count, marks(temp_indices, index))
    assert (2, 0, 0) == counts(mark(temp_indices, index))
    assert {"loud": (None, "loud"), "near": ("loud", "loud")} == marks(temp_indices, index)


@one_engine
def test_a_document_that_changed_is_counted_once(temp_indices: TempIndices) -> None:
    """Its old mark is removed."""
    index = articles(temp_indices)
    mark(temp_indices, index)
    search = search_in(temp_indices, index)
    groups = search.duplicates()
    fingerprint = {"text_hash": "0" * 32}  # as of another text; the mark is kept
    call(temp_indices.engine, "POST", f"/{index}/_update/near?refresh", {"doc": {"simdoc": fingerprint}})
    report = search.mark_duplicates(groups)

    assert (1, 0) == (report.skipped_count, report.removed_count)
    assert "near" not in marks(temp_indices, index)


@one_engine
@pytest.mark.parametrize("sent_signal", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_run_is_completed_by_the_next_one(
    temp_indices: TempIndices, sent_signal: signal.Signals
) -> None:
    """The interrupted run only removed stale marks."""
    index = temp_indices.make(component_template()["template"]["mappings"])
    put(temp_indices, index, TEXTS)
    call(temp_indices.engine, "POST", f"/{index}/_update/other?refresh", {"doc": {"simdoc": {"duplicate_of": "near"}}})
    running: list[subprocess.Popen[str]] = []

    def interrupt(number: int) -> Answer | None:
        if number == 1:
            running[0].send_signal(sent_signal)
            time.sleep(1 if sent_signal == signal.SIGINT else 0)
            return Answer(503, b"{}")
        return None

    with interposed(temp_indices, interrupt) as (_, server):
        command = [sys.executable, "-m", "simdoc_search", "duplicates", "--store", f"{server.url}/{index}", "--mark"]
        environ = environment()
        with subprocess.Popen(command, stdout=-1, stderr=-1, encoding="utf-8", env=environ) as process:
            running.append(process)
            stdout, stderr = process.communicate(timeout=30)
    if sent_signal == signal.SIGINT:
        assert (
            "Error: interrupted; some duplicates are already marked. Run the same command again to mark the others"
            == stderr.splitlines()[-1]
        )
        assert (130, "") == (process.returncode, stdout)
    assert {} == marks(temp_indices, index)
    assert (3, 0, 0) == counts(mark(temp_indices, index))
    assert MARKED == marks(temp_indices, index)


@one_engine
@pytest.mark.parametrize("status", [400, 429])
def test_an_error_of_a_batch_is_raised_while_the_next_one_is_read(
    temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """A batch is sent again if the engine was busy."""
    monkeypatch.setattr(mark_update, "_DOCUMENTS_AT_ONCE", 1)
    index = articles(temp_indices)
    refused = error(status, "a_type", "the reason")

    with interposed(temp_indices, lambda number: refused if number == 1 else None) as (_, server):
        search = SimilaritySearch(open_store(f"{server.url}/{index}", text_field="body"))
        duplicates = search.duplicates()
        if status == 429:
            assert (3, 0, 0) == counts(search.mark_duplicates(duplicates))
        else:
            with pytest.raises(StoreError, match="the reason"):
                search.mark_duplicates(duplicates)
            assert 1 <= len(marks(temp_indices, index)) <= 2
            assert not [thread for thread in threading.enumerate() if thread.name.startswith("simdoc-marks")]
            newly_marked, removed, unchanged = counts(mark(temp_indices, index))
            assert (3, 0) == (newly_marked + unchanged, removed)
    assert MARKED == marks(temp_indices, index)


# --- refusals ---


@one_engine
def test_an_index_that_cannot_have_marks_is_named(temp_indices: TempIndices) -> None:
    """The other indices of the alias are not changed."""
    good, fields = articles(temp_indices), mapping()
    fields["properties"]["simdoc"]["properties"]["cluster"] = {"type": "text"}
    bad = temp_indices.make(fields)
    full = temp_indices.make(mapping(), {"mapping.total_fields.limit": 11})
    closed = articles(temp_indices)
    call(temp_indices.engine, "PUT", f"/{closed}/_settings", {"index.blocks.write": True})

    def reason(*names: str) -> str:
        with pytest.raises(StoreError) as error:
            mark(temp_indices, temp_indices.alias(*names))
        return str(error.value).partition(" cannot be marked: ")[2]

    assert reason(good, bad).startswith(
        "simdoc.cluster has type 'text', not 'keyword'; a mapping cannot be changed, so"
    )
    assert "the index can have only 0 more fields (limit 11); increase index.mapping.total_fields.limit" == reason(full)
    assert "the index has the block index.blocks.write; remove the block before you write to the index" == reason(
        closed
    )
    changed = call(temp_indices.engine, "GET", f"/{good}/_mapping")[good]["mappings"]["properties"]
    assert mapping()["properties"] == {**mapping()["properties"], **changed}


@one_engine
def test_a_list_of_objects_is_not_marked(temp_indices: TempIndices) -> None:
    """Engines search a list like an object, but an update would replace it."""
    index = articles(temp_indices)
    temp_indices.put(index, "list", {"body": BASE, "simdoc": [fingerprint_field(BASE)]})
    report = mark(temp_indices, index)
    shown = run("duplicates", "--store", f"{temp_indices.engine}/{index}", "--mark")

    assert (3, 1, ["list"]) == (report.marked_count, report.refused_count, list(report.refusal_reasons))
    assert isinstance(next(hit["_source"]["simdoc"] for hit in hits(temp_indices, index) if hit["_id"] == "list"), list)
    assert 1 == shown.exit_code
    assert "kept documents: 0 set, 0 removed, 3 unchanged" in shown.stderr
    assert (
        "Error: the document 'list' was not marked: the field simdoc is malformed; repair the field with"
        in shown.stderr
    )


@one_engine
def test_the_command_reports_its_marks(temp_indices: TempIndices) -> None:
    index = articles(temp_indices)
    place = ("duplicates", "--store", f"{temp_indices.engine}/{index}", "--mark")
    hint = run(*place[:-1]).stderr
    shown = run(*place)

    assert "to hide duplicates from search results, add --mark; to see all differences, add --html page.html\n" in hint
    assert (0, "marks on duplicates and kept documents: 3 set, 0 removed, 0 unchanged") == (
        shown.exit_code,
        shown.stderr.splitlines()[0],
    )
    assert "1 group, 2 duplicates" in shown.stdout
    counts = {"marked_count": 0, "removed_count": 0, "unchanged_count": 3, "skipped_count": 0, "refused_count": 0}
    assert {**counts, "refusal_reasons": {}} == answer(*place)["marks"]


def test_documents_of_a_local_store_are_not_marked(tmp_path: Any) -> None:
    assert (
        f"{tmp_path} is a folder, but --mark needs an index in OpenSearch or Elasticsearch; for files, use --plan"
        == sentence(run("duplicates", "--store", tmp_path, "--mark"))
    )
    search = SimilaritySearch(open_store(":memory:", create=True))
    with pytest.raises(StoreError, match="is a local index; only documents in an index"):
        search.mark_duplicates(search.duplicates())


@one_engine
def test_a_marked_kept_document_is_kept_again(temp_indices: TempIndices) -> None:
    """It is kept until it is gone, even if a longer document is added. Comparing only new documents sets no marks."""
    index = articles(temp_indices)
    mark(temp_indices, index)
    put(temp_indices, index, {"longer": words(0, 103)})
    call(temp_indices.engine, "POST", f"/{index}/_refresh")
    search = search_in(temp_indices, index)

    assert ["longer"] == [group.kept.id for group in search.duplicates(measure="containment").groups()]
    assert ["kept"] == search.read_kept_ids()
    command = ["duplicates", "--mark", "--measure", "containment", "--store", f"{temp_indices.engine}/{index}"]
    output = answer(*command, "--text-field", "body")
    assert ["kept"] == [cluster["kept"]["id"] for cluster in output["groups"]]
    assert {**MARKED, "longer": ("kept", "kept")} == marks(temp_indices, index)
    for rule, kept in ((["--keep", "longest"], "longer"), (["--keep-in", "kept"], "kept")):
        output = answer(*command, *rule, "--text-field", "body")
        assert [kept] == [cluster["kept"]["id"] for cluster in output["groups"]]
    call(temp_indices.engine, "DELETE", f"/{index}/_doc/kept?refresh")
    assert ["longer"] == [group.kept.id for group in search.duplicates(preferred_ids=search.read_kept_ids()).groups()]
    with pytest.raises(StoreError, match="only new documents were compared"):
        search.mark_duplicates(search.duplicates(new_ids=["longer"]))
    assert (
        2 == run("duplicates", "--mark", "--since", "2026-01-01", "--store", f"{temp_indices.engine}/{index}").exit_code
    )


@one_engine
@pytest.mark.parametrize("id", ["kept", "loud", "near"])
def test_a_document_whose_text_changed_is_in_no_group_and_gets_no_mark(temp_indices: TempIndices, id: str) -> None:
    """This holds for a near duplicate, and for a document that had the same words as another one."""
    index = articles(temp_indices)
    mark(temp_indices, index)
    temp_indices.put(index, id, {"body": "of other words altogether", "simdoc": fingerprint_field(TEXTS[id])})
    call(temp_indices.engine, "POST", f"/{index}/_refresh")
    place = f"{temp_indices.engine}/{index}"
    command = ["duplicates", "--mark", "--text-field", "body", "--store", place]
    shown, output = run(*command), answer(*command)
    remaining = sorted({"kept", "loud", "near"} - {id})

    assert [remaining] == [sorted([group["kept_id"], *group["duplicate_ids"]]) for group in output["groups"]]
    assert [(id, "changed after indexing")] == [(each["id"], each["reason"]) for each in output["left_out"]]
    assert (0, 1) == (output["unverified_count"], len(output["pairs"]))
    assert remaining == sorted(marks(temp_indices, index))
    assert f"note: left out: the document '{id}': changed after indexing" in shown.stderr.splitlines()
    advice = f"note: 1 document changed after indexing; run `simdoc-search backfill {place} --stale`"
    assert advice in shown.stderr.splitlines()
