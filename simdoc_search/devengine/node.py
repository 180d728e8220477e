"""Configures and starts one node of a cluster, reads its log, and sends requests to it."""

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

from simdoc_search.devengine.common import DevEngineError
from simdoc_search.devengine.packages import Java
from simdoc_search.devengine.processes import launch_process

HOST = "127.0.0.1"

HTTP_PORTS = range(9200, 9281)
"""Allowed HTTP ports. OpenSearchRunner exits without a message if a port is above 9299."""

TRANSPORT_PORT_OFFSET = 100
"""The difference between the transport port and the HTTP port of a node."""

LOG_LINES = 20
_TIMEOUT_SECONDS = 5.0

LAUNCHER = Path(__file__).with_name("Launcher.java")
"""Janino compiles this file at each start, because the Java installation may not include a compiler."""

_LOG4J_PROPERTIES = """\
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
    """One node of a cluster."""

    number: int  # node number, from 1
    folder: Path  # folder that contains the data, configuration and log of the node
    port: int  # HTTP port

    @property
    def url(self) -> str:
        """The URL of the node."""
        return f"http://{HOST}:{self.port}"

    @property
    def transport_address(self) -> str:
        """The host and port that other nodes connect to, as host:port."""
        return f"{HOST}:{self.port + TRANSPORT_PORT_OFFSET}"

    @property
    def log_path(self) -> Path:
        """The path of the log, with the output of the process. `engine.log.1` is the log of the previous start."""
        return self.folder / "engine.log"

    def write_configuration(self, nodes: Sequence[Node]) -> None:
        """Write the configuration files. `nodes` are all nodes of the cluster, including this one."""
        for name in ("config", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        settings: dict[str, Any] = {
            "network.host": HOST,
            "node.roles": ["cluster_manager", "data", "ingest"],
            "discovery.type": "zen",  # the default of OpenSearch; without it, OpenSearchRunner sets its own value
            "transport.port": self.port + TRANSPORT_PORT_OFFSET,
            "discovery.seed_hosts": [node.transport_address for node in nodes],
            # Use an address, because OpenSearchRunner names every node "Node 1". Only a new cluster uses this setting.
            "cluster.initial_cluster_manager_nodes": [nodes[0].transport_address],
            "path.repo": [str(self.folder.parent / "snapshots")],  # all nodes must write to the same folder
            # Developers' disks are often almost full. By default, indices become read-only on a disk that is 95 % full.
            "cluster.routing.allocation.disk.threshold_enabled": False,
        }
        lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items())
        (self.folder / "config" / "opensearch.yml").write_text(lines, "utf-8")
        (self.folder / "config" / "log4j2.properties").write_text(_LOG4J_PROPERTIES, "utf-8")

    def start(self, java: Java, jars: Sequence[Path], heap: str, token: str) -> int:
        """Start the process of the node, and return the process id.

        Args:
            java: the Java program that runs the node.
            jars: the class path.
            heap: heap size, such as 512m.
            token: a string to add to the command line, by which the process is recognised later.
        """
        with suppress(FileNotFoundError):
            self.log_path.replace(self.log_path.with_name("engine.log.1"))
        command = [
            str(java.program),
            token,
            f"-Xms{heap}",
            f"-Xmx{heap}",
            "-XX:-UsePerfData",  # otherwise Java writes to the system's temporary folder
            f"-Djava.io.tmpdir={self.folder / 'tmp'}",
            f"-XX:ErrorFile={self.folder / 'java_error.log'}",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED",
            *java.options,
            *("org.codehaus.janino.SimpleCompiler", str(LAUNCHER), "Launcher"),
            *("-numOfNode", "1", "-clusterName", "simdoc-search"),
            *("-baseHttpPort", str(self.port - 1)),  # OpenSearchRunner adds 1, the node number
            *("-basePath", str(self.folder), "-confPath", str(self.folder / "config")),
            *("-dataPath", str(self.folder / "data"), "-logsPath", str(self.folder / "logs")),
        ]
        # Process lists show all arguments, so the long class path is passed in an environment variable.
        environment = {"CLASSPATH": os.pathsep.join(map(str, jars))}
        return launch_process(command, self.folder, environment, self.log_path)

    def get(self, path: str) -> Any:
        """Send a GET request, and return the parsed JSON; None unless there is a response with status 200."""
        # Unlike urllib, this does not use a proxy.
        connection = http.client.HTTPConnection(HOST, self.port, timeout=_TIMEOUT_SECONDS)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            body = response.read()
            return json.loads(body) if response.status == 200 else None
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()

    def fetch_responding_pid(self) -> int | None:
        """Return the id of the process that responds on the port.

        Returns None if there is no response, and 0 if the process is not OpenSearch.
        """
        response = self.get("/_nodes/_local/process?filter_path=nodes.*.process.id")
        if response is None:
            return None
        try:
            [process] = response["nodes"].values()
            return int(process["process"]["id"])
        except (LookupError, TypeError, ValueError, AttributeError):
            return 0

    def read_log_tail(self, line_count: int = LOG_LINES) -> list[str]:
        """Return the last lines of the log; empty if there is no log."""
        try:
            with self.log_path.open(encoding="utf-8", errors="replace") as log:
                return [line.rstrip("\n") for line in deque(log, maxlen=line_count)]
        except FileNotFoundError:
            return []


def read_last_port(data: Path) -> int | None:
    """Return the HTTP port of the first node when it last used this data; None if no node has used it."""
    try:
        configuration = (data / "node-1" / "config" / "opensearch.yml").read_text("utf-8")
    except OSError:
        return None
    match = re.search(r"^transport\.port: (\d+)$", configuration, re.MULTILINE)
    return int(match[1]) - TRANSPORT_PORT_OFFSET if match else None


def check_ports(port: int, node_count: int) -> None:
    """Raise DevEngineError if the number of nodes, or the HTTP port of a node, is out of range."""
    if node_count < 1:
        raise DevEngineError(f"a cluster must have at least 1 node, not {node_count}")
    if port not in HTTP_PORTS or port + node_count - 1 not in HTTP_PORTS:
        ports = f"port {port}" if node_count == 1 else f"ports {port} to {port + node_count - 1}"
        raise DevEngineError(
            f"the engine cannot use {ports}; choose another --port, because each node needs a port from "
            f"{HTTP_PORTS[0]} to {HTTP_PORTS[-1]}"
        )


def is_port_in_use(port: int) -> bool:
    """Return whether a program listens on a port, or the port cannot be bound for another reason."""
    for host in ("localhost", HOST):  # OpenSearchRunner checks localhost, which may be the IPv6 address ::1
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            return True
    with socket.socket() as probe:
        # SO_REUSEADDR allows binding a port whose connections are closed. On Windows, it also allows a port in use.
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return True
    return False
