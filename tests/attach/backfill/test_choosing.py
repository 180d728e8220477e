"""A backfill selects indices and documents by the descriptions of the engine."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search.attach.backfill import BackfillOptions, queries
from simdoc_search.attach.backfill.checkpoints import WriteRange
from simdoc_search.attach.backfill.targets import find_targets
from simdoc_search.errors import StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from tests.support.cli import run, usage_error
from tests.support.fake_engine import BODY, engine, index, target


def make_filters(described: dict[str, Any], name: str) -> dict[str, Any]:
    """The filters of each index behind a name, in an engine without documents."""

    def handle(_: str, path: str, __: Any) -> Any:
        return {"hits": {"hits": []}} if path.endswith("/_search") else described

    targets, _ = find_targets(engine(handle), name, BackfillOptions("body"))
    return {target.index.name: [*target.index.filters] for target in targets}


# --- indices ---


def test_the_filter_of_an_alias_applies_unless_another_name_selects_the_whole_index() -> None:
    """This is how engines resolve one alias, several, a pattern, and the name of the index."""
    few, others = {"term": {"team": "a"}}, {"term": {"team": "b"}}
    described = {"i": index(aliases={"few": {"filter": few}, "others": {"filter": others}, "all": {}, "unasked": {}})}

    either = {"bool": {"should": [few, others], "minimum_should_match": 1}}
    assert {"i": [few]} == make_filters(described, "few") == make_filters(described, "fe*")
    assert {"i": [either]} == make_filters(described, "few,others")
    assert all({"i": []} == make_filters(described, name) for name in ("few,all", "i", "few,i", "i*"))


def test_an_alias_does_not_narrow_a_data_stream() -> None:
    """The name of the stream selects the whole backing index."""
    described = {".ds-logs-000001": index(aliases={"few": {"filter": {"match_all": {}}}}, data_stream="logs")}

    assert {".ds-logs-000001": []} == make_filters(described, "logs") == make_filters(described, "lo*,few")


@pytest.mark.parametrize(
    ("described", "reason"),
    [
        (index({"_source": {"mode": "synthetic"}, **BODY}), "_source is synthetic"),
        (index({"_source": {"mode": "disabled"}, **BODY}), "_source is disabled"),
        (index(mapping={"source": {"mode": "synthetic"}}), "_source is synthetic"),
        (index(mode="logsdb"), "_source is synthetic"),
        (index({"subobjects": False, **BODY}), "does not allow objects"),
    ],
)
def test_an_index_that_rebuilds_the_source_is_refused(described: Any, reason: str) -> None:
    """Only other editions of the engines have such indices, so they are described here."""
    targets, (skipped,) = find_targets(engine(lambda *_: {"i": described}), "i", BackfillOptions("body"))

    assert ([], True) == (targets, reason in skipped.reason)


def test_a_pattern_without_indices_is_an_error() -> None:
    """The engine returns no index and no error, so a run would look complete."""
    with pytest.raises(StoreNotFoundError, match=r"no index logs-\*"):
        find_targets(engine(lambda *_: {}), "logs-*", BackfillOptions("body"))


# --- documents ---


def test_incomplete_documents_are_read_within_the_filter_of_an_alias() -> None:
    """Fingerprints without passage tokens are incomplete. Fingerprints with other settings are not."""
    alias = {"term": {"team": "b"}}
    lacks = {"bool": {"must_not": [{"exists": {"field": "fp.format"}}]}}
    label = "nfkc_cf word 5 short_texts; bucketed:1 512 1 false 9"
    without = queries.build_incomplete_query(
        target(filters=[alias], settings=Settings(passages=None)), BackfillOptions("body", "fp")
    )
    (either,) = queries.build_incomplete_query(target(), BackfillOptions("body", "fp"))["bool"]["filter"]

    assert {"filter": [alias, lacks]} == without["bool"]
    assert [lacks, {"term": {"fp.format": label}}] == either["bool"]["should"]


def test_with_a_query_for_texts_only_documents_with_a_text_are_read() -> None:
    """Documents without a text that still have a fingerprint are read too."""
    text = {"exists": {"field": "body"}}
    query = queries.build_incomplete_query(
        target(settings=Settings(passages=None), text_query=text), BackfillOptions("body")
    )
    (either,) = query["bool"]["filter"]
    ours = [{"exists": {"field": "simdoc.format"}}, {"exists": {"field": "simdoc.tokens"}}]

    assert [
        {"bool": {"filter": [{"bool": {"must_not": ours[:1]}}, text]}},
        {"bool": {"filter": [{"bool": {"should": ours, "minimum_should_match": 1}}], "must_not": [text]}},
    ] == either["bool"]["should"]


def test_each_write_is_in_one_part_of_a_range() -> None:
    """Each shard counts its own writes."""
    for first, last, parts in ((-1, 0, 1), (-1, 9, 3), (-1, 100, 7), (-1, 3, 10), (59, 100, 7), (8, 9, 1)):
        ranges = list(WriteRange((first, -1), (last, 20)).split(parts))
        for shard, wanted in enumerate([range(first + 1, last + 1), range(21)]):
            bounds = [part.build_shard_query(shard)["range"]["_seq_no"] for part in ranges]

            assert list(wanted) == [number for bound in bounds for number in range(bound["gte"], bound["lte"] + 1)]
    assert [] == [*WriteRange((-1,), (9,)).split(0), *WriteRange((9, -1), (9, -1)).split(3)]
    assert {"gte": 3, "lte": 9} == WriteRange((7, 2), (9, 5)).build_any_shard_query()["range"]["_seq_no"]
    assert {"gte": 3} == WriteRange((7, 2)).build_any_shard_query()["range"]["_seq_no"]


# --- the command line ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--full"], "--full only works with --stale"),
        (["--throttle", "fast"], "Invalid value for '--throttle': 'fast' is not a number of documents per second"),
        (["--throttle", "0"], "Invalid value for '--throttle': '0' is not a number of documents per second"),
        (["--field", "a.b"], "Invalid value for --field: 'a.b' contains a dot; choose a top-level field"),
        (["--passages", "--no-passages"], "--passages and --no-passages cannot be combined; omit one of them"),
    ],
)
def test_wrong_options_are_refused_before_any_request(options: list[str], message: str) -> None:
    assert usage_error(run("backfill", "http://127.0.0.1:1/i", "--text-field", "body", *options)).startswith(message)
