"""The processes of an engine, and the file that registers it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.devengine import DevEngineError, find_cluster, find_running_clusters, processes, registry
from simdoc_search.devengine.common import data_folder
from tests.support.devengine import NOWHERE, registered

# --- processes ---


def test_only_a_process_with_the_token_is_ended(launch_child: Any) -> None:
    pid = launch_child()

    assert processes.is_running(pid, "the-token")
    assert not processes.is_running(pid, "another")
    assert not processes.is_running(0, "the-token")
    assert processes.end_processes([pid], "another", 0)
    assert processes.is_running(pid, "the-token")


def test_a_process_ends_after_sigterm(launch_child: Any) -> None:
    pid = launch_child()

    assert processes.end_processes([pid], "the-token", 20)
    assert -signal.SIGTERM == processes.read_exit_code(pid)


def test_a_process_that_ignores_sigterm_is_killed(launch_child: Any) -> None:
    pid = launch_child("signal.signal(signal.SIGTERM, signal.SIG_IGN)")

    assert processes.end_processes([pid], "the-token", 0.2)
    assert -signal.SIGKILL == processes.read_exit_code(pid)


def test_a_process_that_is_not_registered_yet_is_ended_with_its_engine(launch_child: Any) -> None:
    pid = launch_child()

    assert processes.end_processes([], "the-token", 20)
    assert processes.is_running(pid, "the-token")
    assert registered(token="the-token").stop(20)
    assert not processes.is_running(pid, "the-token")


# --- files ---


def test_a_registered_engine_is_found() -> None:
    registration = registered(pids=(11, 12))

    assert registration == registry.read(NOWHERE)
    assert [registration] == registry.read_all()
    assert ["http://127.0.0.1:9208", "http://127.0.0.1:9209"] == [node.url for node in registration.nodes]


@pytest.mark.parametrize("text", ["", "null", '{"pids": 1}', '{"pids": [1]}'])
def test_a_malformed_file_is_not_an_engine(text: str) -> None:
    registered()
    (data_folder() / "running" / f"{NOWHERE}.json").write_text(text, "utf-8")

    assert None is find_cluster(NOWHERE)
    assert [] == find_running_clusters()


def test_an_engine_that_ended_without_being_stopped_is_shown_as_ended() -> None:
    registered(pids=(os.getpid(),))
    ended = find_cluster(NOWHERE)

    assert ended is not None
    assert [] == find_running_clusters()
    assert (None, ["ended"]) == (ended.status().health, [node.state for node in ended.status().nodes])
    assert 0 == ended.stop()
    assert None is find_cluster(NOWHERE)


@pytest.mark.parametrize(("name", "is_kept"), [("simdoc-engine-x", False), ("documents", True)])
def test_only_temporary_folders_are_removed_with_an_engine(tmp_path: Path, name: str, is_kept: bool) -> None:
    folder = tmp_path / name
    folder.mkdir()
    registered(folder=str(folder), is_ephemeral=True)
    ended = find_cluster(NOWHERE)

    assert ended is not None
    ended.stop()
    assert is_kept == folder.exists()


def test_a_node_that_does_not_exist_is_an_error() -> None:
    registered(pids=(0, 0))
    engine = find_cluster(NOWHERE)

    assert engine is not None
    for number in (0, 3):
        with pytest.raises(DevEngineError, match=f"no node {number}; choose a number from 1 to 2"):
            engine.read_log_tail(number)
