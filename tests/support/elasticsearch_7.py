"""Elasticsearch 7.10.2 with all its modules, from packages of Maven Central.

Clients of Elasticsearch refuse it, so tests use it with the client of OpenSearch.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from simdoc_search.devengine import DevEngineError, find_free_port
from simdoc_search.devengine.node import HOST, LAUNCHER, TRANSPORT_PORT_OFFSET
from simdoc_search.devengine.packages import ADDITIONAL_PACKAGES, find_java, find_or_download_jars
from simdoc_search.errors import SimdocError
from tests.support.elasticsearch_engine import END_SECONDS, POLL_SECONDS, START_SECONDS
from tests.support.engines import QUICK, NoEngineError, call, engine_kind, skips

VERSION = "7.10.2"
COORDINATES = (f"org.codelibs:elasticsearch-cluster-runner:{VERSION}.0", *ADDITIONAL_PACKAGES)
NAMES = {
    "OpenSearchRunner": "ElasticsearchClusterRunner",
    "org.codelibs.opensearch": "org.codelibs.elasticsearch",
    "org.opensearch": "org.elasticsearch",
    "opensearch.yml": "elasticsearch.yml",
}
"""Names that our launcher uses, with the names in this version."""


@contextmanager
def running_elasticsearch_7(heap: str = "512m") -> Iterator[str]:
    """Run an engine during the block, and return its address. Its data is then removed."""
    jars = _fetch_jars()
    java, port = find_java(), find_free_port()
    with tempfile.TemporaryDirectory(prefix="simdoc-elasticsearch-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        (home / "config").mkdir()
        settings = {
            "network.host": HOST,
            "transport.port": port + TRANSPORT_PORT_OFFSET,
            "discovery.type": "single-node",
            "node.roles": "[master, data, ingest]",
            "path.repo": f"[{home / 'snapshots'}]",
            "cluster.routing.allocation.disk.threshold_enabled": "false",
        }
        lines = "".join(f"{key}: {value}\n" for key, value in settings.items())
        (home / "config" / "elasticsearch.yml").write_text(lines, "utf-8")
        launcher, source = home / "Launcher.java", LAUNCHER.read_text("utf-8")
        for ours, theirs in NAMES.items():
            source = source.replace(ours, theirs)
        launcher.write_text(source, "utf-8")
        command = [
            *(str(java.program), f"-Xms{heap}", f"-Xmx{heap}", *QUICK.split(), *java.options),
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            *("org.codehaus.janino.SimpleCompiler", str(launcher), "Launcher"),
            *("-numOfNode", "1", "-clusterName", "simdoc-search", "-baseHttpPort", str(port - 1)),
            *("-basePath", folder, "-confPath", str(home / "config")),
        ]
        environment = {**os.environ, "CLASSPATH": os.pathsep.join(map(str, jars))}
        with (home / "engine.log").open("wb") as log:
            process = subprocess.Popen(command, cwd=home, env=environment, stdout=log, stderr=log)
        try:
            yield _wait(f"http://{HOST}:{port}", process)
        finally:
            process.kill()
            process.wait(END_SECONDS)


@pytest.fixture(scope="session")
def elasticsearch_7_url(request: pytest.FixtureRequest, engine_home: Path) -> Iterator[str]:
    """The address of one engine for all tests."""
    with skips(request.config, f"Elasticsearch {VERSION}"):
        if engine_kind(request.config) != "packages":
            raise NoEngineError(f"--engine is {engine_kind(request.config)}")
        try:
            find_java()
            _fetch_jars()
        except SimdocError as error:
            raise NoEngineError(str(error)) from error
    with running_elasticsearch_7() as url:
        yield url


def _fetch_jars() -> list[Path]:
    return find_or_download_jars(f"Elasticsearch {VERSION}", f"elasticsearch-{VERSION}-runner", COORDINATES)


def _wait(url: str, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError):
            call(url, "GET", "/_cluster/health?wait_for_status=yellow&timeout=60s")
            return url
        time.sleep(POLL_SECONDS)
    raise DevEngineError(f"Elasticsearch {VERSION} does not start")
