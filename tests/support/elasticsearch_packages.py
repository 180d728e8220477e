"""The packages of an Elasticsearch: its server, the module for HTTP, a Java, and a compiler for our Java code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simdoc_search.devengine.packages import find_java, find_or_download_jars
from simdoc_search.errors import SimdocError
from tests.support.engines import NoEngineError

__all__ = ["ELASTIC", "Packages", "fetch_packages"]

ELASTIC = "org.elasticsearch"
COMPILER_VERSION = "3.44.0"


@dataclass(frozen=True)
class Packages:
    """The packages of an Elasticsearch."""

    version: str  # version of Elasticsearch
    java: Path  # the Java that runs it
    jars: list[Path]  # all jars

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version as numbers."""
        return tuple(map(int, self.version.split(".")))

    @property
    def compiler(self) -> list[Path]:
        """The jar of the compiler."""
        return [jar for jar in self.jars if jar.name.startswith("ecj-")]

    @property
    def transport(self) -> list[Path]:
        """The jars of the module for HTTP."""
        return [jar for jar in self.jars if jar.name.startswith(("netty-", "transport-netty4-"))]

    @property
    def server(self) -> list[Path]:
        """The jars of the server."""
        return [jar for jar in self.jars if jar not in {*self.compiler, *self.transport, self.entitlement}]

    @property
    def entitlement(self) -> Path:
        """The jar with the entitlements, which is replaced."""
        [jar] = (jar for jar in self.jars if jar.name == f"elasticsearch-entitlement-{self.version}.jar")
        return jar


def fetch_packages(version: str) -> Packages:
    """Return the packages of a version, from the cache or from Maven Central.

    Raises:
        NoEngineError: the packages cannot be fetched.
    """
    coordinates = (
        f"{ELASTIC}:elasticsearch:{version}",
        f"{ELASTIC}.plugin:transport-netty4:{version}",
        f"org.eclipse.jdt:ecj:{COMPILER_VERSION}",
    )
    folder = f"elasticsearch-{version}-ecj-{COMPILER_VERSION}"
    try:
        java = find_java().program  # the options are for OpenSearch
        jars = find_or_download_jars(f"Elasticsearch {version}", folder, coordinates)
    except SimdocError as error:
        raise NoEngineError(str(error)) from error
    return Packages(version, java, jars)
