"""Tests of `mark_duplicates`, and of queries that use the marks to hide or show duplicates."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.duplicates import mark_update
from tests.support.cli import words
from tests.support.engines import call, each_engine
from tests.support.http_server import TempIndices
from tests.support.marks import (
    BASE,
    FIELDS,
    MARKED,
    TEXTS,
    articles,
    counts,
    hit_ids,
    hits,
    mapping,
    mark,
    marks,
    put,
    search_in,
)
from tests.support.pages import run_command

engine_url = each_engine("opensearch", "elasticsearch")


def test_marks_agree_with_the_groups(temp_indices: TempIndices) -> None:
    """A strict index can have marks. Unchanged marks are not written, and stale ones are removed."""
    index = articles(temp_indices, dynamic="strict")
    before = {hit["_id"]: hit["_source"] for hit in hits(temp_indices, index)}
    assert (3, 0, 0) == counts(mark(temp_indices, index))
    assert MARKED == marks(temp_indices, index)
    for hit in hits(temp_indices, index):
        unmarked = {name: value for name, value in hit["_source"]["simdoc"].items() if name not in FIELDS}
        assert before[hit["_id"]] == {**hit["_source"], "simdoc": unmarked}

    states = {hit["_id"]: hit["_seq_no"] for hit in hits(temp_indices, index)}
    assert (0, 0, 3) == counts(mark(temp_indices, index))
    assert states == {hit["_id"]: hit["_seq_no"] for hit in hits(temp_indices, index)}

    assert (0, 1, 2) == counts(mark(temp_indices, index, overlap=1))
    temp_indices.put(index, "kept", {"body": BASE, "simdoc": fingerprint_field(BASE)})  # this removes its mark
    call(
        temp_indices.engine,
        "POST",
        f"/{index}/_update/loud?refresh",
        {"doc": {"body": TEXTS["other"], "simdoc": fingerprint_field(TEXTS["other"])}},
    )
    assert (4, 0, 0) == counts(mark(temp_indices, index))
    assert {"kept": (None, "kept"), "near": ("kept", "kept")} == {
        id: mark for id, mark in marks(temp_indices, index).items() if mark[1] == "kept"
    }
    assert {"loud": (None, "loud"), "other": ("loud", "loud")} == {
        id: mark for id, mark in marks(temp_indices, index).items() if mark[1] == "loud"
    }


def test_a_new_kept_document_is_shown_before_the_earlier_one_is_hidden(
    temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interruption between the two steps does not hide all documents of a group. The next batch may be written."""
    index = articles(temp_indices)
    mark(temp_indices, index)
    temp_indices.put(index, "long", {"simdoc": {**(fingerprint_field(words(0, 101)) or {}), "duplicate_of": "kept"}})
    search = search_in(temp_indices, index)

    def interrupt(stage: str, share: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mark_update, "_DOCUMENTS_AT_ONCE", 1)
    groups = search.duplicates(preferred_ids=["long"])
    with pytest.raises(KeyboardInterrupt):
        search.mark_duplicates(groups, progress=interrupt)
    assert (None, "long") == marks(temp_indices, index)["long"]
    newly_marked, removed, unchanged = counts(mark(temp_indices, index, preferred_ids=["long"]))
    assert (4, 0) == (newly_marked + unchanged, removed)
    assert unchanged in (2, 3)
    assert {"kept": ("long", "long"), "long": (None, "long")} == {
        id: mark for id, mark in marks(temp_indices, index).items() if id in ("kept", "long")
    }


def test_only_compared_documents_lose_their_marks(temp_indices: TempIndices) -> None:
    """A document without a fingerprint also loses its mark if a filter selects it."""
    index = articles(temp_indices)
    mark(temp_indices, index)
    call(
        temp_indices.engine,
        "POST",
        f"/{index}/_update/near?refresh",
        {"doc": {"simdoc": {"tokens": None, "text_hash": None}}},
    )

    assert (0, 0, 0) == counts(mark(temp_indices, index, filters=[{"term": {"_id": "other"}}]))
    assert (0, 0, 1) == counts(mark(temp_indices, index, filters=[{"ids": {"values": ["kept", "other"]}}]))
    assert MARKED == marks(temp_indices, index)
    assert (0, 1, 0) == counts(mark(temp_indices, index, filters=[{"ids": {"values": ["near", "other"]}}]))
    assert (0, 1, 0) == counts(mark(temp_indices, index, filters=[{"ids": {"values": ["loud"]}}]))
    assert {"kept": (None, "kept")} == marks(temp_indices, index)


