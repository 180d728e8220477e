"""Processes of an engine, and the files that register it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.devengine import EngineError, find, find_all, processes, registry
from simdoc_search.devengine.common import data_folder
from tests.support.devengine import NOWHERE, registered

# --- processes ---


def test_a_process_is_known_by_its_token_only(child: Any) -> None:
    pid = child()

    assert processes.is_alive(pid, "the-token")
    assert not processes.is_alive(pid, "another")
    assert not processes.is_alive(0, "the-token")
    assert processes.end([pid], "another", 0)
    assert processes.is_alive(pid, "the-token")


def test_a_process_ends_after_sigterm(child: Any) -> None:
    pid = child()

    assert processes.end([pid], "the-token", 20)
    assert -signal.SIGTERM == processes.exit_code(pid)


def test_a_process_that_ignores_sigterm_is_killed(child: Any) -> None:
    pid = child("signal.signal(signal.SIGTERM, signal.SIG_IGN)")

    assert processes.end([pid], "the-token", 0.2)
    assert -signal.SIGKILL == processes.exit_code(pid)


def test_a_process_that_is_not_registered_yet_is_ended_with_its_engine_only(child: Any) -> None:
    pid = child()

    assert processes.end([], "the-token", 20)
    assert processes.is_alive(pid, "the-token")
    assert registered(token="the-token").discard(20)
    assert not processes.is_alive(pid, "the-token")


# --- files ---


def test_a_registered_engine_is_found() -> None:
    known = registered(pids=(11, 12))

    assert known == registry.read(NOWHERE)
    assert [known] == registry.read_all()
    assert ["http://127.0.0.1:9208", "http://127.0.0.1:9209"] == [node.url for node in known.nodes]


@pytest.mark.parametrize("text", ["", "null", '{"pids": 1}', '{"pids": [1]}'])
def test_a_malformed_file_is_not_an_engine(text: str) -> None:
    registered()
    (data_folder() / "running" / f"{NOWHERE}.json").write_text(text, "utf-8")

    assert None is find(NOWHERE)
    assert [] == find_all()


def test_an_engine_that_ended_by_itself_is_found_as_ended() -> None:
    registered(pids=(os.getpid(),))
    ended = find(NOWHERE)

    assert ended is not None
    assert [] == find_all()
    assert (None, ["ended"]) == (ended.status().health, [node.state for node in ended.status().nodes])
    assert 0 == ended.stop()
    assert None is find(NOWHERE)


@pytest.mark.parametrize(("name", "is_kept"), [("simdoc-engine-x", False), ("documents", True)])
def test_only_temporary_folders_are_removed_with_an_engine(tmp_path: Path, name: str, is_kept: bool) -> None:
    folder = tmp_path / name
    folder.mkdir()
    registered(folder=str(folder), is_ephemeral=True)
    ended = find(NOWHERE)

    assert ended is not None
    ended.stop()
    assert is_kept == folder.exists()


def test_a_node_that_does_not_exist_is_an_error() -> None:
    registered(pids=(0, 0))
    known = find(NOWHERE)

    assert known is not None
    for number in (0, 3):
        with pytest.raises(EngineError, match=f"no node {number}; the engine's nodes are 1 to 2"):
            known.log_end(number)
