"""What an Elasticsearch is made of: its server and the module that speaks HTTP, a Java, and a compiler for our own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simdoc_search.devengine.packages import find_java, keep_jars
from simdoc_search.errors import SimdocError
from tests.support.engines import NoEngineError

__all__ = ["ELASTIC", "Packages", "fetch_packages"]

ELASTIC = "org.elasticsearch"
COMPILER_VERSION = "3.44.0"


@dataclass(frozen=True)
class Packages:
    """What an Elasticsearch is made of.

    Attributes:
        version: of Elasticsearch.
        java: the program that runs it.
        jars: all that were fetched.
    """

    version: str
    java: Path
    jars: list[Path]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version, to be compared."""
        return tuple(map(int, self.version.split(".")))

    @property
    def compiler(self) -> list[Path]:
        """The jar that compiles our Java."""
        return [jar for jar in self.jars if jar.name.startswith("ecj-")]

    @property
    def transport(self) -> list[Path]:
        """The jars of the module that speaks HTTP."""
        return [jar for jar in self.jars if jar.name.startswith(("netty-", "transport-netty4-"))]

    @property
    def server(self) -> list[Path]:
        """All others."""
        return [jar for jar in self.jars if jar not in {*self.compiler, *self.transport, self.entitlement}]

    @property
    def entitlement(self) -> Path:
        """The jar of what may be done by whom, which we leave out."""
        [jar] = (jar for jar in self.jars if jar.name == f"elasticsearch-entitlement-{self.version}.jar")
        return jar


def fetch_packages(version: str) -> Packages:
    """What an Elasticsearch needs, from the cache or from Maven Central.

    Raises:
        NoEngineError: it cannot be had. Only that excuses a test; an engine that does not start is a fault.
    """
    coordinates = (
        f"{ELASTIC}:elasticsearch:{version}",
        f"{ELASTIC}.plugin:transport-netty4:{version}",
        f"org.eclipse.jdt:ecj:{COMPILER_VERSION}",
    )
    folder = f"elasticsearch-{version}-ecj-{COMPILER_VERSION}"
    try:
        java = find_java().program  # the options are for OpenSearch
        jars = keep_jars(f"Elasticsearch {version}", folder, coordinates)
    except SimdocError as error:
        raise NoEngineError(str(error)) from error
    return Packages(version, java, jars)
