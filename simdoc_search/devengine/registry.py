"""Registers the engines of this user in one file per engine, so that later commands can find them."""

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
from simdoc_search.devengine.processes import end_processes, find_launched_pids, is_running

if sys.platform != "win32":
    import fcntl

TEMPORARY_PREFIX = "simdoc-engine-"


@dataclass(frozen=True)
class Registration:
    """An engine that is starting, is running, or ended without being stopped."""

    port: int  # HTTP port of the first node. The other nodes use the next ports.
    folder: str  # folder that contains the data, configuration and logs of the nodes
    is_ephemeral: bool  # whether the folder is removed when the engine is stopped
    heap: str  # heap size of each node
    version: str  # version of OpenSearch
    token: str  # a string in the command line of each process of this engine, which identifies them
    pids: tuple[int, ...]  # process id of each node; 0 for a node without a process
    is_ready: bool = False  # whether the engine has finished starting

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the engine."""
        numbers = range(1, len(self.pids) + 1)
        return tuple(Node(number, Path(self.folder) / f"node-{number}", self.port + number - 1) for number in numbers)

    @property
    def ports(self) -> range:
        """The HTTP ports of the nodes."""
        return range(self.port, self.port + len(self.pids))

    def is_running(self) -> bool:
        """Return whether the process of at least one node is running."""
        return any(is_running(pid, self.token) for pid in self.pids)

    def stop(self, grace: float) -> bool:
        """Stop the processes, and remove the registration. If the engine is ephemeral, remove its data.

        Args:
            grace: seconds after which the processes are killed.

        Returns:
            Whether all processes have ended. If not, nothing is removed.
        """
        # If Ctrl-C interrupted the start, the last process may not be registered.
        if not end_processes({*self.pids, *find_launched_pids(self.token)}, self.token, grace):
            return False
        # A damaged file may contain the path of another folder, which must not be removed.
        if self.is_ephemeral and Path(self.folder).name.startswith(TEMPORARY_PREFIX):
            shutil.rmtree(self.folder, ignore_errors=True)
        registered = read(self.port)
        if registered is not None and registered.token == self.token:
            _path(self.port).unlink(missing_ok=True)
        return True


@contextmanager
def startup_lock() -> Iterator[None]:
    """Prevent other processes from starting an engine during the block. On Windows, this has no effect."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def read(port: int) -> Registration | None:
    """Return the registration for a port; None if there is none."""
    return _read(_path(port))


def read_all() -> list[Registration]:
    """Return all registrations, ordered by port."""
    registrations = [registration for path in _folder().glob("*.json") if (registration := _read(path))]
    return sorted(registrations, key=lambda registration: registration.port)


def write(registration: Registration) -> None:
    """Write the file of a registration. It replaces an earlier registration for the same port."""
    path = _path(registration.port)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(registration), indent=2), "utf-8")
    temporary.replace(path)


def _read(path: Path) -> Registration | None:
    """Return the registration in a file, or None if the file is missing or malformed."""
    try:
        values = json.loads(path.read_text("utf-8"))
        return Registration(**{**values, "pids": tuple(map(int, values["pids"]))})
    except (OSError, ValueError, TypeError, LookupError):
        return None


def _folder() -> Path:
    return data_folder() / "running"


def _path(port: int) -> Path:
    return _folder() / f"{port}.json"
