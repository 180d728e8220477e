"""What is known on this machine of engines that run: one file for each, so that any later command finds them."""

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
from simdoc_search.devengine.processes import Starter, end, is_alive, is_starter_alive

if sys.platform != "win32":
    import fcntl

TEMPORARY_PREFIX = "simdoc-engine-"


@dataclass(frozen=True)
class Registration:
    """An engine that runs, is being started, or did run and was not stopped.

    Attributes:
        port: of its first node; the others follow.
        folder: where its nodes have their data, configuration and logs.
        is_ephemeral: whether the folder goes with it.
        heap: of each node.
        version: of OpenSearch.
        token: an argument that all its processes have.
        pids: of its nodes; 0 where there is no process yet.
        starter: who starts it, or did.
        is_ready: whether it has been started.
    """

    port: int
    folder: str
    is_ephemeral: bool
    heap: str
    version: str
    token: str
    pids: tuple[int, ...]
    starter: Starter
    is_ready: bool = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Its nodes."""
        count = range(1, len(self.pids) + 1)
        return tuple(Node(number, Path(self.folder) / f"node-{number}", self.port + number - 1) for number in count)

    @property
    def ports(self) -> range:
        """Where its nodes speak HTTP."""
        return range(self.port, self.port + len(self.pids))

    def is_node_alive(self, number: int) -> bool:
        """True if the process of a node exists."""
        return is_alive(self.pids[number - 1], self.token)

    def is_being_started(self) -> bool:
        """True if the process that starts it is still at it."""
        return not self.is_ready and is_starter_alive(self.starter)

    def is_in_use(self) -> bool:
        """True if its ports and its folder are, or will be in a moment."""
        return self.is_being_started() or any(is_alive(pid, self.token) for pid in self.pids)

    def discard(self, patience: float) -> bool:
        """End its processes, and remove what is to go with it.

        Args:
            patience: seconds in which they may end by themselves.

        Returns:
            True if they are gone.
        """
        if not end(self.pids, self.token, patience):
            return False
        # The name is looked at so that a damaged file never names something else to be deleted.
        if self.is_ephemeral and Path(self.folder).name.startswith(TEMPORARY_PREFIX):
            shutil.rmtree(self.folder, ignore_errors=True)
        there = read(self.port)
        if there is not None and there.token == self.token:
            _path(self.port).unlink(missing_ok=True)
        return True


@contextmanager
def locked() -> Iterator[None]:
    """One process at a time decides who has which ports and which data."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def read(port: int) -> Registration | None:
    """The engine that is registered for a port."""
    return _read(_path(port))


def read_all() -> list[Registration]:
    """All engines, by port."""
    found = [each for path in _folder().glob("*.json") if (each := _read(path))]
    return sorted(found, key=lambda each: each.port)


def write(registration: Registration) -> None:
    """Register an engine, or what has changed of it."""
    path = _path(registration.port)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(registration), indent=2), "utf-8")
    temporary.replace(path)


def _read(path: Path) -> Registration | None:
    """None if there is nothing that makes sense: it is only a note, and what is wrong will be written anew."""
    try:
        values = json.loads(path.read_text("utf-8"))
        pids, (starter, began) = tuple(map(int, values.pop("pids"))), values.pop("starter")
        return Registration(**values, pids=pids, starter=(int(starter), float(began)))
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None


def _folder() -> Path:
    return data_folder() / "running"


def _path(port: int) -> Path:
    return _folder() / f"{port}.json"
