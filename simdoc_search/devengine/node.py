"""One OpenSearch process: its ports, its folder and configuration, its start, its answers, the end of its log."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simdoc_search.devengine.common import EngineError
from simdoc_search.devengine.packages import Java
from simdoc_search.devengine.processes import launch

HOST = "127.0.0.1"
PORTS = range(9200, 9281)
"""The runner ends without a word where its port passes 9299; what is above these is kept for the transport."""

TRANSPORT_OFFSET = 100
LOG_LINES = 20
MIN_HEAP_BYTES = 128 << 20
UNITS = {"k": 10, "m": 20, "g": 30}

LAUNCHER = Path(__file__).with_name("Launcher.java")
"""Compiled by Janino whenever it is started: a package of Java may have no compiler."""

LOGGING = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


@dataclass(frozen=True)
class Node:
    """One node of a cluster on this machine.

    Attributes:
        number: from 1 on.
        folder: all its files, also its log.
        port: where it speaks HTTP.
    """

    number: int
    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{HOST}:{self.port}"

    @property
    def transport(self) -> str:
        """Where it speaks with other nodes."""
        return f"{HOST}:{self.port + TRANSPORT_OFFSET}"

    @property
    def log(self) -> Path:
        """What it prints; the log of the start before is beside it."""
        return self.folder / "engine.log"

    def configure(self, nodes: Sequence[Node], *, is_first_start: bool) -> None:
        """Write its configuration.

        Args:
            nodes: all nodes of the cluster.
            is_first_start: whether the nodes have never been a cluster; only then may they make one.
        """
        for name in ("config", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        settings: dict[str, Any] = {
            "network.host": HOST,
            "node.roles": ["cluster_manager", "data", "ingest"],
            "discovery.type": "zen",  # what is usual, so that the runner does not choose otherwise
            "transport.port": self.port + TRANSPORT_OFFSET,
            "discovery.seed_hosts": [node.transport for node in nodes],
            "path.repo": [str(self.folder.parent / "snapshots")],  # of all nodes: a snapshot has the shards of each
            # The disks of those who develop are often fuller than the 95 % at which indexes become read-only.
            "cluster.routing.allocation.disk.threshold_enabled": False,
        }
        if is_first_start:
            # By address, as the runner names every node "Node 1".
            settings["cluster.initial_cluster_manager_nodes"] = [nodes[0].transport]
        lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items())
        (self.folder / "config" / "opensearch.yml").write_text(lines, "utf-8")
        (self.folder / "config" / "log4j2.properties").write_text(LOGGING, "utf-8")

    def start(self, java: Java, jars: Sequence[Path], heap: str, token: str) -> int:
        """Start the process.

        Args:
            java: what runs it.
            jars: its class path.
            heap: its size, like 512m.
            token: an option by which the process is known again.

        Returns:
            The id of the process.
        """
        with suppress(FileNotFoundError):
            self.log.replace(self.log.with_name("engine.log.1"))
        temporary = self.folder / "tmp"
        command = [
            str(java.program),
            token,
            f"-Xms{heap}",
            f"-Xmx{heap}",
            "-XX:-UsePerfData",  # which would be in the system's folder for temporary files
            f"-Djava.io.tmpdir={temporary}",
            f"-XX:ErrorFile={self.folder / 'java_error.log'}",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED",
            *java.options,
            *("org.codehaus.janino.SimpleCompiler", str(LAUNCHER), "Launcher"),
            *("-numOfNode", "1", "-clusterName", "simdoc-search"),
            *("-baseHttpPort", str(self.port - 1)),  # the runner counts its nodes from 1
            *("-basePath", str(self.folder), "-confPath", str(self.folder / "config")),
            *("-dataPath", str(self.folder / "data"), "-logsPath", str(self.folder / "logs")),
        ]
        # The class path is as long as all else that a list of processes shows.
        environment = {"CLASSPATH": os.pathsep.join(map(str, jars))}
        return launch(command, self.folder, environment, self.log)

    def ask(self, path: str, timeout: float = 5.0) -> Any:
        """What it answers to GET, from JSON; None if it does not, or with an error."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=timeout)  # knows no proxies
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            body = response.read()
            return json.loads(body) if response.status == 200 else None
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()

    def answering_pid(self) -> int | None:
        """The id of the process that answers at its port; None if none does, 0 if it is no OpenSearch."""
        answer = self.ask("/_nodes/_local/process?filter_path=nodes.*.process.id")
        if answer is None:
            return None
        try:
            [process] = answer["nodes"].values()
            return int(process["process"]["id"])
        except (LookupError, TypeError, ValueError, AttributeError):
            return 0

    def log_end(self, lines: int = LOG_LINES) -> list[str]:
        """The last lines of its log."""
        try:
            with self.log.open(encoding="utf-8", errors="replace") as log:
                return [line.rstrip("\n") for line in deque(log, maxlen=lines)]
        except FileNotFoundError:
            return []


def check_heap(heap: str) -> None:
    """Complain of a heap that Java would not understand, or in which OpenSearch does not start.

    Raises:
        EngineError: it is one of these.
    """
    found = re.fullmatch(r"([1-9]\d*)([kmg])", heap, re.ASCII | re.IGNORECASE)
    if not found:
        raise EngineError(f"{heap!r} is no size of a heap; write 512m or 1g")
    if int(found[1]) << UNITS[found[2].lower()] < MIN_HEAP_BYTES:
        raise EngineError(f"a heap of {heap} is too small for OpenSearch; give at least {MIN_HEAP_BYTES >> 20}m")


def check_ports(port: int, nodes: int) -> None:
    """Complain of ports at which the engine would not start.

    Raises:
        EngineError: they are outside of PORTS.
    """
    if nodes < 1:
        raise EngineError(f"{nodes} nodes are no cluster; give at least 1")
    if port not in PORTS or port + nodes - 1 not in PORTS:
        wanted = f"port {port}" if nodes == 1 else f"ports {port} to {port + nodes - 1}"
        raise EngineError(
            f"the engine cannot have {wanted}; choose --port so that all are in {PORTS[0]} to {PORTS[-1]}"
        )


def is_port_in_use(port: int) -> bool:
    """True if something listens there, or nothing may."""
    for host in ("localhost", HOST):  # the runner looks at localhost, which may also be ::1
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            return True
    with socket.socket() as tried:
        if os.name == "posix":  # connections that are ending are no hindrance; elsewhere it means another thing
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except OSError:
            return True
    return False
