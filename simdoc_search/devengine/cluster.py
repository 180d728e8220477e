"""A cluster that was started: what can be asked of it and done to it, from any process."""

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
from simdoc_search.devengine.processes import exit_code, kill
from simdoc_search.devengine.registry import Registration

DEFAULT_PORT = 9201
START_SECONDS = 180.0
STOP_SECONDS = 20.0

POLL_SECONDS = 0.25
RECOVERY_SECONDS = 30.0
"""How long a start waits for the shards; after that the health says what is amiss."""


@dataclass(frozen=True)
class NodeStatus:
    """How one node is.

    Attributes:
        number: from 1 on.
        url: its address.
        pid: its process; 0 if there is none.
        state: "running" if it answers, "starting" or "silent" if it does not, "ended" if its process is gone.
        log: the path of its log.
    """

    number: int
    url: str
    pid: int
    state: str
    log: str


@dataclass(frozen=True)
class Status:
    """How a cluster is.

    Attributes:
        health: "green", "yellow" or "red"; None if no node answers.
        nodes: each of its nodes.
        data: the folder of its data.
        ephemeral: whether the data go when it stops.
        heap: of each node.
        version: of OpenSearch.
    """

    health: str | None
    nodes: tuple[NodeStatus, ...]
    data: str
    ephemeral: bool
    heap: str
    version: str

    @property
    def is_well(self) -> bool:
        """True if every node answers and all data can be searched."""
        return self.health in {"green", "yellow"} and all(node.state == "running" for node in self.nodes)


