"""Controls a cluster on this machine. Any process can read its state, kill or restart its nodes, and stop it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simdoc_search.devengine import registry
from simdoc_search.devengine.common import DevEngineError, ProgressCallback, as_dev_engine_errors
from simdoc_search.devengine.node import LOG_LINES, Node
from simdoc_search.devengine.packages import Java, find_jars, find_java
from simdoc_search.devengine.processes import end_processes, is_running, read_exit_code
from simdoc_search.devengine.registry import Registration

DEFAULT_PORT = 9201
START_TIMEOUT_SECONDS = 180.0
STOP_GRACE_SECONDS = 20.0

POLL_SECONDS = 0.25
RECOVERY_SECONDS = 30.0
"""Maximum seconds to wait until primary shards are allocated, that is, while the health is red."""


@dataclass(frozen=True)
class NodeStatus:
    """The state of one node."""

    number: int  # node number, from 1
    url: str  # URL of the node
    pid: int  # process id of the node; 0 if it has no process
    # "running" if the node responds, "starting" while the cluster starts, "ended" if the process has ended, or "silent"
    # if the process is running but does not respond
    state: str
    log: str  # path of the log


@dataclass(frozen=True)
class ClusterStatus:
    """The state of a cluster."""

    health: str | None  # "green", "yellow" or "red"; None if no node responds
    nodes: tuple[NodeStatus, ...]  # state of each node
    data: str  # folder that contains the data, configuration and logs of the nodes
    ephemeral: bool  # whether the data is removed when the cluster is stopped
    heap: str  # heap size of each node
    version: str  # version of OpenSearch

    @property
    def is_healthy(self) -> bool:
        """Whether every node responds and all data can be searched."""
        return self.health in {"green", "yellow"} and all(node.state == "running" for node in self.nodes)


class Cluster:
    """A cluster of OpenSearch nodes on this machine, with one process per node.

    Attributes:
        was_running: whether `start_cluster` found the cluster already running.
    """

    def __init__(self, registration: Registration, *, was_running: bool = False) -> None:
        self._registration = registration
        self.was_running = was_running

    @property
    def registration(self) -> Registration:
        """The current registration. Each access reads the file, because another process may have restarted a node."""
        current = registry.read(self._registration.port)
        if current is not None and current.token == self._registration.token:
            self._registration = current
        return self._registration

    @property
    def port(self) -> int:
        """HTTP port of the first node."""
        return self.registration.port

    @property
    def node_numbers(self) -> range:
        """The numbers of the nodes, from 1."""
        return range(1, len(self.registration.pids) + 1)

    @property
    def urls(self) -> list[str]:
        """The URLs of the nodes."""
        return [node.url for node in self.registration.nodes]

    @property
    def url(self) -> str:
        """The URL of the first node."""
        return self.urls[0]

    @property
    def data_folder(self) -> Path:
        """The folder that contains the data, configuration and logs of the nodes."""
        return Path(self.registration.folder)

    @property
    def version(self) -> str:
        """The version of OpenSearch."""
        return self.registration.version

    def pid(self, number: int) -> int:
        """Return the process id of a node; 0 if it is not running.

        Raises:
            DevEngineError: there is no node with this number.
        """
        self._node(number)
        registration = self.registration
        pid = registration.pids[number - 1]
        return pid if is_running(pid, registration.token) else 0

    def read_log_tail(self, number: int = 1, line_count: int = LOG_LINES) -> list[str]:
        """Return the last lines of a node's log; empty if there is no log.

        Raises:
            DevEngineError: there is no node with this number.
        """
        return self._node(number).read_log_tail(line_count)

    def status(self) -> ClusterStatus:
        """Return the current state of the cluster and its nodes."""
        registration = self.registration
        nodes = tuple(self._read_node_status(node) for node in registration.nodes)
        responding = (registration.nodes[node.number - 1] for node in nodes if node.state == "running")
        health = next((value for node in responding if (value := _read_health(node)) is not None), None)
        return ClusterStatus(
            None if health is None else str(health["status"]),
            nodes,
            registration.folder,
            registration.is_ephemeral,
            registration.heap,
            registration.version,
        )

    def kill(self, number: int) -> None:
        """Kill a node, to simulate a crash. If it is not running, nothing happens.

        Raises:
            DevEngineError: there is no node with this number.
        """
        if pid := self.pid(number):
            end_processes([pid], self.registration.token, grace=0)

    def restart_node(self, number: int, timeout: float = START_TIMEOUT_SECONDS) -> None:
        """Start a node that has ended, and wait until it has joined the cluster.

        Raises:
            DevEngineError: the node is running, does not start within `timeout` seconds, or does not exist.
        """
        if pid := self.pid(number):
            raise DevEngineError(f"node {number} is already running (process {pid}); kill this process first")
        self.launch([number], find_java(), find_jars(self.version))
        self.wait_for_nodes([number], timeout)

    def stop(self, grace: float = STOP_GRACE_SECONDS) -> int:
        """Stop all nodes. If the cluster is ephemeral, remove its data.

        Args:
            grace: seconds after which the nodes are killed.

        Returns:
            The number of nodes that were running.

        Raises:
            DevEngineError: a process cannot be terminated.
        """
        running = self._running_pids()
        if not self.registration.stop(grace):
            remaining = ", ".join(map(str, self._running_pids()))
            raise DevEngineError(f"cannot stop the engine; end these processes manually: {remaining}")
        return len(running)

    def launch(self, node_numbers: Iterable[int], java: Java, jars: Sequence[Path]) -> None:
        """Start the processes of these nodes. Each process is registered at once, so that `stop` can find it."""
        with as_dev_engine_errors("start the engine"):
            for number in node_numbers:
                node, registration = self._node(number), self.registration
                node.write_configuration(registration.nodes)
                pids = list(registration.pids)
                pids[number - 1] = node.start(java, jars, registration.heap, registration.token)
                self.update_registration(pids=tuple(pids))

    def wait_for_nodes(
        self, node_numbers: Iterable[int], timeout: float, progress: ProgressCallback | None = None
    ) -> None:
        """Wait until these nodes respond, all running nodes form one cluster, and primary shards are allocated.

        After 30 seconds, shards that are not allocated are ignored.

        Raises:
            DevEngineError: a node ended, another program uses its port, or `timeout` seconds have passed.
        """
        nodes = [self._node(number) for number in node_numbers]
        deadline = time.monotonic() + timeout
        shards_deadline = None  # the deadline is set when all nodes have joined
        reported_count = -1
        while True:
            responding = [node for node in nodes if self._is_responding(node)]
            if progress and len(responding) != reported_count:
                reported_count = len(responding)
                progress(f"starting OpenSearch {self.version}", reported_count, len(nodes))
            health = _read_health(nodes[0]) if len(responding) == len(nodes) else None
            if health is not None and health["number_of_nodes"] >= len(self._running_pids()):
                shards_deadline = shards_deadline or time.monotonic() + RECOVERY_SECONDS
                if health["status"] != "red" or time.monotonic() > shards_deadline:
                    return
            if time.monotonic() > deadline:
                slow_node = next((node for node in nodes if node not in responding), nodes[0])
                raise self._make_error(slow_node, f"was not ready after {timeout:.0f} s")
            time.sleep(POLL_SECONDS)

    def update_registration(self, **changes: Any) -> None:
        """Update values of the registration. Other processes see the new values."""
        self._registration = replace(self.registration, **changes)
        registry.write(self._registration)

    def _running_pids(self) -> list[int]:
        return [pid for pid in map(self.pid, self.node_numbers) if pid]

    def _node(self, number: int) -> Node:
        if number not in self.node_numbers:
            raise DevEngineError(f"there is no node {number}; choose a number from 1 to {self.node_numbers[-1]}")
        return self.registration.nodes[number - 1]

    def _is_responding(self, node: Node) -> bool:
        """Return whether the process of a node responds on the node's port.

        Raises:
            DevEngineError: the process ended, or another program responds on the port.
        """
        pid = self.registration.pids[node.number - 1]
        if not self.pid(node.number):
            code = read_exit_code(pid)
            shown_code = "" if code is None else f" (exit code {code})"
            raise self._make_error(node, f"ended while it was starting{shown_code}")
        responding_pid = node.fetch_responding_pid()
        if responding_pid not in {None, pid}:
            raise DevEngineError(f"another program responds at {node.url}; choose another --port")
        return responding_pid == pid

    def _make_error(self, node: Node, problem: str) -> DevEngineError:
        advice = (
            "see the last lines of the log" if self.registration.is_ephemeral else f"see the log in {node.log_path}"
        )
        return DevEngineError(f"node {node.number} {problem}; {advice}", node.read_log_tail())

    def _read_node_status(self, node: Node) -> NodeStatus:
        pid, is_ready = self.pid(node.number), self.registration.is_ready
        if not pid and is_ready:
            state = "ended"
        elif pid and node.fetch_responding_pid() == pid:
            state = "running"
        else:
            state = "silent" if is_ready else "starting"
        return NodeStatus(node.number, node.url, pid, state, str(node.log_path))


def find_cluster(port: int = DEFAULT_PORT) -> Cluster | None:
    """Return the cluster that is registered for this port, or None. The cluster may have ended."""
    registration = registry.read(port)
    return None if registration is None else Cluster(registration)


def find_running_clusters() -> list[Cluster]:
    """Return all running clusters of this user, ordered by port."""
    return [Cluster(registration) for registration in registry.read_all() if registration.is_running()]


def _read_health(node: Node) -> Any:
    """Return the cluster health as this node knows it. With `local=true`, it does not wait for a cluster manager."""
    return node.get("/_cluster/health?local=true")
