"""A backfill sends guarded updates to the engine, limits their rate, and retries them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import Backfill, BackfillOptions, BackfillReport, RefusedDocument
from simdoc_search.attach.backfill.fingerprint_writer import FingerprintWriter
from simdoc_search.attach.backfill.pages import MAX_PAGE_DOCUMENTS, PagePacer
from simdoc_search.attach.backfill.report import UnsupportedIndexError
from simdoc_search.errors import StoreUnavailableError
from simdoc_search.stores.remote import bulk as bulk_writes
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.errors import RequestError
from tests.support.fake_engine import TEXT, RefusalError, engine, hits, target

# --- page size and rate ---


def test_pages_of_long_documents_are_short() -> None:
    pace, sizes = PagePacer(None), []
    for length in (10, 100_000, 10_000_000):
        pace.wait_for_turn(hits(2, "x" * length))
        sizes.append(pace.size)

    assert MAX_PAGE_DOCUMENTS == sizes[0]
    assert 30 <= sizes[1] <= 40
    assert 1 == sizes[2]


def test_a_throttle_limits_the_rate_from_the_first_second_on() -> None:
    """A page has at most as many documents as the limit per second."""
    pace, started = PagePacer(100), time.monotonic()
    for _ in range(4):
        pace.wait_for_turn(hits(10))

    assert 0.28 < time.monotonic() - started < 1
    assert [1, 7, 50] == [PagePacer(throttle).size for throttle in (0.2, 7, 100_000)]


# --- requests ---


@pytest.fixture(autouse=True)
def _few_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry only for a short time."""
    monkeypatch.setattr(retry, "BACKGROUND_RETRY_SECONDS", 0.3)
    monkeypatch.setattr(retry, "QUERY_RETRY_SECONDS", 0.3)


def written(found: list[dict[str, Any]], bulk: Callable[[list[Any]], Any]) -> BackfillReport:
    """The report after writing to some documents. `bulk` returns the response to the lines of a request."""

    def handle(method: str, path: str, body: Any) -> Any:
        if path == "/_bulk":
            return bulk([json.loads(line) for line in body.splitlines()])
        assert (method, path) == ("GET", "/i/_settings/index.uuid")
        return {"i": {"settings": {"index": {"uuid": "u"}}}}

    report = BackfillReport()
    FingerprintWriter(engine(handle).in_background(), target(), BackfillOptions("body")).write(found, report)
    return report


def items(lines: list[Any], status: int = 200, **more: Any) -> dict[str, Any]:
    """The response to a bulk request, with the same result for all writes."""
    result = {"result": "updated"} if status < 400 else {"error": {"type": "some_exception", "reason": "some reason"}}
    return {"items": [{"update": {"_index": "i", "status": status, **result, **more}} for _ in lines[::2]]}


def test_an_update_is_conditional_and_changes_only_the_fingerprint_field() -> None:
    sent: list[Any] = []

    def bulk(lines: list[Any]) -> Any:
        sent.extend(lines)
        return items(lines)

    written([{**hits(1)[0], "_routing": "r", "_seq_no": 7, "_primary_term": 3}], bulk)
    place = {"_index": "i", "_id": "0", "if_seq_no": 7, "if_primary_term": 3, "routing": "r"}

    assert [{"update": place}, {"doc": {"simdoc": fingerprint_field(TEXT)}}] == sent


def test_only_a_right_and_well_formed_fingerprint_is_unchanged() -> None:
    right = fingerprint_field(TEXT)
    ours: list[Any] = [right, {**right, "text_hash": "other"}, {**right, "format": "other; format"}, None]
    ours += [{**right, "tokens": right["tokens"].split()}, {**right, "shingles": None}, [right]]
    found = [{**hit, "_source": {"body": TEXT, "simdoc": value}} for hit, value in zip(hits(7), ours, strict=True)]
    report, noop = written(found, items), written(hits(2), lambda lines: items(lines, result="noop"))

    assert (6, 1) == (report.updated_count, report.unchanged_count)
    assert (0, 2) == (noop.updated_count, noop.unchanged_count)


