"""Commands show warnings of the library on stderr. `-v` shows the whole log."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simdoc_search.display import printable
from simdoc_search.stores.remote import retry
from tests.support.cli import environment, run, write
from tests.support.http_server import error, serving

_SCRIPT_WITH_PROGRESS_BAR = """
import logging
import click
from simdoc_search.cli.common import document_progress
from simdoc_search.cli.logs import show_log

@click.command()
@click.pass_context
def wait(context):
    show_log(context, "WARNING")
    with document_progress(hidden=False, has_total=True) as update:
        update(completed=3, total=10)
        logging.getLogger("simdoc_search").warning("no response")

wait()
"""

pytestmark = pytest.mark.usefixtures("in_indexed_corpus")


def test_v_logs_to_stderr_and_changes_nothing_else() -> None:
    quiet, verbose = run("similar", "doc123_20"), run("-v", "similar", "doc123_20")

    assert ("", quiet.stdout, 0) == (quiet.stderr, verbose.stdout, verbose.exit_code)
    assert "opening ./.simdoc" in verbose.stderr
    assert '"doc123.txt"_20: 3 hits, ' in verbose.stderr
    assert 1 == run("-v", "index", "corpus").stderr.count("5 unchanged")


def test_vv_logs_each_request() -> None:
    """The log level is reset afterwards."""
    pytest.importorskip("opensearchpy")
    with serving(lambda _: error(400, "refused", "not today")) as server:
        one, two = (run(option, "info", "--store", f"{server.url}/docs").stderr for option in ("-v", "-vv"))

    assert f"GET {server.url}/docs/_mapping" in two
    assert "_mapping" not in one
    logger = logging.getLogger("simdoc_search")
    assert [] == [handler for handler in logger.handlers if not isinstance(handler, logging.NullHandler)]
    assert logging.NOTSET == logger.level


def test_a_command_says_that_it_waits_for_a_busy_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opensearchpy")
    monkeypatch.setattr(retry, "_last_log_time", [float("-inf")])
    answers = iter([error(400, "refused", "the root of the engine"), error(429, "busy", "queue full")])
    with serving(lambda _: next(answers, error(400, "refused", "not today"))) as server:
        shown = run("info", "--store", f"{server.url}/docs").stderr

    assert "queue full; retrying for up to 30 s" in shown
    assert "not today" in shown


def test_a_warning_is_a_line_of_its_own_above_a_progress_bar(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
    script = write(tmp_path, {"warn.py": _SCRIPT_WITH_PROGRESS_BAR}) / "warn.py"
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, script], stderr=theirs, env={**environment(), "TERM": "xterm"}, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)

    before = shown.partition("simdoc_search: no response")[0].rpartition("\x1b[2K")[2]  # this code erases the line
    assert "3 of 10 documents" in shown
    assert re.fullmatch(r"[-0-9:, ]+", before)


def test_a_log_has_no_control_characters_and_no_password() -> None:
    for arguments in (["info", "--store", "\x1b[2J\u202e"], ["info", "--store", "http://u:SECRET@h/x\x1b[2J"]):
        text = run("-vv", *arguments).stderr

        assert "opening" in text
        assert "SECRET" not in text
        assert [] == [line for line in text.splitlines() if line != printable(line)]
