"""Starts that are refused, nodes that end, and what is said of it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.devengine import EngineError, cluster, find, free_port, processes, start
from simdoc_search.devengine.common import cache_folder
from simdoc_search.devengine.packages import OPENSEARCH_VERSION, Java
from tests.support.devengine import NOWHERE, fake_java, registered

# --- starts that are refused ---


def test_a_port_in_use_is_refused_before_anything_is_fetched(listening: int) -> None:
    with pytest.raises(EngineError, match=f"port {listening} is in use by another program; stop that, or choose"):
        start(port=listening)

    assert None is find(listening)
    assert not cache_folder().exists()


def test_the_port_of_the_transport_counts_too() -> None:
    port = free_port()
    with (
        socket.create_server(("127.0.0.1", port + 100)),
        pytest.raises(EngineError, match=f"port {port + 100} is in use"),
    ):
        start(port=port)


def test_fewer_nodes_than_the_data_are_of_are_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "engine.json").write_text('{"nodes": 3, "opensearch": "3.3.2"}', "utf-8")

    with pytest.raises(EngineError, match=r"are of 3 nodes of OpenSearch 3\.3\.2; leave out --nodes"):
        start(nodes=2, port=free_port(2), data=tmp_path / "data")


def test_a_damaged_note_about_the_data_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for damage in ("", "[]", "[" * 100_000, " " * 100_000):
        (tmp_path / "data" / "engine.json").write_text(damage, "utf-8")

        with pytest.raises(EngineError, match=r"engine\.json is damaged; restore it, or delete"):
            start(port=free_port(), data=tmp_path / "data")


@pytest.mark.parametrize("version", ["3", "3.x", "2.19", "v3.3.2", "3.3.2.0", "3.3.2/../x", "latest", "", "٣.3.2"])
def test_what_is_no_version_is_refused_in_a_sentence(version: str) -> None:
    with pytest.raises(EngineError, match=r"is not a version of OpenSearch; write \d"):
        start(port=free_port(), version=version, ephemeral=True)

    assert not cache_folder().exists()


def test_data_of_a_newer_version_are_not_given_to_an_older_one(tmp_path: Path) -> None:
    made_by(tmp_path / "data", "2.19.1")

    with pytest.raises(EngineError, match=r"are of 1 nodes of OpenSearch 2\.19\.1; leave"):
        start(port=free_port(), version="2.9.0", data=tmp_path / "data")


@pytest.mark.skipif(os.name != "posix", reason="the program is a shell script")
@pytest.mark.usefixtures("faults")
@pytest.mark.parametrize(("made", "started"), [("99.0.0", "99.0.0"), ("2.9.0", OPENSEARCH_VERSION)])
def test_data_are_started_with_what_can_read_them(
    home: Path, monkeypatch: pytest.MonkeyPatch, made: str, started: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(home / "java", "25").parents[1]))
    made_by(home / "data", made)
    told: list[str] = []

    with pytest.raises(EngineError, match="node 1 ended"):
        start(port=free_port(), data=home / "data", progress=lambda doing, *_: told.append(doing))
    assert f"fetching OpenSearch {started}, once" == told[0]


def made_by(folder: Path, version: str) -> None:
    """A folder with what is noted of data."""
    folder.mkdir()
    (folder / "engine.json").write_text(json.dumps({"nodes": 1, "opensearch": version}), "utf-8")


def test_ephemeral_data_have_no_place(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="leave out --data or --ephemeral"):
        start(data=tmp_path, ephemeral=True)


def test_another_engine_than_asked_for_is_not_taken_for_it(child: Any, tmp_path: Path) -> None:
    registered(pids=(child(),), token="the-token")

    with pytest.raises(EngineError, match=r"has nodes 1, not 2 and heap 1g, not 2g and data .*; use it"):
        start(port=NOWHERE, nodes=2, heap="2g", data=tmp_path / "other")
    with pytest.raises(EngineError, match=r"has version 3\.3\.2, not 2\.19\.1; use it"):
        start(port=NOWHERE, version="2.19.1")
    with pytest.raises(EngineError, match="data that it keeps"):
        start(port=NOWHERE, ephemeral=True)
    assert start(port=NOWHERE, nodes=1, heap="1g").was_running


def test_data_belong_to_one_engine(child: Any) -> None:
    registered(port=9270, pids=(child(), 0), token="the-token")

    with pytest.raises(EngineError, match="the engine on port 9270 uses the data in"):
        start(port=NOWHERE)
    with pytest.raises(EngineError, match="port 9271 is in use by another engine of yours"):
        start(port=9271, ephemeral=True)


# --- why a node ends ---


@pytest.mark.skipif(os.name != "posix", reason="the program is a shell script")
@pytest.mark.usefixtures("faults")
def test_a_node_whose_folder_is_gone_ends_with_a_sentence(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = fake_java(home / "java", "25")
    program.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    monkeypatch.setenv("JAVA_HOME", str(home / "java"))
    engine = cluster.Cluster(registered())
    engine.launch([1], Java(program), [], is_first_start=True)
    while processes.exit_code(engine.registration.pids[0]) is None:
        time.sleep(0.01)
    shutil.rmtree(engine.data)

    with pytest.raises(EngineError, match=r"node 1 ended while it was started \(exit code 1\); its log is "):
        engine.wait([1], 5)
