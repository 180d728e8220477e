"""Registered engines that are not running, a Java that only prints its version, and jars that need no network."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from simdoc_search.devengine import registry
from simdoc_search.devengine.common import data_folder
from simdoc_search.devengine.registry import Registration

__all__ = ["NOWHERE", "Artifact", "fake_java", "registered"]

NOWHERE = 9208  # below the ports that `find_free_port` returns for the engines of other tests


def registered(**changes: Any) -> Registration:
    """Register an engine that ended without being stopped. `changes` are other values of the registration."""
    registration = Registration(
        port=NOWHERE,
        folder=str(data_folder() / "data"),
        is_ephemeral=False,
        heap="1g",
        version="3.3.2",
        token="-Dsimdoc.engine=test",
        pids=(0,),
        is_ready=True,
    )
    registration = replace(registration, **changes)
    with registry.startup_lock():
        registry.write(registration)
    return registration


def fake_java(home: Path, version: str) -> Path:
    """Create a JAVA_HOME whose Java only prints its version."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n", "utf-8")
    program.chmod(0o755)
    return program


class Artifact:
    """An artifact of jgo that needs no network."""

    downloads = 0

    def __init__(self, repository: Path, name: str, faults: list[str]) -> None:
        self.cached_path = repository / f"{name}.jar"
        self.faults = faults

    def resolve(self) -> Path:
        """Write the jar to its final path, as jgo does."""
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
        Artifact.downloads += 1
        return self.cached_path