@pytest.mark.parametrize(
    "theirs",
    ["a note", 7, ["a", "b"], {"text": "a note"}, {"format": "pdf"}, {"tokens": 345}, [{"text": "a"}]],
    ids=str,
)
def test_other_values_in_the_fingerprint_field_are_not_replaced(theirs: Any) -> None:
    found = [{**hits(1)[0], "_source": {"body": TEXT, "simdoc": theirs}}, hits(2)[1]]
    report = written(found, items)

    assert (1, ["0"]) == (report.updated_count, [document.id for document in report.refused])
    assert "which is not a fingerprint; choose another field with --field" in report.refused[0].reason


@pytest.mark.parametrize(("chunk_bytes", "largest"), [(4_000_000, 8), (900, 2)])
def test_a_request_that_is_too_large_is_split(monkeypatch: pytest.MonkeyPatch, chunk_bytes: int, largest: int) -> None:
    """A single document that is too large is refused."""
    monkeypatch.setattr(bulk_writes, "MAX_CHUNK_BYTES", chunk_bytes)
    sizes: list[int] = []

    def bulk(lines: list[Any]) -> Any:
        sizes.append(len(lines) // 2)
        if len(lines) > 4 or any(line.get("update", {}).get("_id") == "3" for line in lines):
            raise RefusalError(413)
        return items(lines)

    report = written(hits(8), bulk)
    assert largest == max(sizes)
    assert (7, [RefusedDocument("3", "i", "the document is too large for the engine")]) == (
        report.updated_count,
        report.refused,
    )


def test_a_write_that_a_busy_engine_refused_is_retried() -> None:
    """Other writes are not repeated. Each document is counted once."""
    sent: list[str] = []

    def bulk(lines: list[Any]) -> Any:
        ids = [line["update"]["_id"] for line in lines[::2]]
        sent.extend(ids)
        return {"items": [items([0, 0], 200 if sent.count(id) > int(id) else 429)["items"][0] for id in ids]}

    report = written(hits(4), bulk)

    assert 4 == report.updated_count
    assert ["0", "1", "1", "2", "2", "2", "3", "3", "3", "3"] == sorted(sent)


def test_an_engine_that_stays_busy_is_an_error() -> None:
    message = r"the engine is busy \(some reason\); run the command again .*gave up after"
    with pytest.raises(StoreUnavailableError, match=message):
        written(hits(2), lambda lines: items(lines, 429))


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (403, "security_exception", "the index does not accept updates: some reason"),
        (404, "index_not_found_exception", "removed"),
    ],
)
def test_a_fault_of_the_index_ends_the_page(status: int, kind: str, reason: str) -> None:
    """The error is not listed for each document."""
    with pytest.raises(UnsupportedIndexError, match=reason):
        written(hits(3), lambda lines: items(lines, status, error={"type": kind, "reason": "some reason"}))


def test_a_report_lists_a_refused_document_once_with_the_last_reason() -> None:
    report = BackfillReport(refused=[RefusedDocument("a", "i", "old"), RefusedDocument("a", "j", "other index")])
    report.add(BackfillReport(updated_count=2, refused=[RefusedDocument("a", "i", "new")]))

    assert [RefusedDocument("a", "i", "new"), RefusedDocument("a", "j", "other index")] == report.refused
    assert 4 == report.document_count


def test_a_run_waits_for_an_engine_that_does_not_answer_at_first() -> None:
    failures = iter([RefusalError(503), RefusalError(502)])

    def handle(*_: Any) -> Any:
        raise next(failures, RefusalError(401))

    with pytest.raises(RequestError, match="credentials"):
        Backfill(engine(handle), "i", BackfillOptions("body")).run()