class Cluster:
    """Nodes of OpenSearch on this machine, one process each.

    Attributes:
        was_running: whether `start` found it running.
    """

    def __init__(self, registration: Registration, *, was_running: bool = False) -> None:
        self._known = registration
        self.was_running = was_running

    @property
    def port(self) -> int:
        """The port of its first node."""
        return self._now.port

    @property
    def numbers(self) -> range:
        """The numbers of its nodes."""
        return range(1, len(self._now.pids) + 1)

    @property
    def urls(self) -> list[str]:
        """The addresses of its nodes."""
        return [node.url for node in self._now.nodes]

    @property
    def url(self) -> str:
        """The address of its first node."""
        return self.urls[0]

    @property
    def data(self) -> Path:
        """Where its nodes have their data, configuration and logs."""
        return Path(self._now.folder)

    @property
    def version(self) -> str:
        """Of OpenSearch."""
        return self._now.version

    def pid(self, number: int) -> int:
        """The process of a node; 0 if there is none."""
        self._node(number)
        alive = self._now.is_node_alive(number)
        return self._now.pids[number - 1] if alive else 0

    def log_end(self, number: int = 1, lines: int = LOG_LINES) -> list[str]:
        """The last lines of a node's log."""
        return self._node(number).log_end(lines)

    def status(self) -> Status:
        """How it is now."""
        known = self._now
        nodes = tuple(self._node_status(node) for node in known.nodes)
        answering = (known.nodes[each.number - 1] for each in nodes if each.state == "running")
        healths = (health for node in answering if (health := _health(node)) is not None)
        return Status(
            health=next((str(health["status"]) for health in healths), None),
            nodes=nodes,
            data=known.folder,
            ephemeral=known.is_ephemeral,
            heap=known.heap,
            version=known.version,
        )

    def kill(self, number: int) -> None:
        """End a node as a crash would, with no chance to say goodbye."""
        self._node(number)
        kill(self._now.pids[number - 1], self._now.token)

    def restart_node(self, number: int, timeout: float = START_SECONDS) -> None:
        """Start a node again, and wait until it has joined.

        Raises:
            EngineError: it runs, or does not start.
        """
        self._node(number)
        if self.pid(number):
            raise EngineError(f"node {number} runs already, as process {self.pid(number)}; stop it first")
        self.launch([number], find_java(), find_jars(self.version), is_first_start=False)
        self.wait([number], timeout)

    def stop(self, patience: float = STOP_SECONDS) -> int:
        """End all nodes and wait for it; an ephemeral cluster loses its data.

        Args:
            patience: seconds after which the nodes are killed.

        Returns:
            How many nodes were running.

        Raises:
            EngineError: a process does not end.
        """
        running = [pid for pid in map(self.pid, self.numbers) if pid]
        if not self._now.discard(patience):
            left = [pid for pid in map(self.pid, self.numbers) if pid]
            raise EngineError(f"processes {', '.join(map(str, left))} do not end; kill them by hand")
        return len(running)

    def launch(self, numbers: Iterable[int], java: Java, jars: Sequence[Path], *, is_first_start: bool) -> None:
        """Start the processes of some nodes; each is registered at once, so that none is ever lost."""
        with file_errors("start the engine"):
            for number in numbers:
                node = self._node(number)
                node.configure(self._now.nodes, is_first_start=is_first_start)
                pids = list(self._now.pids)
                pids[number - 1] = node.start(java, jars, self._now.heap, self._now.token)
                self._note(pids=tuple(pids))

    def wait(self, numbers: Iterable[int], timeout: float, progress: OnStep | None = None) -> None:
        """Wait until some nodes answer, all that run know each other, and they can search what they have.

        Raises:
            EngineError: one of these nodes ended, or the time is up.
        """
        nodes = [self._node(number) for number in numbers]
        deadline = time.monotonic() + timeout
        patience = None
        told = -1
        while True:
            answering = [node for node in nodes if self._answers(node)]
            if progress and len(answering) != told:
                told = len(answering)
                progress(f"starting OpenSearch {self._now.version}", told, len(nodes))
            health = _health(nodes[0]) if len(answering) == len(nodes) else None
            if health is not None and health["number_of_nodes"] >= sum(map(bool, map(self.pid, self.numbers))):
                patience = patience or time.monotonic() + RECOVERY_SECONDS
                if health["status"] != "red" or time.monotonic() > patience:
                    return
            if time.monotonic() > deadline:
                slow = next((node for node in nodes if node not in answering), nodes[0])
                raise EngineError(
                    f"node {slow.number} was not ready after {timeout:.0f} s{self._log_place(slow)}", slow.log_end()
                )
            time.sleep(POLL_SECONDS)

    def ready(self) -> None:
        """Note that it has been started."""
        self._note(is_ready=True)

    @property
    def _now(self) -> Registration:
        """What is registered; another process may have started a node again, and this one must not forget it."""
        there = registry.read(self._known.port)
        if there is not None and there.token == self._known.token:
            self._known = there
        return self._known

    def _note(self, **changes: Any) -> None:
        self._known = replace(self._now, **changes)
        registry.write(self._known)

    def _node(self, number: int) -> Node:
        if number not in self.numbers:
            raise EngineError(f"there is no node {number}; the engine's nodes are 1 to {self.numbers[-1]}")
        return self._now.nodes[number - 1]

    def _answers(self, node: Node) -> bool:
        """True if a node's own process answers at its port."""
        pid = self._now.pids[node.number - 1]
        if not self._now.is_node_alive(node.number):
            raise self._failure(node, exit_code(pid))
        answering = node.answering_pid()
        if answering not in {None, pid}:
            raise EngineError(f"another program answers at {node.url}; choose another --port")
        return answering == pid

    def _failure(self, node: Node, code: int | None) -> EngineError:
        """Why a node ended, as far as can be found out."""
        said = "" if code is None else f" (exit code {code})"
        return EngineError(
            f"node {node.number} ended while it was started{said}{self._log_place(node)}", node.log_end()
        )

    def _log_place(self, node: Node) -> str:
        return "; see the end of its log" if self._now.is_ephemeral else f"; its log is {node.log}"

    def _node_status(self, node: Node) -> NodeStatus:
        pid = self.pid(node.number)
        if not pid and self._now.is_ready:
            state = "ended"
        elif pid and node.answering_pid() == pid:
            state = "running"
        else:
            state = "silent" if self._now.is_ready else "starting"
        return NodeStatus(node.number, node.url, pid, state, str(node.log))


def find(port: int = DEFAULT_PORT) -> Cluster | None:
    """The cluster whose first node has a port: it runs, is being started, or ended without being stopped."""
    registration = registry.read(port)
    return None if registration is None else Cluster(registration)


def find_all() -> list[Cluster]:
    """All clusters of this user that run, or are being started."""
    return [Cluster(each) for each in registry.read_all() if each.is_in_use()]


def _health(node: Node) -> Any:
    """What a node knows of its cluster; `local`, as otherwise it would wait for a manager that is gone."""
    return node.ask("/_cluster/health?local=true")
