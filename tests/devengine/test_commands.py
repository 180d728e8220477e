"""The commands of `simdoc-search engine`, without a running engine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest

from simdoc_search import devengine as library
from simdoc_search.cli.engine import engine as commands
from simdoc_search.devengine import DevEngineError, cluster
from tests.support.cli import output, run, sentence, usage_error
from tests.support.devengine import NOWHERE, registered

# --- commands ---


def test_status_without_an_engine_has_exit_code_1() -> None:
    shown = run("engine", "status", "--port", NOWHERE, "--json")

    start = "start one with: simdoc-search engine start"
    assert f"no engine is running on port {NOWHERE}; {start} --port {NOWHERE}" == sentence(
        run("engine", "status", "--port", NOWHERE)
    )
    assert f"no engine is running; {start}" == sentence(run("engine", "status", "--port", 9201))
    assert (1, {"health": None, "urls": [], "nodes": []}) == (shown.exit_code, json.loads(shown.stdout))


def test_status_names_the_ports_of_other_engines(launch_child: Any) -> None:
    registered(port=9270, pids=(launch_child(),), token="the-token")

    assert "(ports of running engines: 9270; choose one with --port)" in sentence(
        run("engine", "status", "--port", NOWHERE)
    )


def test_the_only_running_engine_needs_no_port(launch_child: Any) -> None:
    """With two engines, the port of one of them is needed."""
    registered(port=9270, pids=(launch_child(),), token="the-token")
    assert "node 1  http://127.0.0.1:9270" in run("engine", "status").stdout
    assert "" == output("engine", "logs")

    registered(port=9275, pids=(launch_child(),), token="the-token")
    assert "(ports of running engines: 9270, 9275; choose one with --port)" in sentence(run("engine", "status"))


@pytest.mark.parametrize("is_ephemeral", [True, False])
def test_status_of_an_engine_that_ended_has_exit_code_1(is_ephemeral: bool) -> None:
    registration = registered(pids=(0, 0), is_ephemeral=is_ephemeral)
    shown = run("engine", "status", "--port", NOWHERE)

    data = "--ephemeral" if is_ephemeral else f"--data {registration.folder}"
    start = f"start it again with: simdoc-search engine start --port {NOWHERE} --heap 1g {data}\n"
    assert (1, start) == (shown.exit_code, shown.stderr)
    assert "not responding" in shown.stdout
    assert ["node 1  http://127.0.0.1:9208  ended", "node 2  http://127.0.0.1:9209  ended"] == (
        shown.stdout.splitlines()[2:]
    )


def test_stop_without_an_engine_is_not_an_error() -> None:
    registered()

    assert f"no engine is running on port {NOWHERE}\n" == output("engine", "stop", "--port", NOWHERE)
    assert f"no engine is running on port {NOWHERE}\n" == output("engine", "stop", "--port", NOWHERE)
    assert {"stopped_count": 0} == json.loads(output("engine", "stop", "--port", NOWHERE, "--json"))


def test_stop_without_a_port_stops_the_only_running_engine(launch_child: Any) -> None:
    registered(port=9270, pids=(launch_child(),), token="the-token")

    assert "stopped 1 node\n" == output("engine", "stop")
    assert "no engine is running\n" == output("engine", "stop")


def test_logs_show_the_last_lines(tmp_path: Path) -> None:
    registered(folder=str(tmp_path), pids=(0, 0))
    (tmp_path / "node-2").mkdir()
    (tmp_path / "node-2" / "engine.log").write_text("one\ntwo\n\x1b[31mthree\n", "utf-8")
    command = ("engine", "logs", "--port", NOWHERE, "--node", 2, "--lines", 2)

    assert "two\n\\x1b[31mthree\n" == output(*command)
    assert {"node": 2, "lines": ["two", "\x1b[31mthree"]} == json.loads(output(*command, "--json"))
    assert "" == output("engine", "logs", "--port", NOWHERE)


def test_logs_without_an_engine_are_an_error() -> None:
    assert f"no engine is running on port {NOWHERE}; the logs of a stopped engine" in sentence(
        run("engine", "logs", "--port", NOWHERE)
    )


def test_a_start_that_fails_shows_the_end_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing_start(**_: object) -> None:
        raise DevEngineError("node 1 ended", ["starting ...", "out of luck"])

    monkeypatch.setattr(library, "start_cluster", failing_start)
    shown = run("engine", "start")

    assert (1, "") == (shown.exit_code, shown.stdout)
    assert ["  starting ...", "  out of luck", "Error: node 1 ended"] == shown.stderr.splitlines()


def test_progress_without_a_terminal_has_one_line_per_step(monkeypatch: pytest.MonkeyPatch) -> None:
    registration = registered()

    def successful_start(progress: Any, **_: object) -> cluster.Cluster:
        for done in range(3):
            progress("downloading", done, 2)
        progress("starting", 0, 1)
        return cluster.Cluster(registration)

    monkeypatch.setattr(library, "start_cluster", successful_start)
    shown = run("engine", "start")

    assert "downloading ...\nstarting ...\n" == shown.stderr
    assert "OpenSearch 3.3.2 is running at http://127.0.0.1:9208\n" == shown.stdout


@pytest.mark.parametrize("arguments", [["--port", "9300"], ["--nodes", "0"], ["--nodes", "x"]])
def test_numbers_out_of_range_are_usage_errors(arguments: list[str]) -> None:
    assert usage_error(run("engine", "start", *arguments))


def test_the_folder_is_checked_before_the_port() -> None:
    message = usage_error(run("engine", "start", "--port", "9300", "--data", "htp://host/x"))

    assert "'--data'" in message
    assert "'--port'" not in message


@pytest.mark.parametrize("name", ["start", "status", "stop", "logs"])
def test_the_help_of_each_command_has_an_example_and_all_options(name: str) -> None:
    shown = output("engine", name, "--help")
    options = [option for option in commands.commands[name].params if isinstance(option, click.Option)]

    assert re.search(rf"^ +simdoc-search engine {name}\b", shown, re.MULTILINE)
    assert [] == [option.name for option in options if not option.help]
    assert {"--port", "--json"} <= {name for option in options for name in option.opts}
