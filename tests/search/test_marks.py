"""Marks in the documents of an engine say which one each duplicates; what is stale goes, what others write stays."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.duplicates import marking as module
from simdoc_search.duplicates.marking import MarkReport
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.index_body import component_template
from tests.support.backfill import interposed
from tests.support.cli import answer, environment, run, sentence, words
from tests.support.engines import call
from tests.support.http_server import Answer, Indices, indices

BASE = words(0, 100)
TEXTS = {"kept": BASE, "loud": BASE.upper(), "near": words(0, 98), "other": words(900, 950)}
MARKED = {"kept": (None, "kept"), "loud": ("kept", "kept"), "near": ("kept", "kept")}

FIELDS = ("duplicate_of", "cluster")

one_engine = pytest.mark.parametrize("made", ["opensearch"], indirect=True)


@pytest.fixture(params=["opensearch", "elasticsearch"])
def made(request: pytest.FixtureRequest) -> Iterator[Indices]:
    """Indices of a test's own in each kind of engine."""
    with indices(request.getfixturevalue(f"{request.param}_url")) as them:
        yield them


def mapping(**other: Any) -> dict[str, Any]:
    """The mapping of an application that had our field before there were marks."""
    fields: dict[str, Any] = component_template()["template"]["mappings"]["properties"]
    for name in ("duplicate_of", "cluster"):
        del fields["simdoc"]["properties"][name]
    return {"properties": {"body": {"type": "text"}, "views": {"type": "integer"}, **fields}, **other}


def put(made: Indices, index: str, texts: dict[str, str], **parameters: str) -> None:
    """Documents with fingerprints, as a loader writes them."""
    for id, text in texts.items():
        made.put(index, id, {"body": text, "simdoc": fingerprint_field(text)}, **parameters)


def articles(made: Indices, **other: Any) -> str:
    """An index of an application with TEXTS."""
    index = made.make(mapping(**other))
    put(made, index, TEXTS)
    return index


def search_in(made: Indices, name: str) -> SimilaritySearch:
    """A search over what is behind a name."""
    return SimilaritySearch(open_store(f"{made.engine}/{name}", text_field="body"))


def mark(made: Indices, name: str, **options: Any) -> MarkReport:
    """Find and mark duplicates."""
    search = search_in(made, name)
    return search.mark_duplicates(search.duplicates(**options))


def counts(report: MarkReport) -> tuple[int, int, int]:
    """How many were set, removed, and left; nothing else happened."""
    assert (0, 0, {}) == (report.passed_over, report.refused, report.reasons)
    return report.set, report.removed, report.unchanged


def hits(made: Indices, name: str, **body: Any) -> list[dict[str, Any]]:
    """What a search finds now."""
    call(made.engine, "POST", f"/{name}/_refresh")
    asked = {"size": 100, "seq_no_primary_term": True, **body}
    found: list[dict[str, Any]] = call(made.engine, "POST", f"/{name}/_search", asked)["hits"]["hits"]
    return found


def found(made: Indices, name: str, **body: Any) -> list[str]:
    """The ids of what it finds."""
    return sorted(hit["_id"] for hit in hits(made, name, **body))


def marks(made: Indices, name: str) -> dict[str, tuple[str | None, str | None]]:
    """`duplicate_of` and `cluster` of those that have either."""
    both = {hit["_id"]: [hit["_source"]["simdoc"].get(each) for each in FIELDS] for hit in hits(made, name)}
    return {id: (of, cluster) for id, (of, cluster) in both.items() if of or cluster}


def test_marks_are_those_of_the_groups_however_often(made: Indices) -> None:
    """In a strict index: set once; then nothing is written; stale ones go, also where an update left them."""
    index = articles(made, dynamic="strict")
    before = {hit["_id"]: hit["_source"] for hit in hits(made, index)}
    assert (3, 0, 0) == counts(mark(made, index))
    assert MARKED == marks(made, index)
    for hit in hits(made, index):
        ours = {name: each for name, each in hit["_source"]["simdoc"].items() if name not in FIELDS}
        assert before[hit["_id"]] == {**hit["_source"], "simdoc": ours}

    states = {hit["_id"]: hit["_seq_no"] for hit in hits(made, index)}
    assert (0, 0, 3) == counts(mark(made, index))
    assert states == {hit["_id"]: hit["_seq_no"] for hit in hits(made, index)}

    assert (0, 1, 2) == counts(mark(made, index, overlap=1))
    made.put(index, "kept", {"body": BASE, "simdoc": fingerprint_field(BASE)})  # replaced: its mark is gone
    call(made.engine, "POST", f"/{index}/_update/loud?refresh", {"doc": {"simdoc": fingerprint_field(TEXTS["other"])}})
    assert (4, 0, 0) == counts(mark(made, index))
    assert {"kept": (None, "kept"), "near": ("kept", "kept")} == {
        id: each for id, each in marks(made, index).items() if each[1] == "kept"
    }
    assert {"loud": (None, "loud"), "other": ("loud", "loud")} == {
        id: each for id, each in marks(made, index).items() if each[1] == "loud"
    }