def test_each_document_with_the_same_id_has_its_own_mark(temp_indices: TempIndices) -> None:
    """The documents differ in their index or routing."""
    first, second = sorted([temp_indices.make(mapping()), temp_indices.make(mapping(), {"number_of_shards": 2})])
    two = temp_indices.make(mapping(), {"number_of_shards": 3})
    put(temp_indices, first, {"twin": BASE, "copy": BASE})
    put(temp_indices, two, {"twin": TEXTS["other"], "late": TEXTS["other"]}, routing="x")
    put(temp_indices, two, {"twin": words(300, 400)}, routing="a")
    put(temp_indices, second, {"late": words(300, 400)}, routing="x")
    alias = temp_indices.alias(first, second, two)
    report = mark(temp_indices, alias)
    marks_by_place = {
        (hit["_index"], hit.get("_routing"), hit["_id"]): tuple(hit["_source"]["simdoc"].get(name) for name in FIELDS)
        for hit in hits(temp_indices, alias)
    }

    assert (6, 0, 0) == counts(report)
    assert {
        (first, None, "copy"): (None, f"{first}//copy"),
        (first, None, "twin"): ("copy", f"{first}//copy"),
        (two, "x", "late"): (None, f"{two}/x/late"),
        (two, "x", "twin"): ("late", f"{two}/x/late"),
        (second, "x", "late"): (None, f"{second}/x/late"),
        (two, "a", "twin"): ("late", f"{second}/x/late"),
    } == marks_by_place
    assert (0, 0, 6) == counts(mark(temp_indices, alias))


def test_an_unchanged_document_that_is_indexed_again_keeps_its_mark(temp_indices: TempIndices) -> None:
    """A document with a new text loses its mark."""
    name = temp_indices.name()
    search = SimilaritySearch(open_store(f"{temp_indices.engine}/{name}", create=True))
    documents = [Document(id, text) for id, text in TEXTS.items()]
    search.index(documents)

    assert (3, 0, 0) == counts(search.mark_duplicates(search.duplicates()))
    assert MARKED == marks(temp_indices, name)
    assert 4 == search.index(documents).unchanged_count
    assert MARKED == marks(temp_indices, name)
    assert 1 == search.index([Document("near", words(400, 500))]).replaced_count
    assert (0, 0, 2) == counts(search.mark_duplicates(search.duplicates()))


PAGE = (Path(__file__).parents[2] / "docs" / "marks.md").read_text("utf-8")
HIDING, GROUPED, WITHOUT_CLUSTER = (
    json.loads(block)
    for section in re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    if "simdoc.cluster" in section or "simdoc.duplicate_of" in section
    for block in (section.split("{}\n")[1:] or [section])
)


def example(query: dict[str, Any]) -> dict[str, Any]:
    """Return a query of the documentation that searches for words of several groups."""
    return json.loads(json.dumps(query).replace("what a user asks for", "word1 word900 word700"))  # type: ignore[no-any-return]


def test_queries_of_the_docs_hide_duplicates_and_show_one_of_each_group(temp_indices: TempIndices) -> None:
    """Engines put all documents without a cluster into one group, so they need a separate query."""
    index = articles(temp_indices)
    put(temp_indices, index, {"more": words(700, 760)})
    mark(temp_indices, index)
    everything = {**example(WITHOUT_CLUSTER)["query"]["bool"], "must_not": []}

    assert ["kept", "more", "other"] == hit_ids(temp_indices, index, **example(HIDING))
    assert ["kept", "loud", "more", "near", "other"] == hit_ids(temp_indices, index, query={"bool": everything})
    assert 2 == len(hit_ids(temp_indices, index, query={"bool": everything}, collapse=GROUPED["collapse"]))  # and not 3
    assert 1 == len(hit_ids(temp_indices, index, **example(GROUPED)))
    assert ["more", "other"] == hit_ids(temp_indices, index, **example(WITHOUT_CLUSTER))
    assert ["loud", "near"] == hit_ids(temp_indices, index, query={"term": {"simdoc.duplicate_of": "kept"}})
    assert ["kept", "loud", "near"] == hit_ids(temp_indices, index, query={"term": {"simdoc.cluster": "kept"}})


@pytest.mark.parametrize("engine_url", ["opensearch"], indirect=True)
def test_the_command_of_the_docs_removes_all_marks(temp_indices: TempIndices) -> None:
    """The Elasticsearch of the tests cannot update by query."""
    index = articles(temp_indices)
    mark(temp_indices, index)
    (command,) = re.findall(r"^curl .*?^}'$", PAGE, re.DOTALL | re.MULTILINE)

    assert (
        3
        == json.loads(run_command(command.replace("http://127.0.0.1:9201/docs", f"{temp_indices.engine}/{index}")))[
            "updated"
        ]
    )
    assert {} == marks(temp_indices, index)
    assert {"simdoc"} <= {*hits(temp_indices, index)[0]["_source"]}
