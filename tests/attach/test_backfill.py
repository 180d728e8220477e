"""A backfill's parts without an engine: which indices, which documents, what is sent again, what is estimated."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import Backfill, BackfillReport, NodeDisk, Refused, Task, estimate, queries
from simdoc_search.attach.backfill.estimating import disks_after
from simdoc_search.attach.backfill.rounds import PAGE_DOCUMENTS, Pace
from simdoc_search.attach.backfill.targets import Target, find_targets
from simdoc_search.attach.backfill.task import UnfitIndexError
from simdoc_search.attach.backfill.writing import Writer
from simdoc_search.errors import StoreNotFoundError, StoreUnavailableError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote import bulk as bulk_writes
from simdoc_search.stores.remote import patience
from simdoc_search.stores.remote.engine import Engine, RequestError
from tests.support.cli import run, usage_error

TEXT = "five words or a few more for a fingerprint"
BODY = {"properties": {"body": {"type": "text"}}}
GB = 1 << 30
ALL_SHARDS = {"total": 1, "successful": 1, "failed": 0}

Handler = Callable[[str, str, Any], Any]
"""A method, a path and a body to the answer; it may raise a RefusalError."""


class RefusalError(Exception):
    """An engine's answer with a status that is an error."""

    def __init__(self, status: int, kind: str = "", reason: str = "no") -> None:
        super().__init__(reason)
        self.status_code = status
        self.info = {"error": {"type": kind, "reason": reason}}


def engine(handle: Handler) -> Engine:
    """An engine that answers as a function says."""

    def perform_request(method: str, url: str, *, params: Any, headers: Any, body: Any) -> Any:
        given = handle(method, url, body)
        return {"_shards": ALL_SHARDS, **given} if url.endswith(("/_search", "/_count")) else given

    return Engine(SimpleNamespace(transport=SimpleNamespace(perform_request=perform_request)), "the engine")


def index(mappings: Any = None, aliases: Any = None, data_stream: str = "", **settings: Any) -> dict[str, Any]:
    """An index as `GET /index` describes it."""
    usual = {"uuid": "u", "number_of_shards": "1", "number_of_replicas": "0"}
    described = {"mappings": BODY if mappings is None else mappings, "aliases": aliases or {}}
    return {**described, "settings": {"index": usual | settings}} | (
        {"data_stream": data_stream} if data_stream else {}
    )


def target(**changes: Any) -> Target:
    """An index that is fit."""
    values = {
        "index": "i",
        "uuid": "u",
        "shards": 1,
        "replicas": 0,
        "settings": Settings(),
        "missing": {},
        "chosen": [],
    }
    return Target(**{**values, **changes})


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
        (index(derived_source={"enabled": "true"}), "put together from fields"),
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

    assert {"filter": [alias, mine], "must_not": [{"exists": {"field": "fp.format"}}]} == query["bool"]


def test_what_has_no_passage_tokens_is_asked_for_where_there_are_to_be_some() -> None:
    """A fingerprint of the same settings but for them is not complete; one of other settings is no business of ours."""
    (either,) = queries.to_do(target(), Task("body", "fp"))["bool"]["filter"]

    assert [
        {"bool": {"must_not": [{"exists": {"field": "fp.format"}}]}},
        {"term": {"fp.format": "nfkc_cf word 5 short_texts; bucketed:1 512 1 false 4"}},
    ] == either["bool"]["should"]


def test_the_parts_of_all_changes_are_side_by_side() -> None:
    """None twice, none missing, whatever their number."""
    for first, last, parts in ((0, 0, 1), (0, 9, 3), (0, 100, 7), (0, 3, 10), (60, 100, 7), (9, 9, 1)):
        asked = list(queries.in_order_of_change(target(), Task("body"), first, last, parts))
        ranges = [each["bool"]["filter"][1]["range"]["_seq_no"] for each in asked]
        numbers = [number for each in ranges for number in range(each["gte"], each["lte"] + 1)]

        assert list(range(first, last + 1)) == numbers
    assert [] == list(queries.in_order_of_change(target(), Task("body"), 0, 0, 0))


def test_a_change_is_one_of_text_or_of_nothing() -> None:
    """Without a value that grows, only what has no fingerprint."""
    new = {"bool": {"must_not": [{"exists": {"field": "simdoc.format"}}]}}
    without = target(settings=Settings(passages=None))
    changed = {"range": {"changed": {"gte": "2024"}}}

    for value, either in (("2024", [new, changed]), (None, [new])):
        asked = queries.changed_since(without, Task("body"), "changed", value)
        assert [{"bool": {"should": either, "minimum_should_match": 1}}] == asked["bool"]["filter"]


