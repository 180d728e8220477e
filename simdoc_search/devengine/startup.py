"""Starts a cluster: claims ports and data, finds the packages, launches the processes and waits for them."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simdoc_search.devengine import registry
from simdoc_search.devengine.cluster import DEFAULT_PORT, START_SECONDS, Cluster
from simdoc_search.devengine.common import EngineError, OnStep, data_folder, file_errors
from simdoc_search.devengine.node import PORTS, TRANSPORT_OFFSET, check_ports, is_port_in_use
from simdoc_search.devengine.packages import OPENSEARCH_VERSION, check_version, find_jars, find_java
from simdoc_search.devengine.registry import TEMPORARY_PREFIX, Registration

DEFAULT_HEAP = "1g"
ABORT_SECONDS = 3.0

FREE_PORTS = range(9210, PORTS.stop)
"""Ports for engines that may have any. People expect their own engines near 9200."""


def start(
    *,
    nodes: int | None = None,
    port: int = DEFAULT_PORT,
    heap: str | None = None,
    version: str | None = None,
    data: str | Path | None = None,
    ephemeral: bool = False,
    timeout: float = START_SECONDS,
    progress: OnStep | None = None,
) -> Cluster:
    """Start a cluster that only this machine can reach, or return the one that runs at the port.

    Its processes outlive this one; `Cluster.stop` ends them. One engine is started at a time.

    Args:
        nodes: number of nodes; None: as many as the data have, or 1.
        port: port of the first node, the others follow; 0: free ports.
        heap: heap size of each node; None: 1g.
        version: version of OpenSearch, such as 2.19.1; None: the default.
        data: folder of the data; None: one in the user's home.
        ephemeral: use a temporary folder, which is removed when the cluster is stopped.
        timeout: maximum seconds, without the first download.
        progress: called with each step.

    Raises:
        EngineError: an argument is impossible, or a node does not start; then no process is left.
        MissingExtraError: jgo or a Java is not installed.
    """
    check_version(version or OPENSEARCH_VERSION)
    if port or nodes is not None:
        check_ports(port or FREE_PORTS[0], nodes or 1)
    if ephemeral and data is not None:
        raise EngineError("an ephemeral engine keeps no data; leave out --data or --ephemeral")
    folder = None if data is None else Path(data).expanduser().resolve()
    wanted = {"nodes": nodes, "heap": heap, "version": version, "data": folder}
    with file_errors("start the engine"), registry.locked():
        running = _running(port, wanted, ephemeral=ephemeral)
        cluster = running or Cluster(_claim(port, wanted, ephemeral=ephemeral))
        stopped = [number for number in cluster.numbers if not cluster.pid(number)]
        if not stopped:
            return cluster
        try:
            cluster.launch(stopped, find_java(), find_jars(cluster.version, progress))
            cluster.wait(stopped, timeout, progress)
            cluster.register(is_ready=True)
        except BaseException:  # also Ctrl-C
            if running is None:
                cluster.stop(ABORT_SECONDS)
            raise
    return cluster


@contextmanager
def running_cluster(
    nodes: int | None = None,
    *,
    port: int = 0,
    heap: str = "512m",
    version: str | None = None,
    data: str | Path | None = None,
    progress: OnStep | None = None,
) -> Iterator[Cluster]:
    """Return a cluster that runs until the `with` block ends; arguments as for `start`.

    Without `data` it is ephemeral. A cluster that ran before the block keeps running.
    """
    options: dict[str, Any] = {"version": version, "data": data, "ephemeral": data is None, "progress": progress}
    cluster = start(nodes=nodes, port=port, heap=heap, **options)
    try:
        yield cluster
    finally:
        if not cluster.was_running:
            cluster.stop()


def free_port(nodes: int = 1) -> int:
    """Return the first of some consecutive ports that are free now.

    Raises:
        EngineError: there are none.
    """
    taken = {port for other in registry.read_all() if other.is_running() for port in other.ports}
    # From a random one on, so that two processes at the same time find different ports.
    possible = list(range(FREE_PORTS.start, FREE_PORTS.stop - nodes + 1))
    begin = secrets.randbelow(len(possible)) if possible else 0
    for first in [*possible[begin:], *possible[:begin]]:
        ports = range(first, first + nodes)
        if not any(port in taken or is_port_in_use(port) or is_port_in_use(port + TRANSPORT_OFFSET) for port in ports):
            return first
    raise EngineError(f"no {nodes} ports in a row are free between {FREE_PORTS[0]} and {FREE_PORTS[-1]}")


def _running(port: int, wanted: dict[str, Any], *, ephemeral: bool) -> Cluster | None:
    """Return the cluster at the port if it is as wanted; remove the remains of one that ended."""
    registered = registry.read(port)
    if registered is None:
        return None
    if not (registered.is_ready and registered.is_running()):
        registered.discard(ABORT_SECONDS)
        return None
    has = {
        "nodes": len(registered.pids),
        "heap": registered.heap,
        "version": registered.version,
        "data": Path(registered.folder),
    }
    differences = [
        f"{name} {has[name]}, not {value}" for name, value in wanted.items() if value not in {None, has[name]}
    ]
    if ephemeral and not registered.is_ephemeral:
        differences.append("data that it keeps")
    if differences:
        raise EngineError(
            f"the engine that runs on port {port} has {' and '.join(differences)}; use it as it is, stop it, "
            "or choose another --port"
        )
    return Cluster(registered, was_running=True)


def _claim(port: int, wanted: dict[str, Any], *, ephemeral: bool) -> Registration:
    """Register a new cluster, if its ports and its data are free."""
    others = [other for other in registry.read_all() if other.is_running()]
    folder: Path = wanted["data"] or data_folder() / "data"
    count = 0 if ephemeral else _count_nodes(folder, others)
    nodes = wanted["nodes"] or count or 1
    if nodes < count:  # a majority of the nodes elects a manager
        raise EngineError(
            f"the data in {folder} are of {count} nodes; leave out --nodes, or name other data with --data"
        )
    port = port or free_port(nodes)
    check_ports(port, nodes)
    ports = range(port, port + nodes)
    taken = {used for other in others for used in other.ports}
    for needed in (*ports, *(http + TRANSPORT_OFFSET for http in ports)):
        if needed in taken or is_port_in_use(needed):
            who = "another engine of yours" if needed in taken else "another program"
            raise EngineError(f"port {needed} is in use by {who}; stop that, or choose another --port")
    if ephemeral:
        folder = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX))
    folder.mkdir(parents=True, exist_ok=True)
    claimed = Registration(
        port=port,
        folder=str(folder),
        is_ephemeral=ephemeral,
        heap=wanted["heap"] or DEFAULT_HEAP,
        version=wanted["version"] or OPENSEARCH_VERSION,
        token=f"-Dsimdoc.engine={secrets.token_hex(8)}",
        pids=(0,) * nodes,
    )
    registry.write(claimed)
    return claimed


def _count_nodes(folder: Path, others: list[Registration]) -> int:
    """Return the number of nodes that have data in a folder, which no other engine may use."""
    for other in others:
        if other.folder == str(folder):
            raise EngineError(
                f"the engine on port {other.port} uses the data in {folder}; name others with --data, "
                "or keep none with --ephemeral"
            )
    return len(list(folder.glob("node-*/data/nodes")))
