"""A cluster on this machine. Any process can query its state, kill or restart its nodes, and stop it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simdoc_search.devengine import registry
from simdoc_search.devengine.common import EngineError, ProgressCallback, as_engine_errors
from simdoc_search.devengine.node import LOG_LINES, Node
from simdoc_search.devengine.packages import Java, find_jars, find_java
from simdoc_search.devengine.processes import end_processes, exit_code, is_running
from simdoc_search.devengine.registry import Registration

DEFAULT_PORT = 9201
START_SECONDS = 180.0
STOP_SECONDS = 20.0

POLL_SECONDS = 0.25
RECOVERY_SECONDS = 30.0
"""How long a start waits for primary shards that are not allocated, that is, while the health is red."""


@dataclass(frozen=True)
class NodeStatus:
    """The state of one node.

    Attributes:
        number: number of the node, from 1.
        url: HTTP address of the node.
        pid: process id of the node; 0 if it has no process.
        state: "running" if the node answers. Otherwise "starting" while the cluster starts, "ended" if the process has
            ended since, or "silent".
        log: path of the log.
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
        data: folder of the nodes' data, configuration and logs.
        ephemeral: whether the data is removed when the cluster is stopped.
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
    def is_healthy(self) -> bool:
        """Whether every node answers and all data can be searched."""
        return self.health in {"green", "yellow"} and all(node.state == "running" for node in self.nodes)


class Cluster:
    """A cluster of OpenSearch nodes on this machine, with one process per node.

    Attributes:
        was_running: whether `start` found the cluster already running.
    """

    def __init__(self, registration: Registration, *, was_running: bool = False) -> None:
        self._registration = registration
        self.was_running = was_running

    @property
    def registration(self) -> Registration:
        """The current registration. It is read again, because another process may have restarted a node."""
        current = registry.read(self._registration.port)
        if current is not None and current.token == self._registration.token:
            self._registration = current
        return self._registration

    @property
    def port(self) -> int:
        """HTTP port of the first node."""
        return self.registration.port

    @property
    def numbers(self) -> range:
        """The numbers of the nodes, from 1."""
        return range(1, len(self.registration.pids) + 1)

    @property
    def urls(self) -> list[str]:
        """The HTTP addresses of the nodes."""
        return [node.url for node in self.registration.nodes]

    @property
    def url(self) -> str:
        """The HTTP address of the first node."""
        return self.urls[0]

    @property
    def data(self) -> Path:
        """The folder of the nodes' data, configuration and logs."""
        return Path(self.registration.folder)

    @property
    def version(self) -> str:
        """The version of OpenSearch."""
        return self.registration.version

    def pid(self, number: int) -> int:
        """Return the process id of a node; 0 if it is not running.

        Raises:
            EngineError: there is no node with this number.
        """
        self._node(number)
        registration = self.registration
        pid = registration.pids[number - 1]
        return pid if is_running(pid, registration.token) else 0

    def log_tail(self, number: int = 1, lines: int = LOG_LINES) -> list[str]:
        """Return the last lines of a node's log; empty if there is no log.

        Raises:
            EngineError: there is no node with this number.
        """
        return self._node(number).log_tail(lines)

    def status(self) -> Status:
        """Return the current state of the cluster and its nodes."""
        registration = self.registration
        nodes = tuple(self._node_status(node) for node in registration.nodes)
        answering = (registration.nodes[node.number - 1] for node in nodes if node.state == "running")
        health = next((value for node in answering if (value := _health(node)) is not None), None)
        return Status(
            None if health is None else str(health["status"]),
            nodes,
            registration.folder,
            registration.is_ephemeral,
            registration.heap,
            registration.version,
        )

    def kill(self, number: int) -> None:
        """Kill a node, as in a crash. Nothing happens if it is not running.

        Raises:
            EngineError: there is no node with this number.
        """
        if pid := self.pid(number):
            end_processes([pid], self.registration.token, grace=0)

    def restart_node(self, number: int, timeout: float = START_SECONDS) -> None:
        """Start a node that has ended, and wait until it has joined the cluster.

        Raises:
            EngineError: the node is running, does not start within `timeout` seconds, or does not exist.
        """
        if pid := self.pid(number):
            raise EngineError(f"node {number} is already running as process {pid}; kill it first")
        self.launch([number], find_java(), find_jars(self.version))
        self.wait([number], timeout)

    def stop(self, grace: float = STOP_SECONDS) -> int:
        """Stop all nodes. Remove the data if it is ephemeral.

        Args:
            grace: seconds after which the nodes are killed.

        Returns:
            The number of nodes that were running.

        Raises:
            EngineError: a process does not end.
        """
        running = self._running_pids()
        if not self.registration.stop(grace):
            remaining = ", ".join(map(str, self._running_pids()))
            raise EngineError(f"these processes are still running: {remaining}; kill them yourself")
        return len(running)

    def launch(self, numbers: Iterable[int], java: Java, jars: Sequence[Path]) -> None:
        """Start the processes of these nodes. Each process is registered immediately, so that none is forgotten."""
        with as_engine_errors("start the engine"):
            for number in numbers:
                node, registration = self._node(number), self.registration
                node.write_configuration(registration.nodes)
                pids = list(registration.pids)
                pids[number - 1] = node.start(java, jars, registration.heap, registration.token)
                self.register(pids=tuple(pids))

    def wait(self, numbers: Iterable[int], timeout: float, progress: ProgressCallback | None = None) -> None:
        """Wait until these nodes answer, all running nodes form one cluster, and primary shards are allocated.

        It waits for shards for at most 30 seconds.

        Raises:
            EngineError: a node ended, another program uses its port, or `timeout` seconds have passed.
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
        """Change values of the registration, for this and all other processes."""
        self._registration = replace(self.registration, **changes)
        registry.write(self._registration)

    def _running_pids(self) -> list[int]:
        return [pid for pid in map(self.pid, self.numbers) if pid]

    def _node(self, number: int) -> Node:
        if number not in self.numbers:
            raise EngineError(f"there is no node {number}; use a number from 1 to {self.numbers[-1]}")
        return self.registration.nodes[number - 1]

    def _answers(self, node: Node) -> bool:
        """Whether the process of a node answers at its port.

        Raises:
            EngineError: the process ended, or another program answers at the port.
        """
        pid = self.registration.pids[node.number - 1]
        if not self.pid(node.number):
            code = exit_code(pid)
            shown_code = "" if code is None else f" (exit code {code})"
            raise self._failure(node, f"ended during its start{shown_code}")
        answering = node.answering_pid()
        if answering not in {None, pid}:
            raise EngineError(f"another program answers at {node.url}; choose another --port")
        return answering == pid

    def _failure(self, node: Node, problem: str) -> EngineError:
        advice = "see the end of its log" if self.registration.is_ephemeral else f"see its log in {node.log}"
        return EngineError(f"node {node.number} {problem}; {advice}", node.log_tail())

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
    """Return the cluster whose first node has this port. It may have ended. None if no cluster is registered."""
    registration = registry.read(port)
    return None if registration is None else Cluster(registration)


def find_all() -> list[Cluster]:
    """Return all running clusters of this user, ordered by port."""
    return [Cluster(registration) for registration in registry.read_all() if registration.is_running()]


def _health(node: Node) -> Any:
    """Return the cluster health that this node knows. Without `local`, it would wait if there is no cluster manager."""
    return node.get("/_cluster/health?local=true")