# --- how fast ---


def hits(count: int, text: str = TEXT) -> list[dict[str, Any]]:
    """So many documents as a search shows them."""
    return [
        {"_index": "i", "_id": f"{n}", "_seq_no": n, "_primary_term": 1, "_source": {"body": text}}
        for n in range(count)
    ]


def test_pages_of_long_documents_are_short() -> None:
    """Memory is bounded by what a page holds, here and in the engine."""
    pace, sizes = Pace(None), []
    for length in (10, 100_000, 10_000_000):
        pace.keep(hits(2, "x" * length))
        sizes.append(pace.size)

    assert PAGE_DOCUMENTS == sizes[0]
    assert 30 <= sizes[1] <= 40
    assert 1 == sizes[2]


@pytest.mark.parametrize(("throttle", "size"), [(0.2, 1), (7, 7), (100_000, 50)])
def test_a_page_is_no_more_than_a_second(throttle: float, size: int) -> None:
    """Or a throttle would let all through at once, and then nothing for long."""
    assert size == Pace(throttle).size


def test_a_throttle_holds_over_time() -> None:
    """The first page goes at once."""
    pace, began = Pace(100), time.monotonic()
    for _ in range(4):
        pace.keep(hits(10))

    assert 0.28 < time.monotonic() - began < 1


# --- what is sent ---


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(patience, "LONGEST_PAUSE", 0.01)
    monkeypatch.setattr(patience, "PATIENCE", 0.3)
    monkeypatch.setattr(patience, "QUESTION_PATIENCE", 0.3)


def written(found: list[dict[str, Any]], bulk: Callable[[list[Any]], Any]) -> BackfillReport:
    """The report on some documents; `bulk` answers the lines of each request."""

    def handle(method: str, path: str, body: Any) -> Any:
        if path == "/_bulk":
            return bulk([json.loads(line) for line in body.splitlines()])
        assert (method, path) == ("GET", "/i/_settings/index.uuid")
        return {"i": {"settings": {"index": {"uuid": "u"}}}}

    report = BackfillReport()
    Writer(engine(handle).at_work(), target(), Task("body")).write(found, report)
    return report


def items(lines: list[Any], status: int = 200, **more: Any) -> dict[str, Any]:
    """An answer that says the same of all writes."""
    said = {"result": "updated"} if status < 400 else {"error": {"type": "some_exception", "reason": "some reason"}}
    return {"items": [{"update": {"_index": "i", "status": status, **said, **more}} for _ in lines[::2]]}


def test_an_update_says_which_state_it_is_for() -> None:
    """The document's own index, routing and number; and nothing but our field."""
    sent: list[Any] = []

    def bulk(lines: list[Any]) -> Any:
        sent.extend(lines)
        return items(lines)

    written([{**hits(1)[0], "_routing": "r", "_seq_no": 7, "_primary_term": 3}], bulk)
    place = {"_index": "i", "_id": "0", "if_seq_no": 7, "if_primary_term": 3, "routing": "r"}

    assert [{"update": place}, {"doc": {"simdoc": fingerprint_field(TEXT)}}] == sent


def test_what_is_right_is_not_sent() -> None:
    """The same text with the same settings, well-formed; one of it alone is not enough."""
    right = fingerprint_field(TEXT) or {}
    ours: list[Any] = [right, {**right, "text_hash": "other"}, {**right, "format": "other; format"}, None]
    ours += [{**right, "tokens": right["tokens"].split()}, {**right, "shingles": None}, [right]]
    found = [{**hit, "_source": {"body": TEXT, "simdoc": each}} for hit, each in zip(hits(7), ours, strict=True)]
    report = written(found, items)

    assert (6, 1) == (report.updated, report.unchanged)


@pytest.mark.parametrize(
    "theirs",
    ["a note", 7, ["a", "b"], {"text": "a note"}, {"format": "pdf"}, {"tokens": 345}, [{"text": "a"}]],
    ids=str,
)
def test_what_an_application_keeps_there_is_not_replaced(theirs: Any) -> None:
    """The document is refused with what it has, and nothing is sent for it."""
    found = [{**hits(1)[0], "_source": {"body": TEXT, "simdoc": theirs}}, hits(2)[1]]
    report = written(found, items)

    assert (1, ["0"]) == (report.updated, [each.id for each in report.refused])
    assert "which is no fingerprint; choose another name with --into" in report.refused[0].reason


