"""The development engine is started from packages, killed and stopped. The first run needs the network."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from simdoc_search.devengine import (
    Cluster,
    DevEngineError,
    find_cluster,
    find_free_port,
    running_cluster,
    start_cluster,
    startup,
)
from tests.support.cli import answer, output, run, sentence
from tests.support.engines import call, need_packages
from tests.support.waiting import wait_until

DOCUMENT = {"text": "found again"}


@pytest.fixture(autouse=True, scope="module")
def home(request: pytest.FixtureRequest, engine_home: Path) -> Iterator[Path]:
    """The home folder of the engines. It also contains their temporary folders."""
    need_packages(request.config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(engine_home))
        patch.setattr("tempfile.tempdir", str(engine_home))
        yield engine_home


def create_index(url: str, index: str, **settings: object) -> None:
    """Create an index with one document, and wait until all its shards are allocated."""
    call(url, "PUT", f"/{index}", {"settings": settings})
    call(url, "PUT", f"/{index}/_doc/1?refresh=true", DOCUMENT)
    call(url, "GET", f"/_cluster/health/{index}?wait_for_status=green&timeout=60s")


# --- from the command line ---


def test_an_engine_keeps_its_data_until_the_next_start() -> None:
    port = str(find_free_port(2))  # the port of the second node must be free, so that the number of nodes is refused
    options = ("--port", port, "--heap", "384m")
    try:
        started = answer("engine", "start", *options)
        url = started["urls"][0]
        process = started["nodes"][0]["pid"]

        assert [f"http://127.0.0.1:{port}"] == started["urls"]
        assert not started["was_running"]
        assert "green" == started["health"]
        assert started["version"] == call(url, "GET", "/")["version"]["number"]
        if hasattr(os, "getsid"):
            assert process == os.getsid(process)  # Ctrl-C does not reach it

        create_index(url, "kept", number_of_replicas=0)
        again = answer("engine", "start", *options)

        assert again["was_running"]
        assert process == again["nodes"][0]["pid"]
        assert f"is already running at {url}" in output("engine", "start", "--port", port)
        assert "node 1" in output("engine", "status", "--port", port)
        assert "started" in output("engine", "logs", "--port", port, "--lines", 200)
        assert "not 2" in sentence(run("engine", "start", "--port", port, "--nodes", 2))

        assert "stopped 1 node\n" == output("engine", "stop", "--port", port)
        assert 1 == run("engine", "status", "--port", port).exit_code
        with pytest.raises(ConnectionRefusedError):
            call(url, "GET", "/")

        output("engine", "start", *options)

        assert DOCUMENT == call(url, "GET", "/kept/_doc/1")["_source"]

        os.kill(answer("engine", "status", "--port", port)["nodes"][0]["pid"], signal.SIGKILL)
        time.sleep(1)

        assert 1 == run("engine", "status", "--port", port).exit_code
        assert DOCUMENT == call(answer("engine", "start", *options)["urls"][0], "GET", "/kept/_doc/1")["_source"]
    finally:
        output("engine", "stop", "--port", port)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_stops_an_engine_that_is_starting(home: Path) -> None:
    port, before = find_free_port(), set(home.iterdir())
    command = [sys.executable, "-m", "simdoc_search", "engine", "start", "--ephemeral", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        process = wait_for_process(port)
        started.send_signal(signal.SIGINT)
        stdout, stderr = started.communicate(timeout=60)

    assert 130 == started.returncode
    assert ("", "Error: interrupted; all started nodes were stopped") == (stdout, stderr.splitlines()[-1])
    assert is_gone(process)
    assert None is find_cluster(port)
    assert set() == set(home.glob("simdoc-engine-*")) - before


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_the_next_start_removes_the_remains_of_a_killed_start(home: Path) -> None:
    port, before = find_free_port(), set(home.iterdir())
    command = [sys.executable, "-m", "simdoc_search", "engine", "start", "--ephemeral", "--port", str(port)]
    with subprocess.Popen([*command, "--heap", "256m"], stderr=subprocess.DEVNULL) as started:
        process = wait_for_process(port)
        started.kill()
    with running_cluster(port=port, heap="256m") as cluster:
        assert is_gone(process)
        assert {cluster.data_folder} == set(home.glob("simdoc-engine-*")) - before
        assert cluster.status().is_healthy
    assert set() == set(home.glob("simdoc-engine-*")) - before


def wait_for_process(port: int) -> int:
    """Wait until the process of the first node has started, and return its id."""
    wait_until(lambda: (cluster := find_cluster(port)) is not None and cluster.pid(1) > 0, 60)
    time.sleep(0.5)
    cluster = find_cluster(port)
    assert cluster is not None
    return cluster.pid(1)


def is_gone(process: int) -> bool:
    """Whether a process has ended, or is a zombie."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


