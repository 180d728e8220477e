"""How much a request may be and may cost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psutil  # type: ignore[import-untyped]
import pytest

from simdoc_search.web import dispatch, limits
from simdoc_search.web.limits import FILTERS, FURTHEST_VERSION, HEAD_BYTES, VALUE_LETTERS
from tests.support.cli import environment, words
from tests.support.web import BROWSER, Pages, pages_over

# --- what is asked ---

TOO_MUCH: list[tuple[str, dict[str, Any], int]] = [
    ("a long address", {"params": {"id": "x" * HEAD_BYTES}}, 431),
    ("large headers", {"headers": {"x-y": "z" * HEAD_BYTES}}, 431),
    ("a long value", {"params": {"id": "x" * (VALUE_LETTERS + 1)}}, 413),
    ("many filters", {"params": {"id": "doc123", "filter": ["a=b"] * FILTERS, "exclude": "a=b"}}, 400),
]


@pytest.mark.parametrize(("request_of", "status"), [each[1:] for each in TOO_MUCH], ids=[each[0] for each in TOO_MUCH])
def test_a_request_that_is_too_large_is_a_sentence(pages: Pages, request_of: dict[str, Any], status: int) -> None:
    """Whatever is too large in it."""
    refused = pages.client.get("/similar.json", **request_of)

    assert status == refused.status_code
    assert refused.json()["error"]


def test_few_versions_are_left_out(pages: Pages) -> None:
    """As all of them are put in order: the cost grows with the square."""
    assert 200 == pages.client.get(f"/versions.json?id=german&offset={FURTHEST_VERSION}").status_code
    assert "from 0 to 100" in pages.json("/versions", 400, id="german", offset=FURTHEST_VERSION + 1)["error"]


def test_an_encoded_body_is_refused(pages: Pages) -> None:
    """Nothing is unpacked, so nothing small becomes large."""
    headers = {"content-encoding": "gzip", "content-type": "application/json"}

    assert 415 == pages.client.post("/similar.json", content=b"\x1f\x8b", headers=headers).status_code


@pytest.mark.parametrize("path", ["/passages", "/versions", "/related", "/compare"])
def test_characters_are_counted_after_normalisation(pages: Pages, path: str) -> None:
    """Of one ligature become 18."""
    said = pages.sent(path, 400, text="\ufdfa" * 250_000, b="german")["error"]

    assert re.search(r"4,50\d,\d{3} characters after normalisation", said)


# --- memory ---


def test_answers_that_are_not_taken_yet_are_bounded(served_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long one is refused where there is no memory for it, a short one is given; what was taken makes room again."""
    text = words(0, 20_000)
    with pages_over(served_store) as pages:
        size = len(pages.client.post("/similar", data={"text": text}, headers=BROWSER).content)
    monkeypatch.setattr(dispatch, "ANSWERS_BYTES", size - 1)
    with pages_over(served_store) as few:
        refused = few.client.post("/similar", data={"text": text}, headers=BROWSER)
        assert (503, True) == (refused.status_code, "at once" in refused.text)
        assert few.sent("/similar", text=words(0, 90))["hits"]
    monkeypatch.setattr(dispatch, "ANSWERS_BYTES", size + 1000)
    with pages_over(served_store) as enough:
        for _ in range(3):
            assert 200 == enough.client.post("/similar", data={"text": text}, headers=BROWSER).status_code


def test_hostile_texts_do_not_take_all_memory(served_store: Path, tmp_path: Path) -> None:
    """Of a real server: texts that normalisation makes 18 times as long, and JSON of millions of lists."""
    bodies = [
        json.dumps({"text": "\ufdfa" * 6_500_000}, ensure_ascii=False).encode(),
        json.dumps({"text": "a" + "\u0301\u0323" * 4_900_000}, ensure_ascii=False).encode(),
        b'{"a":[' + b"[]," * 6_500_000 + b"[]]}",
    ]
    command = [sys.executable, "-m", "simdoc_search", "serve", "--port", "0", "--store", str(served_store)]
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[0]
            process, peak = psutil.Process(server.pid), 0
            with ThreadPoolExecutor() as others:
                kind = {"content-type": "application/json"}
                asked = [
                    others.submit(httpx.post, f"{url}similar.json", content=body, headers=kind, timeout=120)
                    for body in bodies
                ]
                while not all(each.done() for each in asked):
                    peak = max(peak, process.memory_info().rss)
                    time.sleep(0.005)
        finally:
            server.terminate()

    assert [400, 200, 400] == [each.result().status_code for each in asked]
    assert 20_000_000 < peak < 600_000_000


# --- what is said of it ---


@pytest.mark.parametrize(
    ("page", "heading"), [("docs/serve.md", "## Limits"), ("SECURITY.md", "## The limits of `serve`")]
)
def test_the_limits_are_listed(page: str, heading: str) -> None:
    """Each number of the tables is that of a limit; the one for people who use the pages has all of them."""
    values = [getattr(limits, name) for name in vars(limits) if name.isupper() and name not in ("BODY_BYTES", "FILE")]
    known = {*map(int, values), int(limits.FILE.seconds), limits.FILE.memory // 1_000_000}
    text = (Path(__file__).parents[2] / page).read_text("utf-8").partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    numbers = {int(each.replace(",", "")) for row in rows for each in re.findall(r"(?<![\w+])\d[\d,]*\b(?! kB)", row)}
    statuses = {400, 408, 413, 415, 431, 503, 504}

    assert numbers - statuses <= known
    assert page == "SECURITY.md" or known <= numbers
