"""Starts that are refused, and nodes that end during their start."""

from __future__ import annotations

import os
import shutil
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.devengine import DevEngineError, cluster, find_cluster, find_free_port, processes, start_cluster
from simdoc_search.devengine.common import cache_folder
from simdoc_search.devengine.node import Node
from simdoc_search.devengine.packages import Java
from tests.support.devengine import NOWHERE, fake_java, registered

# --- starts that are refused ---


def test_a_port_in_use_is_refused_before_the_download(used_port: int) -> None:
    with pytest.raises(DevEngineError, match=f"port {used_port} is in use by another program; free this port, or"):
        start_cluster(port=used_port)

    assert None is find_cluster(used_port)
    assert not cache_folder().exists()


def test_the_default_port_is_that_of_the_last_start_with_the_data(used_port: int, tmp_path: Path) -> None:
    node = Node(1, tmp_path / "node-1", used_port)
    node.write_configuration([node])

    with pytest.raises(DevEngineError, match=f"port {used_port} is in use"):
        start_cluster(data=tmp_path)


def test_a_transport_port_in_use_is_refused() -> None:
    port = find_free_port()
    with (
        socket.create_server(("127.0.0.1", port + 100)),
        pytest.raises(DevEngineError, match=f"port {port + 100} is in use"),
    ):
        start_cluster(port=port)


@pytest.mark.parametrize("version", ["3.x", "2.19", "v3.3.2", "3.3.2/../x", "latest", "٣.3.2"])
def test_a_malformed_version_is_refused(version: str) -> None:
    with pytest.raises(DevEngineError, match=r"is not a version number of OpenSearch, such as \d"):
        start_cluster(port=find_free_port(), version=version, ephemeral=True)

    assert not cache_folder().exists()


def test_fewer_nodes_than_the_data_has_are_refused(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        (tmp_path / f"node-{number}" / "data" / "nodes").mkdir(parents=True)

    with pytest.raises(DevEngineError, match=r"contains the data of 3 nodes, more than 2; omit --nodes"):
        start_cluster(nodes=2, port=find_free_port(2), data=tmp_path)


def test_an_ephemeral_engine_cannot_use_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DevEngineError, match="omit --data or --ephemeral"):
        start_cluster(data=tmp_path, ephemeral=True)


def test_a_file_as_the_folder_is_refused_before_the_port_is_checked(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(DevEngineError, match=r"file is not a folder; choose a folder with --data"):
        start_cluster(port=80, data=tmp_path / "file")


def test_a_running_engine_with_other_options_is_refused(launch_child: Any, tmp_path: Path) -> None:
    registered(pids=(launch_child(),), token="the-token")

    with pytest.raises(DevEngineError, match=r"\(nodes: 1, not 2; heap: 1g, not 2g; data: .*\); omit these options"):
        start_cluster(port=NOWHERE, nodes=2, heap="2g", data=tmp_path / "other")
    with pytest.raises(DevEngineError, match=r"version: 3\.3\.2, not 2\.19\.1\); omit"):
        start_cluster(port=NOWHERE, version="2.19.1")
    with pytest.raises(DevEngineError, match="data: kept when the engine is stopped, not deleted"):
        start_cluster(port=NOWHERE, ephemeral=True)
    assert start_cluster(port=NOWHERE, nodes=1, heap="1g").was_running


def test_data_and_ports_of_another_engine_are_refused(launch_child: Any) -> None:
    registered(port=9270, pids=(launch_child(), 0), token="the-token")

    with pytest.raises(DevEngineError, match="the engine on port 9270 uses the data in"):
        start_cluster(port=NOWHERE)
    with pytest.raises(DevEngineError, match="port 9271 is in use by another engine"):
        start_cluster(port=9271, ephemeral=True)


# --- nodes that end ---


@pytest.mark.skipif(os.name != "posix", reason="the program is a shell script")
@pytest.mark.usefixtures("faults")
def test_a_node_that_ends_during_its_start_is_an_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = fake_java(home / "java", "25")
    program.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    monkeypatch.setenv("JAVA_HOME", str(home / "java"))
    engine = cluster.Cluster(registered())
    engine.launch([1], Java(program), [])
    while processes.read_exit_code(engine.registration.pids[0]) is None:
        time.sleep(0.01)
    shutil.rmtree(engine.data_folder)

    with pytest.raises(DevEngineError, match=r"node 1 ended while it was starting \(exit code 1\); see the log in "):
        engine.wait_for_nodes([1], 5)
