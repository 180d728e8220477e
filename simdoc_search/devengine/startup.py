"""Starts a cluster: claims ports and data, finds the packages, launches the processes and waits for them."""

from __future__ import annotations

import json
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
from simdoc_search.devengine.packages import OPENSEARCH_VERSION, find_jars, find_java, version_numbers
from simdoc_search.devengine.registry import TEMPORARY_PREFIX, Registration
from simdoc_search.small_files import parse_json, read_small

DEFAULT_HEAP = "1g"
ABORT_SECONDS = 3.0

MARKER = "engine.json"
"""The file with the number of nodes and the version of some data, written once they have formed a cluster."""

FREE_PORTS = range(9210, PORTS.stop)
"""Ports for engines that may have any. People expect their own engines near 9200."""

_MAX_MARKER_BYTES = 1 << 16


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
        version: version of OpenSearch, such as 2.19.1; None: the default, or that of the data if it is newer.
        data: folder of the data; None: one in the user's home.
        ephemeral: use a temporary folder, which is removed when the cluster is stopped.
        timeout: maximum seconds, without the first download.
        progress: called with each step.

    Raises:
        EngineError: an argument is impossible, or a node does not start; then no process is left.
        MissingExtraError: jgo or a Java is not installed.
    """
    if version is not None:
        version_numbers(version)
    if port or nodes is not None:
        check_ports(port or FREE_PORTS[0], nodes or 1)
    if ephemeral and data is not None:
        raise EngineError("an ephemeral engine keeps no data; leave out --data or --ephemeral")
    folder = None if data is None else Path(data).expanduser().resolve()
    wanted = {"nodes": nodes, "heap": heap, "version": version, "data": folder}
    with file_errors("start the engine"), registry.locked():
        running = _running(port, wanted, ephemeral=ephemeral)
        if running is not None:
            ended = [number for number in running.numbers if not running.pid(number)]
            if ended:
                running.launch(ended, find_java(), find_jars(running.version, progress), is_first_start=False)
                running.wait(ended, timeout, progress)
            return running
        cluster = Cluster(_claim(port, wanted, ephemeral=ephemeral))
        try:
            java, jars = find_java(), find_jars(cluster.version, progress)
            cluster.launch(cluster.numbers, java, jars, is_first_start=_read_marker(cluster.data) is None)
            cluster.wait(cluster.numbers, timeout, progress)
            _write_marker(cluster)
            cluster.register(is_ready=True)
        except BaseException:  # also Ctrl-C
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
    taken = {port for each in registry.read_all() if each.is_running() for port in each.ports}
    # From a random one on, so that two processes at the same time find different ports.
    possible = list(range(FREE_PORTS.start, FREE_PORTS.stop - nodes + 1))
    begin = secrets.randbelow(len(possible)) if possible else 0
    for first in [*possible[begin:], *possible[:begin]]:
        ports = range(first, first + nodes)
        if not any(port in taken or is_port_in_use(port) or is_port_in_use(port + TRANSPORT_OFFSET) for port in ports):
            return first
    raise EngineError(f"no {nodes} ports in a row are free between {FREE_PORTS[0]} and {FREE_PORTS[-1]}")


def _running(port: int, wanted: dict[str, Any], *, ephemeral: bool) -> Cluster | None:
    """Return the cluster at the port if it is as wanted; remove the remains of another one."""
    found = registry.read(port)
    if found is None:
        return None
    if not (found.is_ready and found.is_running()):
        found.discard(ABORT_SECONDS)
        return None
    has = {"nodes": len(found.pids), "heap": found.heap, "version": found.version, "data": Path(found.folder)}
    differences = [
        f"{name} {has[name]}, not {value}" for name, value in wanted.items() if value not in {None, has[name]}
    ]
    if ephemeral and not found.is_ephemeral:
        differences.append("data that it keeps")
    if differences:
        raise EngineError(
            f"the engine that runs on port {found.port} has {' and '.join(differences)}; use it as it is, stop it, "
            "or choose another --port"
        )
    return Cluster(found, was_running=True)


def _claim(port: int, wanted: dict[str, Any], *, ephemeral: bool) -> Registration:
    """Register a new cluster, if its ports and its data are free."""
    others = [each for each in registry.read_all() if each.is_running()]
    folder = wanted["data"] or data_folder() / "data"
    marker = None if ephemeral else _check_data(folder, wanted, others)
    count, version = marker or (1, OPENSEARCH_VERSION)
    nodes = wanted["nodes"] or count
    port = port or free_port(nodes)
    check_ports(port, nodes)
    ports = range(port, port + nodes)
    taken = {each for other in others for each in other.ports}
    for each in (*ports, *(each + TRANSPORT_OFFSET for each in ports)):
        if each in taken or is_port_in_use(each):
            who = "another engine of yours" if each in taken else "another program"
            raise EngineError(f"port {each} is in use by {who}; stop that, or choose another --port")
    folder = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX)) if ephemeral else folder
    folder.mkdir(parents=True, exist_ok=True)
    claimed = Registration(
        port=port,
        folder=str(folder),
        is_ephemeral=ephemeral,
        heap=wanted["heap"] or DEFAULT_HEAP,
        version=wanted["version"] or max(OPENSEARCH_VERSION, version, key=version_numbers),
        token=f"-Dsimdoc.engine={secrets.token_hex(8)}",
        pids=(0,) * nodes,
    )
    registry.write(claimed)
    return claimed


def _check_data(folder: Path, wanted: dict[str, Any], others: list[Registration]) -> tuple[int, str] | None:
    """Check that a folder can have the data; return its marker."""
    for other in others:
        if other.folder == str(folder):
            raise EngineError(
                f"the engine on port {other.port} uses the data in {folder}; name others with --data, "
                "or keep none with --ephemeral"
            )
    marker = _read_marker(folder)
    if marker is None:
        return None
    count, version = marker
    # A majority of the nodes elects a manager, and no version reads the data of a newer one.
    is_older = version_numbers(wanted["version"] or version) < version_numbers(version)
    if (wanted["nodes"] or count) < count or is_older:
        raise EngineError(
            f"the data in {folder} are of {count} nodes of OpenSearch {version}; leave out --nodes and --version, "
            "or name other data with --data"
        )
    return marker


def _write_marker(cluster: Cluster) -> None:
    """Write the marker atomically. Without it, the nodes could form two clusters."""
    temporary = cluster.data / "node-1" / MARKER
    values = {"nodes": len(cluster.numbers), "opensearch": cluster.version}
    temporary.write_text(json.dumps(values) + "\n", "utf-8")
    temporary.replace(cluster.data / MARKER)


def _read_marker(folder: Path) -> tuple[int, str] | None:
    """Return the number of nodes and the version of some data; None if there are none."""
    try:
        values = parse_json(read_small(folder / MARKER, _MAX_MARKER_BYTES))
        version = str(values["opensearch"])
        version_numbers(version)
        return int(values["nodes"]), version
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, EngineError) as error:
        raise EngineError(f"{folder / MARKER} is damaged; restore it, or delete {folder}") from error
