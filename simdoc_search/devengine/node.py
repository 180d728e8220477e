"""One OpenSearch process: its ports, configuration, start, answers and log."""

from __future__ import annotations

import http.client
import json
import os
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
"""Possible HTTP ports. Above 9299 the runner ends without a message; the transport ports are 100 higher."""

TRANSPORT_OFFSET = 100
LOG_LINES = 20

LAUNCHER = Path(__file__).with_name("Launcher.java")
"""Janino compiles it at each start, as a package of Java may have no compiler."""

_LOGGING = """\
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
    """One node of a cluster.

    Attributes:
        number: its number, from 1.
        folder: folder of all its files.
        port: its HTTP port.
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
        """Its address for other nodes."""
        return f"{HOST}:{self.port + TRANSPORT_OFFSET}"

    @property
    def log(self) -> Path:
        """Its output. That of the previous start is beside it."""
        return self.folder / "engine.log"

    def configure(self, nodes: Sequence[Node]) -> None:
        """Write its configuration; `nodes` are all nodes of the cluster."""
        for name in ("config", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        settings: dict[str, Any] = {
            "network.host": HOST,
            "node.roles": ["cluster_manager", "data", "ingest"],
            "discovery.type": "zen",  # the default, so that the runner sets no other
            "transport.port": self.port + TRANSPORT_OFFSET,
            "discovery.seed_hosts": [node.transport for node in nodes],
            # By address, as the runner names every node "Node 1". Nodes that have been a cluster do not use it.
            "cluster.initial_cluster_manager_nodes": [nodes[0].transport],
            "path.repo": [str(self.folder.parent / "snapshots")],  # shared by all nodes, as each writes its shards
            # At 95 %, which disks of developers often exceed, indexes would become read-only.
            "cluster.routing.allocation.disk.threshold_enabled": False,
        }
        lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items())
        (self.folder / "config" / "opensearch.yml").write_text(lines, "utf-8")
        (self.folder / "config" / "log4j2.properties").write_text(_LOGGING, "utf-8")

    def start(self, java: Java, jars: Sequence[Path], heap: str, token: str) -> int:
        """Start the process and return its id; `token` is an argument that identifies it."""
        with suppress(FileNotFoundError):
            self.log.replace(self.log.with_name("engine.log.1"))
        command = [
            str(java.program),
            token,
            f"-Xms{heap}",
            f"-Xmx{heap}",
            "-XX:-UsePerfData",  # or Java writes to the system's temporary folder
            f"-Djava.io.tmpdir={self.folder / 'tmp'}",
            f"-XX:ErrorFile={self.folder / 'java_error.log'}",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED",
            *java.options,
            *("org.codehaus.janino.SimpleCompiler", str(LAUNCHER), "Launcher"),
            *("-numOfNode", "1", "-clusterName", "simdoc-search"),
            *("-baseHttpPort", str(self.port - 1)),  # the runner adds the number of the node
            *("-basePath", str(self.folder), "-confPath", str(self.folder / "config")),
            *("-dataPath", str(self.folder / "data"), "-logsPath", str(self.folder / "logs")),
        ]
        # The class path would double the length of the command in process lists.
        environment = {"CLASSPATH": os.pathsep.join(map(str, jars))}
        return launch(command, self.folder, environment, self.log)

    def ask(self, path: str, timeout: float = 5.0) -> Any:
        """Return the answer to GET from JSON; None without an answer, or for an error status."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=timeout)  # uses no proxy
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
        """Return the process that answers at its port; None if none does, 0 if it is not OpenSearch."""
        answer = self.ask("/_nodes/_local/process?filter_path=nodes.*.process.id")
        if answer is None:
            return None
        try:
            [process] = answer["nodes"].values()
            return int(process["process"]["id"])
        except (LookupError, TypeError, ValueError, AttributeError):
            return 0

    def log_end(self, lines: int = LOG_LINES) -> list[str]:
        """Return the last lines of its log."""
        try:
            with self.log.open(encoding="utf-8", errors="replace") as log:
                return [line.rstrip("\n") for line in deque(log, maxlen=lines)]
        except FileNotFoundError:
            return []


def check_ports(port: int, nodes: int) -> None:
    """Raise EngineError if the nodes cannot start at these ports."""
    if nodes < 1:
        raise EngineError(f"a cluster cannot have {nodes} nodes; give at least 1")
    if port not in PORTS or port + nodes - 1 not in PORTS:
        wanted = f"port {port}" if nodes == 1 else f"ports {port} to {port + nodes - 1}"
        raise EngineError(
            f"the engine cannot have {wanted}; choose --port so that all are in {PORTS[0]} to {PORTS[-1]}"
        )


def is_port_in_use(port: int) -> bool:
    """Return whether a program listens at a port, or none may."""
    for host in ("localhost", HOST):  # the runner checks localhost, which may also be ::1
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            return True
    with socket.socket() as probe:
        if os.name == "posix":  # allows ports of ending connections; elsewhere the option allows used ports
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return True
    return False
