"""An OpenSearch for the tests: a running one, one from Python packages, or one in Docker.

`SIMDOC_TEST_OPENSEARCH=URL` names a running engine. Otherwise `--engine` chooses how one is started: `packages` (the
default), `docker` or `none`. `SIMDOC_TEST_OPENSEARCH_VERSION` chooses its version. A test whose engine is not available
is skipped with the reason. With `--require-engine`, it fails.
"""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from simdoc_search.devengine import Cluster, running_cluster
from simdoc_search.devengine.packages import OPENSEARCH_VERSION, find_jars, find_java
from simdoc_search.errors import SimdocError

URL = "SIMDOC_TEST_OPENSEARCH"
VERSION = "SIMDOC_TEST_OPENSEARCH_VERSION"

PREFIX = os.environ.get("SIMDOC_TEST_PREFIX", "test")
"""Prefix of the names that tests use in an engine. scripts/try_elasticsearch sets another one."""

SHARDED = "sharded"
"""The kind of `own_name` for indices that have three shards in the shared OpenSearch."""

IMAGE = "opensearchproject/opensearch"
DOCKER_SECONDS = 180

QUICK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Options of Java for short runs on few processors. They halve the time to start."""

ALL_MEMORY = {"indices.breaker.total.limit": "100%"}
"""The serial collector frees memory only when the heap is full. Engines would refuse requests (429) at 95 %."""

REMOVED_AT_ONCE = 20
"""Number of indices that are removed together. That takes an engine as long as removing one."""

_discarded: dict[str, list[str]] = {}


class NoEngineError(Exception):
    """No engine can be started on this machine. Tests that need one are skipped."""


def add_engine_options(parser: pytest.Parser) -> None:
    """For `pytest_addoption` in conftest.py."""
    parser.addoption("--engine", choices=["packages", "docker", "none"], default="packages", help="Which OpenSearch.")
    parser.addoption("--require-engine", action="store_true", help="Fail tests that cannot have their engine.")


def engine_header(config: pytest.Config) -> str:
    """For `pytest_report_header` in conftest.py: the OpenSearch of the tests."""
    kind = engine_kind(config)
    if kind == "packages":
        try:
            find_java()
        except SimdocError as error:
            return f"OpenSearch: none, {error}"
    return f"OpenSearch: {os.environ.get(URL) or {'packages': f'{opensearch_version()} from packages'}.get(kind, kind)}"


def engine_kind(config: pytest.Config) -> str:
    """The value of `--engine`."""
    return str(config.getoption("--engine", default="packages"))


def need_packages(config: pytest.Config) -> None:
    """Skip a test that starts engines itself if none can be started."""
    with skips(config):
        if engine_kind(config) != "packages":
            raise NoEngineError(f"--engine is {engine_kind(config)}")
        _fetch_packages()


@contextmanager
def running_opensearch(nodes: int = 1, kind: str = "packages", heap: str = "512m") -> Iterator[list[str]]:
    """Run an engine during the block, and return the addresses of its nodes.

    Raises:
        NoEngineError: no engine can be started.
    """
    if there := os.environ.get(URL):
        yield [there.rstrip("/")]
    elif kind == "packages":
        _fetch_packages()
        with running_cluster(nodes, heap=heap, version=opensearch_version()) as cluster:
            call(cluster.urls[0], "PUT", "/_cluster/settings", {"persistent": ALL_MEMORY})
            yield cluster.urls
    elif kind == "docker" and nodes == 1:
        yield from _in_docker(heap)
    else:
        raise NoEngineError(f"no engine of {nodes} nodes, as --engine is {kind}")


@pytest.fixture(scope="session")
def engine_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for the data of the engines of the tests. The jars are in the user's cache."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder))
        patch.setenv("JDK_JAVA_OPTIONS", QUICK)
        yield folder


@pytest.fixture(scope="session")
def opensearch_url(request: pytest.FixtureRequest, engine_home: Path) -> Iterator[str]:
    """The address of an OpenSearch that all tests share. Each test uses its own indices."""
    with skips(request.config):
        engine = running_opensearch(kind=engine_kind(request.config))
        urls = engine.__enter__()
    try:
        set_shards(urls[0], f"{PREFIX}-*", shards=1, replicas=0)
        set_shards(urls[0], f"{PREFIX}-{SHARDED}-*", shards=3, replicas=0, priority=1)
        yield urls[0]
        sweep(urls[0])
    finally:
        engine.__exit__(None, None, None)


@pytest.fixture(scope="session")
def three_nodes(request: pytest.FixtureRequest, engine_home: Path) -> Iterator[Cluster]:
    """Three nodes for all tests. A test restarts the nodes that it kills. Indices have three shards, each twice."""
    need_packages(request.config)
    with running_cluster(3, heap="384m", version=opensearch_version()) as cluster:
        set_shards(cluster.url, "*", shards=3, replicas=1)
        yield cluster


def own_name(kind: str = "") -> str:
    """Return a new name for an object in an engine."""
    return "-".join(filter(None, (PREFIX, kind, str(uuid4()))))


def set_shards(url: str, indices: str, *, shards: int, replicas: int, priority: int = 0) -> None:
    """Set the default numbers of shards and replicas of new indices."""
    settings = {"number_of_shards": shards, "number_of_replicas": replicas}
    call(
        url,
        "PUT",
        f"/_index_template/{PREFIX}-shards-{priority}",
        {"index_patterns": [indices], "priority": priority, "template": {"settings": settings}},
    )


def discard(url: str, *indices: str) -> None:
    """Remember the indices of a test, to remove them later together with others."""
    waiting = _discarded.setdefault(url, [])
    waiting += indices
    if len(waiting) >= REMOVED_AT_ONCE:
        sweep(url)


def sweep(url: str) -> None:
    """Remove the indices that `discard` collected."""
    if waiting := _discarded.pop(url, []):
        call(url, "DELETE", f"/{','.join(waiting)}?ignore_unavailable=true")


def call(url: str, method: str, path: str, body: object = None, *, allowed_statuses: tuple[int, ...] = ()) -> Any:
    """Return the JSON answer of an engine. An error status fails the test unless it is in `allowed_statuses`."""
    place = urlsplit(url)
    kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
    connection = kind(place.hostname or "", place.port, timeout=60)
    try:
        sent = None if body is None else json.dumps(body)
        connection.request(method, place.path + path, sent, {"content-type": "application/json"})
        response = connection.getresponse()
        text = response.read().decode()
    finally:
        connection.close()
    assert 200 <= response.status < 300 or response.status in allowed_statuses, text
    return json.loads(text)


@contextmanager
def skips(config: pytest.Config, engine: str = "OpenSearch") -> Iterator[None]:
    """Skip the test if no engine can be started, or fail it with `--require-engine`."""
    try:
        yield
    except NoEngineError as error:
        reason = f"no {engine}: {error}"
        if config.getoption("--require-engine", default=False):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)


def each_engine(*names: str) -> Callable[..., str]:
    """Make the fixture `engine_url` for tests that run on several engines, such as `opensearch`."""

    @pytest.fixture(scope="module", params=names)
    def engine_url(request: pytest.FixtureRequest) -> str:
        return str(request.getfixturevalue(f"{request.param}_url"))

    return engine_url


def opensearch_version() -> str:
    """The version of OpenSearch."""
    return os.environ.get(VERSION) or OPENSEARCH_VERSION


def _fetch_packages() -> None:
    """Raise NoEngineError if a package is missing. An engine that does not start fails the test."""
    try:
        find_java()
        find_jars(opensearch_version())
    except SimdocError as error:
        raise NoEngineError(str(error)) from error


def _in_docker(heap: str) -> Iterator[list[str]]:
    try:
        container = import_module("testcontainers.core.container").DockerContainer(f"{IMAGE}:{opensearch_version()}")
    except Exception as error:  # the package or Docker is missing
        raise NoEngineError(f"docker: {error}") from error
    settings = {
        "discovery.type": "single-node",
        "DISABLE_SECURITY_PLUGIN": "true",
        "DISABLE_INSTALL_DEMO_CONFIG": "true",
        "OPENSEARCH_JAVA_OPTS": f"-Xms{heap} -Xmx{heap}",
        "cluster.routing.allocation.disk.threshold_enabled": "false",
    }
    for key, value in settings.items():
        container.with_env(key, value)
    with container.with_exposed_ports(9200) as running:
        url = f"http://{running.get_container_host_ip()}:{running.get_exposed_port(9200)}"
        deadline = time.monotonic() + DOCKER_SECONDS
        while True:
            try:
                call(url, "GET", "/_cluster/health?wait_for_status=yellow&timeout=5s")
                break
            except (AssertionError, OSError, http.client.HTTPException):
                if time.monotonic() > deadline:
                    raise
                time.sleep(1)
        yield [url]
