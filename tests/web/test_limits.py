"""The limits of a request."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from simdoc_search.web import open_listening_socket, request_limits
from simdoc_search.web.request_limits import MAX_BODY_BYTES, MAX_OFFSET
from tests.support.cli import words
from tests.support.web import Pages


@pytest.mark.parametrize("path", ["/similar", "/passages", "/versions", "/related", "/compare"])
def test_the_characters_of_a_text_are_counted_after_normalisation(pages: Pages, path: str) -> None:
    """One ligature becomes 18 characters."""
    problem = pages.sent(path, 400, text="\ufdfa" * 250_000, b="german")["error"]

    assert re.search(r"4,50\d,\d{3} characters after Unicode normalisation", problem)


def test_a_large_body_is_refused(pages: Pages) -> None:
    """The body is not read to its end."""
    endless = (b"x" * 1_000_000 for _ in range(MAX_BODY_BYTES // 1_000_000 + 2))
    refused = pages.client.post("/similar.json", headers={"content-type": "application/json"}, content=endless)

    assert (413, True) == (refused.status_code, "20,000,000 bytes" in refused.json()["error"])


@pytest.mark.parametrize("number", ["0" * 20 + "99999", "9" * 5_000, "-1", "NaN", "1e3", "٣", "1.0"])
def test_a_number_must_be_in_its_range(pages: Pages, number: str) -> None:
    """A number with thousands of digits is not computed."""
    assert f"from 0 to {MAX_OFFSET:,}" in pages.json("/similar", 400, q="doc123", offset=number)["error"]
    assert 200 == pages.client.get("/similar", params={"q": "doc123", "offset": "0" * 5_000 + "1"}).status_code


def test_an_uploaded_file_is_not_written_to_disk(pages: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary files cannot be created in this test."""
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    text = words(0, 150_000)

    assert 1_500_000 < len(text)
    assert [] == pages.sent("/similar", files={"file": ("a.txt", text)}, overlap="90")["hits"]


@pytest.mark.parametrize(
    ("page", "heading"), [("docs/serve_reference.md", "## Limits"), ("SECURITY.md", "## The limits of `serve`")]
)
def test_the_docs_list_the_limits(page: str, heading: str) -> None:
    """Every number in the tables is a limit in the code. The table in serve_reference.md has all limits."""
    values = [value for name, value in vars(request_limits).items() if name.startswith("MAX_")]
    upload = request_limits.UPLOAD_LIMITS
    known = {*map(int, values), int(upload.seconds), upload.memory_bytes // 1_000_000}
    text = (Path(__file__).parents[2] / page).read_text("utf-8").partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    numbers = {int(number.replace(",", "")) for row in rows for number in re.findall(r"(?<![\w+])\d[\d,]*\b", row)}

    assert numbers - {400, 413, 503, 504} <= known
    assert page == "SECURITY.md" or known <= numbers


def test_a_response_is_sent_without_delay() -> None:
    """The connections inherit the option. Without it, the system waits 40 ms for more data."""
    with open_listening_socket("127.0.0.1", 0) as listening:
        assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
