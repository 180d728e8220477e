"""A started cluster: its state, and ways to kill, restart and stop it, from any process."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simdoc_search.devengine import registry
from simdoc_search.devengine.common import EngineError, OnStep, file_errors
from simdoc_search.devengine.node import LOG_LINES, Node
from simdoc_search.devengine.packages import Java, find_jars, find_java
from simdoc_search.devengine.processes import end, exit_code, is_alive
from simdoc_search.devengine.registry import Registration

DEFAULT_PORT = 9201
START_SECONDS = 180.0
STOP_SECONDS = 20.0

POLL_SECONDS = 0.25
RECOVERY_SECONDS = 30.0
"""How long a start waits for missing shards."""


@dataclass(frozen=True)
class NodeStatus:
    """The state of one node.

    Attributes:
        number: its number, from 1.
        url: its address.
        pid: its process; 0 for none.
        state: "running" if it answers, "starting" or "silent" if it does not, "ended" if its process is gone.
        log: path of its log.
    """

    number: int
    url: str
    pid: int
    state: str
    log: str


@dataclass(frozen=True)
class Status:
    """The state of a cluster.

    Attributes:
        health: "green", "yellow" or "red"; None if no node answers.
        nodes: state of each node.
        data: folder of its data.
        ephemeral: whether the data are removed when it stops.
        heap: heap size of each node.
        version: version of OpenSearch.
    """

    health: str | None
    nodes: tuple[NodeStatus, ...]
    data: str
    ephemeral: bool
    heap: str
    version: str

    @property
    def is_well(self) -> bool:
        """Whether every node answers and all data can be searched."""
        return self.health in {"green", "yellow"} and all(node.state == "running" for node in self.nodes)


class Cluster:
    """Nodes of OpenSearch on this machine, one process each.

    Attributes:
        was_running: whether `start` found it running.
    """

    def __init__(self, registration: Registration, *, was_running: bool = False) -> None:
        self._registration = registration
        self.was_running = was_running

    @property
    def registration(self) -> Registration:
        """What is registered now. Another process may have restarted a node."""
        current = registry.read(self._registration.port)
        if current is not None and current.token == self._registration.token:
            self._registration = current
        return self._registration

    @property
    def port(self) -> int:
        """Port of the first node."""
        return self.registration.port

    @property
    def numbers(self) -> range:
        """Numbers of the nodes."""
        return range(1, len(self.registration.pids) + 1)

    @property
    def urls(self) -> list[str]:
        """Addresses of the nodes."""
        return [node.url for node in self.registration.nodes]

    @property
    def url(self) -> str:
        """Address of the first node."""
        return self.urls[0]

    @property
    def data(self) -> Path:
        """Folder of the nodes' data, configuration and logs."""
        return Path(self.registration.folder)

    @property
    def version(self) -> str:
        """Version of OpenSearch."""
        return self.registration.version

    def pid(self, number: int) -> int:
        """Return the process of a node, or 0."""
        self._node(number)
        known = self.registration
        pid = known.pids[number - 1]
        return pid if is_alive(pid, known.token) else 0

    def log_end(self, number: int = 1, lines: int = LOG_LINES) -> list[str]:
        """Return the last lines of a node's log."""
        return self._node(number).log_end(lines)

    def status(self) -> Status:
        """Return the current state."""
        known = self.registration
        nodes = tuple(self._node_status(node) for node in known.nodes)
        answering = (known.nodes[node.number - 1] for node in nodes if node.state == "running")
        health = next((value for node in answering if (value := _health(node)) is not None), None)
        status = None if health is None else str(health["status"])
        return Status(status, nodes, known.folder, known.is_ephemeral, known.heap, known.version)

    def kill(self, number: int) -> None:
        """Kill a node, as in a crash."""
        if pid := self.pid(number):
            end([pid], self.registration.token, grace=0)

    def restart_node(self, number: int, timeout: float = START_SECONDS) -> None:
        """Start a node again, and wait until it has joined.

        Raises:
            EngineError: the node runs, or does not start.
        """
        if pid := self.pid(number):
            raise EngineError(f"node {number} runs already, as process {pid}; stop it first")
        self.launch([number], find_java(), find_jars(self.version))
        self.wait([number], timeout)

    def stop(self, grace: float = STOP_SECONDS) -> int:
        """Stop all nodes, and remove ephemeral data.

        Args:
            grace: seconds after which the nodes are killed.

        Returns:
            The number of nodes that were running.

        Raises:
            EngineError: a process does not end.
        """
        running = self._running_pids()
        if not self.registration.discard(grace):
            left = ", ".join(map(str, self._running_pids()))
            raise EngineError(f"processes {left} do not end; kill them by hand")
        return len(running)

    def launch(self, numbers: Iterable[int], java: Java, jars: Sequence[Path]) -> None:
        """Start the processes of some nodes, and register each at once, so that none is lost."""
        with file_errors("start the engine"):
            for number in numbers:
                node, known = self._node(number), self.registration
                node.configure(known.nodes)
                pids = list(known.pids)
                pids[number - 1] = node.start(java, jars, known.heap, known.token)
                self.register(pids=tuple(pids))

    def wait(self, numbers: Iterable[int], timeout: float, progress: OnStep | None = None) -> None:
        """Wait until some nodes answer and have joined the others, and their shards are started.

        Raises:
            EngineError: a node ended, or the time is up.
        """
        nodes = [self._node(number) for number in numbers]
        deadline = time.monotonic() + timeout
        shards_deadline = None
        reported = -1
        while True:
            answering = [node for node in nodes if self._answers(node)]
            if progress and len(answering) != reported:
                reported = len(answering)
                progress(f"starting OpenSearch {self.version}", reported, len(nodes))
            health = _health(nodes[0]) if len(answering) == len(nodes) else None
            if health is not None and health["number_of_nodes"] >= len(self._running_pids()):
                shards_deadline = shards_deadline or time.monotonic() + RECOVERY_SECONDS
                if health["status"] != "red" or time.monotonic() > shards_deadline:
                    return
            if time.monotonic() > deadline:
                slow = next((node for node in nodes if node not in answering), nodes[0])
                raise self._failure(slow, f"was not ready after {timeout:.0f} s")
            time.sleep(POLL_SECONDS)

    def register(self, **changes: Any) -> None:
        """Register changes."""
        self._registration = replace(self.registration, **changes)
        registry.write(self._registration)

    def _running_pids(self) -> list[int]:
        return [pid for pid in map(self.pid, self.numbers) if pid]

    def _node(self, number: int) -> Node:
        if number not in self.numbers:
            raise EngineError(f"there is no node {number}; the engine's nodes are 1 to {self.numbers[-1]}")
        return self.registration.nodes[number - 1]

    def _answers(self, node: Node) -> bool:
        """Return whether a node's own process answers at its port."""
        pid = self.registration.pids[node.number - 1]
        if not self.pid(node.number):
            code = exit_code(pid)
            how = "" if code is None else f" (exit code {code})"
            raise self._failure(node, f"ended while it was started{how}")
        answering = node.answering_pid()
        if answering not in {None, pid}:
            raise EngineError(f"another program answers at {node.url}; choose another --port")
        return answering == pid

    def _failure(self, node: Node, what: str) -> EngineError:
        where = "see the end of its log" if self.registration.is_ephemeral else f"its log is {node.log}"
        return EngineError(f"node {node.number} {what}; {where}", node.log_end())

    def _node_status(self, node: Node) -> NodeStatus:
        pid, is_ready = self.pid(node.number), self.registration.is_ready
        if not pid and is_ready:
            state = "ended"
        elif pid and node.answering_pid() == pid:
            state = "running"
        else:
            state = "silent" if is_ready else "starting"
        return NodeStatus(node.number, node.url, pid, state, str(node.log))


def find(port: int = DEFAULT_PORT) -> Cluster | None:
    """Return the cluster whose first node has a port, if one is registered."""
    registration = registry.read(port)
    return None if registration is None else Cluster(registration)


def find_all() -> list[Cluster]:
    """Return all running clusters of this user."""
    return [Cluster(known) for known in registry.read_all() if known.is_running()]


def _health(node: Node) -> Any:
    """Return the health as this node knows it; without `local` it would wait for a missing manager."""
    return node.ask("/_cluster/health?local=true")
