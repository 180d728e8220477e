"""Which indices and documents a backfill chooses, by what an engine describes; and wrong calls."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search.attach.backfill import Task, queries
from simdoc_search.attach.backfill.seq_nos import Span
from simdoc_search.attach.backfill.targets import find_targets
from simdoc_search.errors import StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from tests.support.cli import run, usage_error
from tests.support.described import BODY, Handler, RefusalError, engine, index, target


def describing(found: dict[str, Any]) -> Handler:
    """An engine with these indices, and no documents."""
    return lambda _, path, __: {"hits": {"hits": []}} if path.endswith("/_search") else found


def chosen(found: dict[str, Any], name: str) -> dict[str, list[Any]]:
    """What is chosen of each index that stands behind a name."""
    targets, _ = find_targets(engine(describing(found)), name, Task("body"))
    return {each.index: each.chosen for each in targets}


# --- which indices ---


def test_a_filter_counts_if_nothing_else_names_the_index() -> None:
    """As engines have it: the filter of an alias, of one of two aliases, but of none if the index is named too."""
    few, others = {"term": {"team": "a"}}, {"term": {"team": "b"}}
    found = {"i": index(aliases={"few": {"filter": few}, "others": {"filter": others}, "all": {}, "unasked": {}})}

    def either(*filters: Any) -> dict[str, list[Any]]:
        return {"i": [{"bool": {"should": list(filters), "minimum_should_match": 1}}] if filters else []}

    assert either(few) == chosen(found, "few")
    assert either(few, others) == chosen(found, "few,others")
    assert either(few) == chosen(found, "fe*")
    assert either() == chosen(found, "few,all") == chosen(found, "i") == chosen(found, "few,i") == chosen(found, "i*")


def test_a_data_stream_names_its_backing_indices() -> None:
    """An alias on one of them does not narrow it down."""
    found = {".ds-logs-000001": index(aliases={"few": {"filter": {"match_all": {}}}}, data_stream="logs")}

    assert {".ds-logs-000001": []} == chosen(found, "logs") == chosen(found, "lo*,few")


def test_indices_that_do_not_even_tell_their_mapping_are_skipped() -> None:
    """With a block for metadata in one of several, the engine tells nothing of all; each is asked alone."""

    def handle(method: str, path: str, _: Any) -> Any:
        if path.startswith("/_resolve/index/"):
            streams = [{"name": "s", "backing_indices": ["b"]}]
            return {
                "indices": [{"name": "c"}],
                "aliases": [{"name": "all", "indices": ["a", "b"]}],
                "data_streams": streams,
            }
        if path in {"/all", "/b"}:
            raise RefusalError(403, "cluster_block_exception")
        return {"hits": {"hits": []}} if path.endswith("/_search") else {path[1:]: index()}

    targets, skipped = find_targets(engine(handle), "all", Task("body"))

    assert ["a", "c"] == [each.index for each in targets]
    assert ["b"] == [each.index for each in skipped]
    assert "index.blocks.metadata" in skipped[0].reason


@pytest.mark.parametrize(
    ("described", "said"),
    [
        (index({"_source": {"mode": "synthetic"}, **BODY}), "put together from fields"),
        (index({"_source": {"mode": "disabled"}, **BODY}), "_source is disabled"),
        (index(mapping={"source": {"mode": "synthetic"}}), "put together from fields"),
        (index(mode="logsdb"), "put together from fields"),
        (index({"subobjects": False, **BODY}), "takes no objects"),
    ],
)
def test_what_engines_of_other_editions_do_to_source_is_refused(described: Any, said: str) -> None:
    """An update writes anew what `_source` gives back, which is not what was written."""
    targets, skipped = find_targets(engine(lambda *_: {"i": described}), "i", Task("body"))

    assert [] == targets
    assert said in skipped[0].reason


def test_a_pattern_that_fits_nothing_is_an_error() -> None:
    """Engines answer it with nothing; a run that does nothing would look like one that is done."""
    with pytest.raises(StoreNotFoundError, match=r"no index logs-\*"):
        find_targets(engine(lambda *_: {}), "logs-*", Task("body"))


# --- which documents ---


def test_only_what_has_no_fingerprint_is_asked_for() -> None:
    """Beside what the task and the alias choose."""
    mine, alias = {"term": {"team": "a"}}, {"term": {"team": "b"}}
    without = target(chosen=[alias], settings=Settings(passages=None))
    query = queries.to_do(without, Task("body", "fp", mine))

    lacks = {"bool": {"must_not": [{"exists": {"field": "fp.format"}}]}}

    assert {"filter": [alias, mine, lacks], "must_not": []} == query["bool"]


def test_where_an_index_tells_it_only_documents_with_a_text_are_asked_for() -> None:
    """And those whose fingerprint must go, as they have no text any more."""
    text = {"exists": {"field": "body"}}
    query = queries.to_do(target(settings=Settings(passages=None), has_text=text), Task("body"))
    (either,) = query["bool"]["filter"]
    ours = [{"exists": {"field": "simdoc.format"}}, {"exists": {"field": "simdoc.tokens"}}]

    assert [
        {"bool": {"filter": [{"bool": {"must_not": ours[:1]}}, text]}},
        {"bool": {"filter": [{"bool": {"should": ours, "minimum_should_match": 1}}], "must_not": [text]}},
    ] == either["bool"]["should"]


def test_what_has_no_passage_tokens_is_asked_for_where_there_are_to_be_some() -> None:
    """A fingerprint of the same settings but for them is not complete; one of other settings is no business of ours."""
    (either,) = queries.to_do(target(), Task("body", "fp"))["bool"]["filter"]

    assert [
        {"bool": {"must_not": [{"exists": {"field": "fp.format"}}]}},
        {"term": {"fp.format": "nfkc_cf word 5 short_texts; bucketed:1 512 1 false 4"}},
    ] == either["bool"]["should"]


def test_the_parts_of_all_writes_are_side_by_side() -> None:
    """None twice, none missing, whatever their number; each shard counts its own writes."""
    for first, last, parts in ((-1, 0, 1), (-1, 9, 3), (-1, 100, 7), (-1, 3, 10), (59, 100, 7), (8, 9, 1)):
        asked = list(Span((first, -1), (last, 20)).parts(parts))
        for shard, wanted in enumerate([range(first + 1, last + 1), range(21)]):
            ranges = [each.of_shard(shard)["range"]["_seq_no"] for each in asked]
            numbers = [number for each in ranges for number in range(each["gte"], each["lte"] + 1)]

            assert list(wanted) == numbers
    assert [] == [*Span((-1,), (9,)).parts(0), *Span((9, -1), (9, -1)).parts(3)]
    assert {"gte": 3, "lte": 9} == Span((7, 2), (9, 5)).of_any()["range"]["_seq_no"]
    assert {"gte": 3} == Span((7, 2)).of_any()["range"]["_seq_no"]


# --- the command line ---


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--watch"], "--watch and --changed-field belong together"),
        (["--changed-field", "f"], "--watch and --changed-field belong together"),
        (["--watch", "--changed-field", "f", "--dry-run"], "--dry-run looks once; leave out --watch"),
        (["--throttle", "fast"], "Invalid value for '--throttle': 'fast' is not a number of documents a second"),
        (["--throttle", "0"], "Invalid value for '--throttle': '0' is not a number of documents a second"),
        (["--query", '{"a": '], "Invalid value for '--query': it begins like JSON, but is none: "),
        (["--field", "a.b"], "Invalid value for --field: the field stands at the top of a document"),
    ],
)
def test_a_wrong_call_is_told_before_anything_is_asked(options: list[str], said: str) -> None:
    """Exit code 2."""
    assert usage_error(run("backfill", "http://127.0.0.1:1/i", "--text-field", "body", *options)).startswith(said)
