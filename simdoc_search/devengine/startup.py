"""Starts a cluster. Chooses its ports and folder, downloads packages, starts its processes, and waits for them."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simdoc_search.devengine import registry
from simdoc_search.devengine.cluster import DEFAULT_PORT, START_TIMEOUT_SECONDS, Cluster
from simdoc_search.devengine.common import DevEngineError, ProgressCallback, as_dev_engine_errors, data_folder
from simdoc_search.devengine.node import HTTP_PORTS, TRANSPORT_PORT_OFFSET, check_ports, is_port_in_use, read_last_port
from simdoc_search.devengine.packages import OPENSEARCH_VERSION, check_version, find_jars, find_java
from simdoc_search.devengine.registry import TEMPORARY_PREFIX, Registration

DEFAULT_HEAP = "1g"
ABORT_GRACE_SECONDS = 3.0

FREE_PORT_CANDIDATES = range(9210, HTTP_PORTS.stop)
"""Ports that `find_free_port` may choose. Ports near 9200 are reserved for engines that users start themselves."""


def start_cluster(
    *,
    nodes: int | None = None,
    port: int | None = None,
    heap: str | None = None,
    version: str | None = None,
    data: str | Path | None = None,
    ephemeral: bool = False,
    timeout: float = START_TIMEOUT_SECONDS,
    progress: ProgressCallback | None = None,
) -> Cluster:
    """Start a cluster that only this machine can reach. If a suitable cluster runs on the port, return it instead.

    The nodes keep running after this process ends. `Cluster.stop` stops them. If several processes call this function,
    each call waits until the previous one has returned.

    Args:
        nodes: number of nodes. None selects the number of nodes that have data in the folder, or 1.
        port: HTTP port of the first node, 9200 to 9280. The other nodes use the next ports. 0 selects free ports. None
            selects the port that last had the data, or 9201.
        heap: heap size of each node; None selects 1g.
        version: version of OpenSearch, such as 2.19.1; None selects the default version.
        data: folder for the data; None selects the default folder in the user's home.
        ephemeral: whether to use a temporary folder, which is removed when the cluster is stopped.
        timeout: maximum seconds until the nodes are ready. The time of the download is not counted.
        progress: called at each step.

    Raises:
        DevEngineError: an argument is invalid, a port or the data is in use, or a node does not start. The processes of
            a new cluster are then ended.
        MissingExtraError: the extra `engine` is not installed.
    """
    check_version(version or OPENSEARCH_VERSION)
    if ephemeral and data is not None:
        raise DevEngineError("an ephemeral engine uses a temporary folder; omit --data or --ephemeral")
    folder = None if data is None else Path(data).expanduser().resolve()
    with as_dev_engine_errors("use the data folder"):
        if folder is not None and folder.exists() and not folder.is_dir():
            raise DevEngineError(f"{folder} is not a folder; choose a folder with --data")
    if port is None:
        port = (None if ephemeral else read_last_port(folder or data_folder() / "data")) or DEFAULT_PORT
    if port or nodes is not None:
        check_ports(port or FREE_PORT_CANDIDATES[0], nodes or 1)
    requested_options = {"nodes": nodes, "heap": heap, "version": version, "data": folder}
    with as_dev_engine_errors("start the engine"), registry.startup_lock():
        running = _find_running_cluster(port, requested_options, ephemeral=ephemeral)
        cluster = running or Cluster(_register_new_cluster(port, requested_options, ephemeral=ephemeral))
        stopped = [number for number in cluster.node_numbers if not cluster.pid(number)]
        if not stopped:
            return cluster
        try:
            cluster.launch(stopped, find_java(), find_jars(cluster.version, progress))
            cluster.wait_for_nodes(stopped, timeout, progress)
            cluster.update_registration(is_ready=True)
        except BaseException:  # this includes Ctrl-C
            if running is None:
                cluster.stop(ABORT_GRACE_SECONDS)
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
    progress: ProgressCallback | None = None,
) -> Iterator[Cluster]:
    """Start a cluster, and stop it at the end of the `with` block. The arguments are those of `start_cluster`.

    Without `data`, the cluster is ephemeral. If the cluster was already running, it is not stopped.
    """
    options: dict[str, Any] = {"version": version, "data": data, "ephemeral": data is None, "progress": progress}
    cluster = start_cluster(nodes=nodes, port=port, heap=heap, **options)
    try:
        yield cluster
    finally:
        if not cluster.was_running:
            cluster.stop()


def find_free_port(node_count: int = 1) -> int:
    """Return the first of `node_count` consecutive free ports from 9210 to 9280.

    Raises:
        DevEngineError: there are not enough consecutive free ports.
    """
    engine_ports = {port for other in registry.read_all() if other.is_running() for port in other.ports}
    # The search begins at a random port, so that concurrent processes usually find different ports.
    candidates = list(range(FREE_PORT_CANDIDATES.start, FREE_PORT_CANDIDATES.stop - node_count + 1))
    offset = secrets.randbelow(len(candidates)) if candidates else 0
    for first in [*candidates[offset:], *candidates[:offset]]:
        ports = range(first, first + node_count)
        if not any(
            port in engine_ports or is_port_in_use(port) or is_port_in_use(port + TRANSPORT_PORT_OFFSET)
            for port in ports
        ):
            return first
    needed = "a free port" if node_count == 1 else f"{node_count} consecutive free ports"
    raise DevEngineError(
        f"cannot find {needed} from {FREE_PORT_CANDIDATES[0]} to {FREE_PORT_CANDIDATES[-1]}; stop other engines"
    )


def _find_running_cluster(port: int, requested_options: dict[str, Any], *, ephemeral: bool) -> Cluster | None:
    """Return the cluster that runs on the port, or None. Clean up after a cluster that has ended.

    Raises:
        DevEngineError: the cluster was started with options that differ from the requested ones.
    """
    registered = registry.read(port)
    if registered is None:
        return None
    if not (registered.is_ready and registered.is_running()):
        registered.stop(ABORT_GRACE_SECONDS)
        return None
    actual = {
        "nodes": len(registered.pids),
        "heap": registered.heap,
        "version": registered.version,
        "data": Path(registered.folder),
    }
    differences = [
        f"{name}: {actual[name]}, not {value}"
        for name, value in requested_options.items()
        if value not in {None, actual[name]}
    ]
    if ephemeral and not registered.is_ephemeral:
        differences.append("data: kept when the engine is stopped, not deleted")
    if differences:
        raise DevEngineError(
            f"the running engine on port {port} has options that differ from yours ({'; '.join(differences)}); omit "
            "these options, stop the engine, or choose another --port"
        )
    return Cluster(registered, was_running=True)


def _register_new_cluster(port: int, requested_options: dict[str, Any], *, ephemeral: bool) -> Registration:
    """Register a new cluster.

    Raises:
        DevEngineError: a port or the folder is in use, or the folder contains the data of more nodes than requested.
    """
    others = [other for other in registry.read_all() if other.is_running()]
    folder: Path = requested_options["data"] or data_folder() / "data"
    nodes_with_data = 0
    if not ephemeral:
        for other in others:
            if other.folder == str(folder):
                raise DevEngineError(
                    f"the engine on port {other.port} uses the data in {folder}; choose another folder with --data, "
                    "or use --ephemeral"
                )
        nodes_with_data = len(list(folder.glob("node-*/data/nodes")))
    nodes = requested_options["nodes"] or nodes_with_data or 1
    if nodes < nodes_with_data:  # fewer nodes may not be enough to elect a cluster manager
        raise DevEngineError(
            f"{folder} contains the data of {nodes_with_data} nodes, more than {nodes}; omit --nodes, or choose "
            "another folder with --data"
        )
    port = port or find_free_port(nodes)
    check_ports(port, nodes)
    ports = range(port, port + nodes)
    engine_ports = {used_port for other in others for used_port in other.ports}
    for needed in (*ports, *(http_port + TRANSPORT_PORT_OFFSET for http_port in ports)):
        if needed in engine_ports or is_port_in_use(needed):
            user = "another engine" if needed in engine_ports else "another program"
            raise DevEngineError(f"port {needed} is in use by {user}; free this port, or choose another --port")
    if ephemeral:
        folder = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX))
    folder.mkdir(parents=True, exist_ok=True)
    registration = Registration(
        port=port,
        folder=str(folder),
        is_ephemeral=ephemeral,
        heap=requested_options["heap"] or DEFAULT_HEAP,
        version=requested_options["version"] or OPENSEARCH_VERSION,
        token=f"-Dsimdoc.engine={secrets.token_hex(8)}",
        pids=(0,) * nodes,
    )
    registry.write(registration)
    return registration
