"""Ctrl-C quickly ends a command that waits for an engine, without a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import build_index_body
from tests.support.cli import run
from tests.support.http_server import Answer, Request, Server, answer, error, forward, indices, serving
from tests.support.waiting import wait_until

MAPPING = answer({"index": build_index_body(Settings(), field="simdoc", store_texts=True)})
MAX_SECONDS = 4.0
"""Maximum seconds until a command ends. Two of them allow for a busy machine."""


def never_respond(_: Request) -> Answer | None:
    """Simulate an engine that does not respond."""
    time.sleep(3)
    return None


def always_busy(_: Request) -> Answer | None:
    """Simulate an engine that refuses each request for now."""
    return error(503, "x", "no shards")


def interrupt(server: Server, command: list[str], index: str, folder: Path, is_waiting: Callable[[str], bool]) -> None:
    """Start a command, send Ctrl-C when it waits for a request, and check how the command ends."""
    url = f"{server.url}/{index}"
    arguments = [url if argument == "URL" else argument for argument in command]
    store = [] if "URL" in command else ["--store", url]
    line = [sys.executable, "-m", "simdoc_search", *arguments, *store]
    environment: Any = {"PATH": "", "HOME": str(folder), "SIMDOC_RETRY_SECONDS": "300"}
    with subprocess.Popen(line, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: any(is_waiting(request.path.partition("?")[0]) for request in server.requests))
        time.sleep(0.3)
        assert process.poll() is None, "the command did not wait"
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)

    assert process.returncode not in (0, None), stderr
    assert "Traceback" not in stderr, stderr
    assert time.monotonic() - began < MAX_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("engine", [never_respond, always_busy])
@pytest.mark.parametrize("command", [["similar", "a"], ["check", "URL"]], ids=lambda command: command[0])
def test_ctrl_c_ends_a_command_that_reads(tmp_path: Path, engine: Any, command: list[str]) -> None:
    def handle(request: Request) -> Answer | None:
        if request.path == "/":
            return answer({})
        return MAPPING if request.path.endswith("/_mapping") else engine(request)

    with serving(handle) as server:
        interrupt(server, command, "index", tmp_path, lambda path: not path.endswith(("/", "/_mapping")))


@pytest.mark.parametrize("unusable", [never_respond, always_busy])
@pytest.mark.parametrize(
    ("command", "path"),
    [
        (["index", "corpus", "--workers", "2"], "/_bulk"),
        (["index", "corpus", "--workers", "1"], "/_refresh"),
        (["delete", "0.txt"], "/_bulk"),
        (["backfill", "URL", "--text-field", "body"], "/_bulk"),
    ],
    ids=["index", "commit", "delete", "backfill"],
)
def test_ctrl_c_ends_a_command_that_writes(
    opensearch_url: str, tmp_path: Path, command: list[str], path: str, unusable: Any
) -> None:
    (tmp_path / "corpus").mkdir()
    for number in range(30):
        (tmp_path / "corpus" / f"{number}.txt").write_text(f"some words of the text of number {number}")
    engine = forward(opensearch_url)
    with indices(opensearch_url) as temp_indices, serving(engine) as server:
        name = (
            temp_indices.name()
            if command[0] != "backfill"
            else temp_indices.make({"properties": {"body": {"type": "text"}}})
        )
        if command[0] == "delete":
            run("index", tmp_path / "corpus", "--store", f"{opensearch_url}/{name}")
        if command[0] == "backfill":
            temp_indices.put(name, "a", {"body": "some words of a text"})

        def is_affected(requested: str) -> bool:
            return requested.endswith(path)

        server.handle = lambda request: (unusable if is_affected(request.path.partition("?")[0]) else engine)(request)
        interrupt(server, command, name, tmp_path, is_affected)
