"""The engines on this machine: one file for each, so that later commands find it."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from simdoc_search.devengine.common import data_folder
from simdoc_search.devengine.node import Node
from simdoc_search.devengine.processes import end, is_alive, launched

if sys.platform != "win32":
    import fcntl

TEMPORARY_PREFIX = "simdoc-engine-"


@dataclass(frozen=True)
class Registration:
    """An engine that runs, is starting, or has ended without being stopped.

    Attributes:
        port: port of its first node; the others follow.
        folder: folder of the nodes' data, configuration and logs.
        is_ephemeral: whether the folder is removed with it.
        heap: heap size of each node.
        version: version of OpenSearch.
        token: an argument of all its processes.
        pids: process of each node; 0 for none.
        is_ready: whether its start has finished.
    """

    port: int
    folder: str
    is_ephemeral: bool
    heap: str
    version: str
    token: str
    pids: tuple[int, ...]
    is_ready: bool = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes."""
        numbers = range(1, len(self.pids) + 1)
        return tuple(Node(number, Path(self.folder) / f"node-{number}", self.port + number - 1) for number in numbers)

    @property
    def ports(self) -> range:
        """The HTTP ports."""
        return range(self.port, self.port + len(self.pids))

    def is_running(self) -> bool:
        """Return whether any of its processes runs."""
        return any(is_alive(pid, self.token) for pid in self.pids)

    def discard(self, grace: float) -> bool:
        """End its processes within `grace` seconds, and remove its file and its ephemeral data.

        Returns:
            Whether the processes have ended.
        """
        # Ctrl-C may have come before the id of the last process was registered.
        if not end({*self.pids, *launched(self.token)}, self.token, grace):
            return False
        # The name is checked, so that a damaged file cannot remove another folder.
        if self.is_ephemeral and Path(self.folder).name.startswith(TEMPORARY_PREFIX):
            shutil.rmtree(self.folder, ignore_errors=True)
        registered = read(self.port)
        if registered is not None and registered.token == self.token:
            _path(self.port).unlink(missing_ok=True)
        return True


@contextmanager
def locked() -> Iterator[None]:
    """Let one process at a time start an engine."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def read(port: int) -> Registration | None:
    """Return the engine that is registered for a port."""
    return _read(_path(port))


def read_all() -> list[Registration]:
    """Return all engines, by port."""
    registered = [registration for path in _folder().glob("*.json") if (registration := _read(path))]
    return sorted(registered, key=lambda registration: registration.port)


def write(registration: Registration) -> None:
    """Register an engine, or a change of it."""
    path = _path(registration.port)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(registration), indent=2), "utf-8")
    temporary.replace(path)


def _read(path: Path) -> Registration | None:
    """Return the engine in a file; None if the file is missing or malformed."""
    try:
        values = json.loads(path.read_text("utf-8"))
        return Registration(**{**values, "pids": tuple(map(int, values["pids"]))})
    except (OSError, ValueError, TypeError, LookupError):
        return None


def _folder() -> Path:
    return data_folder() / "running"


def _path(port: int) -> Path:
    return _folder() / f"{port}.json"
