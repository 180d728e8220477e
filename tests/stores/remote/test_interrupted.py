"""Ctrl-C ends every command that waits for an engine, in two seconds and with one sentence."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import index_body
from tests.support.cli import run
from tests.support.http_server import Answer, Request, Server, answer, error, forward, indices, serving
from tests.support.often import first
from tests.support.waiting import wait_until

LONG = 30.0
"""Seconds that no test takes; a machine that is busy may take a few."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked twice, and an answer has a second."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setenv("SIMDOC_TIMEOUT", "1")


SLACK = 2.0
"""Seconds that a busy machine may take to end a process."""


MAPPING = answer({"index": index_body(Settings(), field="simdoc", store_texts=True)})


def never(_: Request) -> Answer | None:
    """An engine that is frozen."""
    time.sleep(3)
    return None


@pytest.mark.parametrize("kind", ["frozen", "busy"])
@pytest.mark.parametrize(
    "command",
    first(
        1,
        [
            ["similar", "a"],
            ["info"],
            ["index", "corpus"],
            ["delete", "a"],
            ["backfill", "URL", "--text-field", "body"],
            ["check", "URL"],
        ],
    ),
    ids=lambda command: command[0],
)
@pytest.mark.slow
def test_ctrl_c_ends_a_command_that_waits(tmp_path: Path, kind: str, command: list[str]) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.txt").write_text("five words of a text")
    waits: Callable[[Request], Answer | None] = never if kind == "frozen" else lambda _: error(503, "x", "no shards")

    def handle(request: Request) -> Answer | None:
        if request.path == "/":
            return answer({})
        return MAPPING if request.path.endswith("/_mapping") else waits(request)

    with serving(handle) as server:
        ended = interrupted(server, command, "index", tmp_path, lambda path: not path.endswith(("/", "/_mapping")))

    assert ended.code not in (0, None)
    assert "Traceback" not in ended.said, ended.said
    assert ended.seconds < 2.0 + SLACK


@dataclass(frozen=True)
class Ended:
    """How a command ended that was interrupted: its exit code, what it said, and how long that took."""

    code: int | None
    said: str
    seconds: float


def interrupted(
    server: Server, command: list[str], index: str, folder: Path, at: Callable[[str], bool], **variables: str
) -> Ended:
    """A command that gets Ctrl-C soon after a request for such a path."""
    url = f"{server.url}/{index}"
    given = [url if each == "URL" else each for each in command]
    store = [] if "URL" in command else ["--store", url]
    line = [sys.executable, "-m", "simdoc_search", *given, *store]
    environment: Any = {"PATH": "", "HOME": str(folder), "SIMDOC_RETRY_SECONDS": "300", **variables}
    with subprocess.Popen(line, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as running:
        wait_until(lambda: any(at(each.path.partition("?")[0]) for each in server.requests))
        time.sleep(0.3)
        assert running.poll() is None, "it did not wait"
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=LONG)
    return Ended(running.returncode, said, time.monotonic() - began)


@pytest.mark.parametrize("kind", ["frozen", "busy"])
@pytest.mark.parametrize(
    ("command", "where"),
    [
        (["index", "corpus", "--workers", "1"], "/_bulk"),
        (["index", "corpus", "--workers", "2"], "/_bulk"),
        (["index", "corpus", "--workers", "1"], "/_refresh"),
        (["delete", "0.txt"], "/_bulk"),
        (["backfill", "URL", "--text-field", "body"], "/_bulk"),
        (["backfill", "URL", "--text-field", "body"], "/_search"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else each,
)
def test_ctrl_c_ends_a_command_in_the_middle_of_its_work(
    opensearch_url: str, tmp_path: Path, command: list[str], where: str, kind: str
) -> None:
    (tmp_path / "corpus").mkdir()
    for number in range(30):
        (tmp_path / "corpus" / f"{number}.txt").write_text(f"some words of the text of number {number}")
    engine = forward(opensearch_url)
    waits: Callable[[Request], Answer | None] = never if kind == "frozen" else lambda _: error(503, "x", "no shards")
    with indices(opensearch_url) as made, serving(engine) as server:
        name = made.name() if command[0] != "backfill" else made.make({"properties": {"body": {"type": "text"}}})
        if command[0] == "delete":
            run("index", tmp_path / "corpus", "--store", f"{opensearch_url}/{name}")
        if command[0] == "backfill":
            made.put(name, "a", {"body": "some words of a text"})

        def is_there(path: str) -> bool:
            return path.endswith(where)

        server.handle = lambda request: (waits if is_there(request.path.partition("?")[0]) else engine)(request)
        ended = interrupted(server, command, name, tmp_path, is_there)

    assert ended.code not in (0, None), ended.said
    assert "Traceback" not in ended.said, ended.said
    assert ended.seconds < 2.0 + SLACK