def test_who_is_kept_now_is_shown_before_who_was_is_hidden(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken off between the two, no group is hidden as a whole; another document takes the place of the kept one."""
    index = articles(made)
    mark(made, index)
    made.put(index, "long", {"simdoc": {**(fingerprint_field(words(0, 101)) or {}), "duplicate_of": "kept"}})
    search = search_in(made, index)

    def break_off(stage: str, share: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_AT_ONCE", 1)
    groups = search.duplicates(kept_before=["long"])
    with pytest.raises(KeyboardInterrupt):
        search.mark_duplicates(groups, progress=break_off)
    assert (None, "long") == marks(made, index)["long"]
    assert (2, 0, 2) == counts(mark(made, index, kept_before=["long"]))
    assert {"kept": ("long", "long"), "long": (None, "long")} == {
        id: each for id, each in marks(made, index).items() if id in ("kept", "long")
    }


def test_only_documents_that_were_looked_at_lose_their_marks(made: Indices) -> None:
    """By a filter; what was looked at and has no fingerprint any more loses it."""
    index = articles(made)
    mark(made, index)
    call(
        made.engine, "POST", f"/{index}/_update/near?refresh", {"doc": {"simdoc": {"tokens": None, "text_hash": None}}}
    )

    assert (0, 0, 0) == counts(mark(made, index, filters=[{"term": {"_id": "other"}}]))
    assert (0, 0, 1) == counts(mark(made, index, filters=[{"ids": {"values": ["kept", "other"]}}]))
    assert MARKED == marks(made, index)
    assert (0, 1, 0) == counts(mark(made, index, filters=[{"ids": {"values": ["near", "other"]}}]))
    assert (0, 1, 0) == counts(mark(made, index, filters=[{"ids": {"values": ["loud"]}}]))
    assert {"kept": (None, "kept")} == marks(made, index)


def test_documents_with_one_id_in_two_indices_and_with_routing(made: Indices) -> None:
    """Each has its own mark, and clusters are not mixed up; so it is with the same id twice in one index."""
    first, second = sorted([made.make(mapping()), made.make(mapping(), {"number_of_shards": 2})])
    two = made.make(mapping(), {"number_of_shards": 3})
    put(made, first, {"twin": BASE, "copy": BASE})
    put(made, two, {"twin": TEXTS["other"], "late": TEXTS["other"]}, routing="x")
    put(made, two, {"twin": words(300, 400)}, routing="a")
    put(made, second, {"late": words(300, 400)}, routing="x")
    alias = made.alias(first, second, two)
    report = mark(made, alias)
    found = {
        (hit["_index"], hit.get("_routing"), hit["_id"]): tuple(hit["_source"]["simdoc"].get(each) for each in FIELDS)
        for hit in hits(made, alias)
    }

    assert (6, 0, 0) == counts(report)
    assert {
        (first, None, "copy"): (None, f"{first}//copy"),
        (first, None, "twin"): ("copy", f"{first}//copy"),
        (two, "x", "late"): (None, f"{two}/x/late"),
        (two, "x", "twin"): ("late", f"{two}/x/late"),
        (second, "x", "late"): (None, f"{second}/x/late"),
        (two, "a", "twin"): ("late", f"{second}/x/late"),
    } == found
    assert (0, 0, 6) == counts(mark(made, alias))


def test_an_index_of_our_own_has_the_fields_and_keeps_its_marks(made: Indices) -> None:
    """Indexing again leaves unchanged documents alone, with their marks; a new text takes its mark away."""
    name = made.name()
    search = SimilaritySearch(open_store(f"{made.engine}/{name}", create=True))
    documents = [Document(id, text) for id, text in TEXTS.items()]
    search.index(documents)

    assert (3, 0, 0) == counts(search.mark_duplicates(search.duplicates()))
    assert MARKED == marks(made, name)
    assert 4 == search.index(documents).unchanged
    assert MARKED == marks(made, name)
    assert 1 == search.index([Document("near", words(400, 500))]).replaced
    assert (0, 0, 2) == counts(search.mark_duplicates(search.duplicates()))


# --- queries of the documentation ---


PAGE = (Path(__file__).parents[2] / "docs" / "engines.md").read_text("utf-8")
HIDING, GROUPED, ALONE = (
    json.loads(block)
    for section in re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    if "simdoc.cluster" in section or "simdoc.duplicate_of" in section
    for block in (section.split("{}\n")[1:] or [section])
)


def asking(query: dict[str, Any]) -> dict[str, Any]:
    """A query of the documentation, for words that other texts have too."""
    return json.loads(json.dumps(query).replace("what a user asks for", "word1 word900 word700"))  # type: ignore[no-any-return]


def test_queries_hide_duplicates_and_show_one_of_each_group(made: Indices) -> None:
    """Engines put all documents without a cluster into one group, so those are asked for beside the groups."""
    index = articles(made)
    put(made, index, {"more": words(700, 760)})
    mark(made, index)
    everything = {**asking(ALONE)["query"]["bool"], "must_not": []}

    assert ["kept", "more", "other"] == found(made, index, **asking(HIDING))
    assert ["kept", "loud", "more", "near", "other"] == found(made, index, query={"bool": everything})
    assert 2 == len(found(made, index, query={"bool": everything}, collapse=GROUPED["collapse"]))  # and not 3
    assert 1 == len(found(made, index, **asking(GROUPED)))
    assert ["more", "other"] == found(made, index, **asking(ALONE))
    assert ["loud", "near"] == found(made, index, query={"term": {"simdoc.duplicate_of": "kept"}})
    assert ["kept", "loud", "near"] == found(made, index, query={"term": {"simdoc.cluster": "kept"}})


# --- while others write ---


@one_engine
def test_writes_of_others_stay(made: Indices) -> None:
    """A counter that another one changes stays, and the mark comes to it; a replaced document has none until later."""
    index = articles(made)

    def others(number: int) -> None:
        if number == 0:
            call(made.engine, "POST", f"/{index}/_update/kept", {"doc": {"views": 7}})
            put(made, index, {"near": TEXTS["other"]})
            call(made.engine, "DELETE", f"/{index}/_doc/loud")

    with interposed(made, others) as (_, server):
        search = SimilaritySearch(open_store(f"{server.url}/{index}", text_field="body"))
        report = search.mark_duplicates(search.duplicates())
    assert (1, 0, 0, 2, 0) == (report.set, report.removed, report.unchanged, report.passed_over, report.refused)
    assert [7] == [hit["_source"]["views"] for hit in hits(made, index) if hit["_id"] == "kept"]
    assert {"kept": (None, "kept")} == marks(made, index)
    assert (2, 1, 0) == counts(mark(made, index))
    assert {"near": (None, "near"), "other": ("near", "near")} == marks(made, index)


@one_engine
def test_nothing_is_hidden_for_a_document_that_is_there_no_more(made: Indices) -> None:
    """The kept one was replaced or deleted since it was compared: its group is marked by the next run."""
    index = articles(made)
    put(made, index, {"same": TEXTS["other"]})
    search = search_in(made, index)
    groups = search.duplicates()
    put(made, index, {"kept": words(300, 400)})
    call(made.engine, "DELETE", f"/{index}/_doc/same?refresh")
    report = search.mark_duplicates(groups)

    assert (0, 5, {}) == (report.set, report.passed_over, marks(made, index))
    assert (2, 0, 0) == counts(mark(made, index))
    assert {"loud": (None, "loud"), "near": ("loud", "loud")} == marks(made, index)


@one_engine
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_in_the_middle_is_completed(made: Indices, sent: signal.Signals) -> None:
    """What is stale is gone by then, and nothing is set; Ctrl-C is answered by a sentence."""
    index = made.make(component_template()["template"]["mappings"])
    put(made, index, TEXTS)
    call(made.engine, "POST", f"/{index}/_update/other?refresh", {"doc": {"simdoc": {"duplicate_of": "near"}}})
    running: list[subprocess.Popen[str]] = []

    def end(number: int) -> Answer | None:
        if number == 1:
            running[0].send_signal(sent)
            time.sleep(1 if sent == signal.SIGINT else 0)
            return Answer(503, b"{}")
        return None

    with interposed(made, end) as (_, server):
        command = [sys.executable, "-m", "simdoc_search", "duplicates", "--store", f"{server.url}/{index}", "--mark"]
        environ = environment()
        with subprocess.Popen(command, stdout=-1, stderr=-1, encoding="utf-8", env=environ) as process:
            running.append(process)
            printed, said = process.communicate(timeout=30)
    if sent == signal.SIGINT:
        assert (
            "Error: interrupted; the marks that were set stay, run the same command to go on" == said.splitlines()[-1]
        )
        assert (130, "") == (process.returncode, printed)
    assert {} == marks(made, index)
    assert (3, 0, 0) == counts(mark(made, index))
    assert MARKED == marks(made, index)


# --- where they cannot be set ---


@one_engine
def test_an_index_that_cannot_have_them_is_named(made: Indices) -> None:
    """Behind an alias nothing is changed in the others then."""
    good, fields = articles(made), mapping()
    fields["properties"]["simdoc"]["properties"]["cluster"] = {"type": "text"}
    bad = made.make(fields)
    full = made.make(mapping(), {"mapping.total_fields.limit": 11})
    closed = articles(made)
    call(made.engine, "PUT", f"/{closed}/_settings", {"index.blocks.write": True})

    def said(*names: str) -> str:
        with pytest.raises(StoreError) as error:
            mark(made, made.alias(*names))
        return str(error.value).partition(" cannot be marked: ")[2]

    how = "put the mapping of simdoc-search template show, then reindex"
    assert f"simdoc.cluster has type 'text', not 'keyword'; {how}" == said(good, bad)
    assert "0 of 11 fields are left; raise index.mapping.total_fields.limit" == said(full)
    assert "it has the block index.blocks.write so nothing can be written; remove the block first" == said(closed)
    assert mapping()["properties"] == {
        **mapping()["properties"], **call(made.engine, "GET", f"/{good}/_mapping")[good]["mappings"]["properties"]
    }  # fmt: skip


@one_engine
def test_what_an_update_would_destroy_is_left(made: Indices) -> None:
    """A list of objects, which engines search like an object, and merge not at all."""
    index = articles(made)
    made.put(index, "list", {"body": BASE, "simdoc": [fingerprint_field(BASE)]})
    report = mark(made, index)
    shown = run("duplicates", "--store", f"{made.engine}/{index}", "--mark")

    assert (3, 1, ["list"]) == (report.set, report.refused, list(report.reasons))
    assert isinstance(next(hit["_source"]["simdoc"] for hit in hits(made, index) if hit["_id"] == "list"), list)
    assert 1 == shown.exit_code
    assert "marks: 0 set, 0 removed, 3 left as they were" in shown.stderr
    assert "Error: the document 'list' has no new mark: its simdoc is not as simdoc-search writes it" in shown.stderr


@one_engine
def test_the_command_says_what_was_done(made: Indices) -> None:
    """For people on stderr, beside the groups; as JSON with them."""
    index = articles(made)
    place = ("duplicates", "--store", f"{made.engine}/{index}", "--mark")
    shown = run(*place)

    assert (0, "marks: 3 set, 0 removed, 0 left as they were") == (shown.exit_code, shown.stderr.splitlines()[0])
    assert "1 group, 2 documents" in shown.stdout
    left = {"set": 0, "removed": 0, "unchanged": 3, "passed_over": 0, "refused": 0, "reasons": {}}
    assert left == answer(*place)["marks"]


def test_files_are_not_marked(tmp_path: Any) -> None:
    """It is said before anything is compared."""
    assert f"{tmp_path} is a folder, and marks are for documents of an engine; for files there is --plan" == sentence(
        run("duplicates", "--store", tmp_path, "--mark")
    )
    search = SimilaritySearch(open_store(":memory:", create=True))
    with pytest.raises(StoreError, match="is no index of an engine"):
        search.mark_duplicates(search.duplicates())


@one_engine
def test_whoever_was_kept_stays_so(made: Indices) -> None:
    """Though a longer one came; unless it is gone. What compares only new ones marks nothing."""
    index = articles(made)
    mark(made, index)
    put(made, index, {"longer": words(0, 103)})
    call(made.engine, "POST", f"/{index}/_refresh")
    search = search_in(made, index)

    assert ["longer"] == [each.kept.id for each in search.duplicates(measure="containment").groups()]
    assert ["kept"] == search.kept_by_marks()
    command = ["duplicates", "--mark", "--measure", "containment", "--store", f"{made.engine}/{index}"]
    output = answer(*command, "--text-field", "body")
    assert ["kept"] == [each["kept"]["id"] for each in output["clusters"]]
    assert {**MARKED, "longer": ("kept", "kept")} == marks(made, index)
    call(made.engine, "DELETE", f"/{index}/_doc/kept?refresh")
    assert ["longer"] == [each.kept.id for each in search.duplicates(kept_before=search.kept_by_marks()).groups()]
    with pytest.raises(StoreError, match="only new documents were compared"):
        search.mark_duplicates(search.duplicates(new=["longer"]))
    assert 2 == run("duplicates", "--mark", "--since", "2026-01-01", "--store", f"{made.engine}/{index}").exit_code


@one_engine
def test_a_text_that_is_not_the_fingerprints_verifies_nothing(made: Indices) -> None:
    """It was changed since, or is another field: the fingerprint decides, which is said."""
    index = articles(made)
    made.put(index, "near", {"body": "of other words altogether", "simdoc": fingerprint_field(TEXTS["near"])})
    call(made.engine, "POST", f"/{index}/_refresh")
    found = search_in(made, index).duplicates()
    (group,) = found.groups()

    assert {"loud": True, "near": False} == {each.id: each.exact for each in group.duplicates}
    assert 1 == found.unverified