# --- as a library ---


def test_three_nodes_form_a_cluster_that_only_this_machine_can_reach(three_nodes: Cluster) -> None:
    nodes = call(three_nodes.url, "GET", "/_nodes/http,transport")["nodes"].values()
    bound = {address for node in nodes for kind in ("http", "transport") for address in node[kind]["bound_address"]}

    assert [3, 3, 3] == [call(url, "GET", "/_cluster/health")["number_of_nodes"] for url in three_nodes.urls]
    assert three_nodes.status().is_healthy
    assert 6 == len(bound)
    assert set() == {address for address in bound if not address.startswith("127.0.0.1:")}


def test_the_java_of_the_packages_can_analyse_thai(three_nodes: Cluster) -> None:
    body = {"analyzer": "thai", "text": "ภาษาไทย"}

    assert 2 == len(call(three_nodes.url, "POST", "/_analyze", body)["tokens"])
    create_index(
        three_nodes.url, "analysed", analysis={"analyzer": {"own": {"type": "custom", "tokenizer": "whitespace"}}}
    )


def test_an_ingest_pipeline_runs_on_each_kind_of_write(three_nodes: Cluster) -> None:
    roles = call(three_nodes.url, "GET", "/_nodes")["nodes"].values()
    script = {"source": "ctx.words = / +/.split(ctx.text).length"}
    call(three_nodes.url, "PUT", "/_ingest/pipeline/words", {"processors": [{"script": script}]})
    create_index(three_nodes.url, "counted")
    call(three_nodes.url, "POST", "/counted/_update_by_query?pipeline=words&refresh=true")
    call(three_nodes.url, "PUT", "/counted/_settings", {"index": {"final_pipeline": "words"}})
    call(three_nodes.urls[1], "PUT", "/counted/_doc/2", {"text": "one two three"})
    call(three_nodes.urls[2], "PUT", "/counted/_doc/3", {"text": "one two three"})
    call(three_nodes.urls[1], "POST", "/counted/_update/3", {"doc": {"text": "one"}})

    assert [True, True, True] == ["ingest" in node["roles"] for node in roles]
    assert [2, 3, 1] == [
        call(three_nodes.url, "GET", f"/counted/_doc/{number}")["_source"]["words"] for number in (1, 2, 3)
    ]


def test_a_killed_node_loses_no_document(three_nodes: Cluster) -> None:
    create_index(three_nodes.url, "replicated", number_of_shards=3, number_of_replicas=1)
    three_nodes.kill(2)
    status = three_nodes.status()

    assert ["running", "ended", "running"] == [node.state for node in status.nodes]
    assert not status.is_healthy
    for url in (three_nodes.urls[0], three_nodes.urls[2]):
        result = call(url, "POST", "/replicated/_search", {"query": {"match": {"text": "again"}}})
        assert (0, 1) == (result["_shards"]["failed"], result["hits"]["total"]["value"])

    three_nodes.restart_node(2)

    assert three_nodes.status().is_healthy
    assert 3 == call(three_nodes.urls[1], "GET", "/_cluster/health")["number_of_nodes"]


def test_the_next_start_starts_a_killed_node(three_nodes: Cluster) -> None:
    three_nodes.kill(1)

    assert 2 == call(three_nodes.urls[1], "GET", "/_cluster/health?wait_for_nodes=2&timeout=60s")["number_of_nodes"]
    assert start_cluster(port=three_nodes.port).was_running
    assert three_nodes.status().is_healthy
    assert 3 == len({three_nodes.pid(number) for number in three_nodes.node_numbers} - {0})


def test_a_running_node_is_not_restarted(three_nodes: Cluster) -> None:
    with pytest.raises(DevEngineError, match=r"node 3 is already running \(process"):
        three_nodes.restart_node(3)


def test_ephemeral_data_is_removed_when_the_engine_is_stopped(home: Path) -> None:
    with running_cluster(heap="256m") as cluster:
        folder, process = cluster.data_folder, cluster.pid(1)

        assert folder.is_dir()
        assert folder.parent == home
    assert not folder.exists()
    assert is_gone(process)
    assert None is find_cluster(cluster.port)


def test_a_node_that_fails_shows_the_end_of_its_log(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = find_free_port()
    before = set(home.iterdir())
    monkeypatch.setattr(startup, "is_port_in_use", lambda _: False)  # as if the other program started after the check
    message = r"node 1 ended while it was starting \(exit code 1\); see the last lines of the log"
    with socket.create_server(("127.0.0.1", port + 100)), pytest.raises(DevEngineError, match=message) as caught:
        start_cluster(port=port, ephemeral=True, heap="256m")

    assert "java.net.BindException: Address already in use" in caught.value.log_lines
    assert None is find_cluster(port)
    assert set() == set(home.glob("simdoc-engine-*")) - before