def test_a_write_that_changes_nothing_is_no_update() -> None:
    """The engine says so."""
    report = written(hits(2), lambda lines: items(lines, result="noop"))

    assert (0, 2) == (report.updated, report.unchanged)


@pytest.mark.parametrize(("chunk_bytes", "largest"), [(4_000_000, 8), (900, 2)])
def test_what_is_too_large_is_sent_in_parts(monkeypatch: pytest.MonkeyPatch, chunk_bytes: int, largest: int) -> None:
    """Down to one document, which is refused if it is too large alone."""
    monkeypatch.setattr(bulk_writes, "CHUNK_BYTES", chunk_bytes)
    sizes: list[int] = []

    def bulk(lines: list[Any]) -> Any:
        sizes.append(len(lines) // 2)
        if len(lines) > 4 or any(line.get("update", {}).get("_id") == "3" for line in lines):
            raise RefusalError(413)
        return items(lines)

    report = written(hits(8), bulk)
    assert largest == max(sizes)
    assert (7, [Refused("3", "i", "too large for the engine")]) == (report.updated, report.refused)


def test_what_a_busy_engine_leaves_is_sent_again() -> None:
    """And only that; each is counted once."""
    sent: list[str] = []

    def bulk(lines: list[Any]) -> Any:
        ids = [line["update"]["_id"] for line in lines[::2]]
        sent.extend(ids)
        return {"items": [items([0, 0], 200 if sent.count(id) > int(id) else 429)["items"][0] for id in ids]}

    report = written(hits(4), bulk)

    assert 4 == report.updated
    assert ["0", "1", "1", "2", "2", "2", "3", "3", "3", "3"] == sorted(sent)


def test_a_full_disk_is_waited_for_and_named() -> None:
    """The block that a disk over its last watermark sets may go; in the end the run says what it waited for."""
    with pytest.raises(StoreUnavailableError, match=r"the engine is busy \(some reason\); waited .*run it again"):
        written(hits(2), lambda lines: items(lines, 429))


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [(403, "security_exception", "it takes no updates: some reason"), (404, "index_not_found_exception", "removed")],
)
def test_what_is_true_of_the_whole_index_ends_it(status: int, kind: str, said: str) -> None:
    """And is not listed once for each of a million documents."""
    with pytest.raises(UnfitIndexError, match=said):
        written(hits(3), lambda lines: items(lines, status, error={"type": kind, "reason": "some reason"}))


def test_a_report_lists_a_document_once() -> None:
    """With the last reason."""
    report = BackfillReport(refused=[Refused("a", "i", "old"), Refused("a", "j", "other index")])
    report.add(BackfillReport(updated=2, refused=[Refused("a", "i", "new")]))

    assert [Refused("a", "i", "new"), Refused("a", "j", "other index")] == report.refused
    assert 4 == report.documents


def test_an_engine_that_is_away_at_first_is_waited_for() -> None:
    """Also before anything is read."""
    failing = iter([RefusalError(503), RefusalError(502)])

    def handle(method: str, path: str, body: Any) -> Any:
        if error := next(failing, None):
            raise error
        raise RefusalError(401)

    with pytest.raises(RequestError, match="credentials"):
        Backfill(engine(handle), "i", Task("body")).run()


# --- what it would cost ---


def disks(used: float, added: float, settings: dict[str, str]) -> str | None:
    """The watermark that a disk of 1,000 GB passes, with so many GB used and added."""

    def handle(method: str, path: str, body: Any) -> Any:
        if path == "/_nodes/stats/fs":
            disk = {"total_in_bytes": 1000 * GB, "available_in_bytes": int((1000 - used) * GB)}
            return {"nodes": {"x": {"name": "n", "fs": {"total": disk}}, "y": {"name": "other", "fs": {}}}}
        if path == "/_cluster/settings":
            prefix = "cluster.routing.allocation.disk."
            return {"defaults": {f"{prefix}{key}": value for key, value in settings.items()}, "persistent": {}}
        return {"indices": {"i": {"shards": {"0": [{"routing": {"node": "x"}, "store": {"size_in_bytes": 5}}]}}}}

    found = disks_after(engine(handle), {"i": round(added * GB)})
    assert found is not None
    [disk] = found
    assert NodeDisk("n", 1000 * GB, round(used * GB), round((used + added) * GB), disk.watermark) == disk
    return disk.watermark


PERCENT = {"watermark.low": "85%", "watermark.high": "90%", "watermark.flood_stage": "95%"}


@pytest.mark.parametrize(
    ("used", "added", "settings", "passed"),
    [
        (700, 100, PERCENT, None),
        (700, 160, PERCENT, "low"),
        (700, 210, PERCENT, "high"),
        (700, 260, PERCENT, "flood_stage"),
        (700, 300, PERCENT, "full"),
        (860, 0, PERCENT, "low"),
        (700, 260, {**PERCENT, "threshold_enabled": "false"}, None),
        (700, 160, {"watermark.low": "0.85", "watermark.high": "0.9", "watermark.flood_stage": "0.95"}, "low"),
        (700, 160, {"watermark.low": "200gb", "watermark.high": "100gb", "watermark.flood_stage": "1gb"}, "low"),
        (700, 160, {**PERCENT, "watermark.low.max_headroom": "100gb"}, None),
        (700, 160, {**PERCENT, "watermark.low.max_headroom": "-1"}, "low"),
        (700, 160, {}, None),
    ],
)
def test_watermarks_are_read_as_the_engines_read_them(
    used: float, added: float, settings: dict[str, str], passed: str | None
) -> None:
    """Used percent, a ratio, or free bytes; Elasticsearch's headroom bounds what a percent keeps free."""
    assert passed == disks(used, added, settings)


def test_bytes_are_spread_as_the_shards_are() -> None:
    """With replicas, over the nodes that have a copy; one that is not yet written to gets its share too."""

    def handle(method: str, path: str, body: Any) -> Any:
        if path == "/_nodes/stats/fs":
            disk = {"total_in_bytes": 100, "available_in_bytes": 100}
            return {"nodes": {id: {"name": id, "fs": {"total": disk}} for id in "xyz"}}
        if path == "/_cluster/settings":
            return {}
        sizes = {"x": 30, "y": 10} if path.startswith("/large/") else {"x": 0, "y": 0}
        copies = [{"routing": {"node": node}, "store": {"size_in_bytes": size}} for node, size in sizes.items()]
        return {"indices": {path.split("/")[1]: {"shards": {"0": copies}}}}

    found = disks_after(engine(handle), {"large": 40, "empty": 10})

    assert found is not None
    assert {"x": 35, "y": 15} == {each.node: each.used_after for each in found}


@pytest.mark.parametrize("status", [403, 400, 410])
def test_what_the_engine_does_not_tell_is_unknown(status: int) -> None:
    """A user who may not look at nodes still gets documents, bytes and hours."""

    def handle(method: str, path: str, body: Any) -> Any:
        if path.startswith(("/_nodes", "/_cluster")) or "_stats" in path:
            raise RefusalError(status)
        if path.endswith("/_count"):
            return {"count": 1_000_000}
        return {"hits": {"hits": hits(10)}} if path.endswith("/_search") else {"i": index(number_of_replicas="1")}

    found = estimate(engine(handle), "i", Task("body", throttle=100))

    assert (1_000_000, 10, None) == (found.documents, found.sampled, found.disks)
    assert 2 * found.documents * found.bytes_per_document == pytest.approx(found.bytes_added)
    assert 10_000 == found.seconds


def test_nothing_to_do_costs_nothing() -> None:
    """Also where there is no index that is fit."""

    def handle(method: str, path: str, body: Any) -> Any:
        return {"i": index(blocks={"write": "true"})} if path == "/i" else {"nodes": {}}

    found = estimate(engine(handle), "i", Task("body"))

    assert (0, 0, 0, 0.0) == (found.documents, found.bytes_added, found.bytes_meanwhile, found.seconds)
    assert 1 == len(found.skipped_indices)


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
        (["--into", "a.b"], "Invalid value for --into: the field stands at the top of a document"),
    ],
)
def test_a_wrong_call_is_told_before_anything_is_asked(options: list[str], said: str) -> None:
    """Exit code 2."""
    assert usage_error(run("backfill", "http://127.0.0.1:1/i", "--field", "body", *options)).startswith(said)


def test_the_text_must_be_named() -> None:
    """There is no usual name for it."""
    assert "Missing option '--field'." == usage_error(run("backfill", "http://127.0.0.1:1/i"))
