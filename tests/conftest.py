"""Fixtures of stores and engines, and the profiles of hypothesis."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import settings

from simdoc_search import SimilaritySearch
from simdoc_search.devengine import Cluster
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.base import Store
from tests.support.elasticsearch_7 import elasticsearch_7_url
from tests.support.elasticsearch_engine import elasticsearch_header, elasticsearch_url
from tests.support.engines import (
    SHARDED,
    add_engine_options,
    discard,
    engine_header,
    engine_home,
    opensearch_url,
    own_name,
    three_nodes,
)
from tests.support.extras import skip_if_extra_is_missing
from tests.support.http_server import TempIndices, indices
from tests.support.in_memory import keep_files_in_memory
from tests.support.programs import programs_header
from tests.support.stores import NewStore

settings.register_profile("daily", deadline=None, max_examples=8)  # the default tests
settings.register_profile("all", deadline=None, max_examples=25)
settings.register_profile("ci", deadline=None, max_examples=40, derandomize=True, print_blob=True)
settings.register_profile("fuzz", deadline=None, max_examples=50_000)

__all__ = ["elasticsearch_7_url", "elasticsearch_url", "engine_home", "opensearch_url", "three_nodes"]

ENGINES = ("opensearch_url", "elasticsearch_url", "three_nodes", "elasticsearch_7_url", "engine_home")
"""Fixtures of engines."""

KINDS = {"opensearch": ENGINES[0], "engine": ENGINES[0], "elasticsearch": ENGINES[1], "three_nodes": ENGINES[2]}
KINDS["elasticsearch_7"] = ENGINES[3]
"""Parameters that choose an engine, and their fixtures."""


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt in glibc."""

NEEDED_BY_FOLDERS = {"examples": "opensearchpy", "web": "starlette"}
"""Packages that all tests of a folder need."""

collect_ignore = [folder for folder, package in NEEDED_BY_FOLDERS.items() if find_spec(package) is None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--engine` and `--require-engine`."""
    add_engine_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Keep files in memory, and let subprocesses use compiled modules and receive Ctrl-C."""
    keep_files_in_memory(config)
    gc.disable()  # until all tests are collected
    _keep_freed_memory()
    daily = "not slow" in config.getoption("markexpr")
    chosen = config.getoption("--hypothesis-profile")
    settings.load_profile(chosen or ("daily" if daily else "ci" if os.environ.get("CI") else "all"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # shells ignore the signal for background jobs
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _keep_freed_memory() -> None:
    """Let glibc reuse freed memory. Otherwise, each writer of a store spends more time on new pages than on writing."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        for parameter in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
            libc.mallopt(parameter, 32 << 20)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a test file if its extra is not installed, unless `--require-engine` is given."""
    report = yield
    if not collector.config.getoption("require_engine"):
        skip_if_extra_is_missing(report, str(collector.path))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Skip a test whose extra is not installed, unless `--require-engine` is given."""
    report = yield
    if not item.config.getoption("require_engine"):
        skip_if_extra_is_missing(report, str(item.path))
    return report


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test that needs an engine. scripts/test runs the tests of one engine in one process."""
    engine = engine_of(item)
    if engine is not None:
        item.add_marker("engine")
    if engine == ENGINES[0]:
        item.add_marker("opensearch")
    elif engine == ENGINES[1]:
        item.add_marker("elasticsearch")
    elif engine == ENGINES[3]:
        item.add_marker("elasticsearch_7")


def pytest_collection_finish() -> None:
    """Exclude the collected tests from further garbage collections, and collect rarely."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def engine_of(item: pytest.Item) -> str | None:
    """Return the engine that a test or one of its fixtures needs. Parameters name engines for `getfixturevalue`."""
    names = {*getattr(item, "fixturenames", ())}
    if "request" in names:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        names |= {KINDS[value] for value in parameters.values() if isinstance(value, str) and value in KINDS}
    return next((engine for engine in ENGINES if engine in names), None)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Return lines with the engines and programs that the tests use."""
    skipped = [f"tests/{folder} skipped: {NEEDED_BY_FOLDERS[folder]} is not installed" for folder in collect_ignore]
    return [engine_header(config), elasticsearch_header(config), programs_header(), *skipped]


@pytest.fixture(scope="module")
def engine_url(opensearch_url: str) -> str:
    """The engine of a test. Tests that run on several engines replace this fixture; see `each_engine`."""
    return opensearch_url


@pytest.fixture
def temp_indices(engine_url: str) -> Iterator[TempIndices]:
    """Creates the indices of a test."""
    with indices(engine_url) as created:
        yield created


STORES = ["memory", "folder", "opensearch", "elasticsearch"]


@pytest.fixture(params=STORES)
def new_store(request: pytest.FixtureRequest) -> NewStore:
    """Makes empty stores of each kind. The indices in OpenSearch have three shards."""
    maker: NewStore = request.getfixturevalue(f"new_{request.param}_store")
    return maker


@pytest.fixture(scope="module", params=[*STORES, "three_nodes"])
def shared_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewStore]:
    """Makes stores of each kind. The tests of a module share them and do not change them."""
    if request.param == "memory":
        yield partial(open_store, ":memory:", create=True)
    elif request.param == "folder":
        yield from _folders_in(tmp_path_factory.mktemp("stores"))
    else:
        engine = request.getfixturevalue(KINDS[request.param])
        yield from _indices_in(engine.url if isinstance(engine, Cluster) else engine)


@pytest.fixture(params=["memory", "folder"])
def local_store(request: pytest.FixtureRequest) -> Store:
    """An empty local store of each kind."""
    maker: NewStore = request.getfixturevalue(f"new_{request.param}_store")
    return maker()


@pytest.fixture
def store(new_store: NewStore) -> Store:
    """An empty store."""
    return new_store()


@pytest.fixture
def search() -> SimilaritySearch:
    """A search over an empty store in memory."""
    return SimilaritySearch(open_store(":memory:"))


@pytest.fixture
def new_memory_store() -> NewStore:
    """Makes stores in memory."""
    return partial(open_store, ":memory:", create=True)


@pytest.fixture
def new_folder_store(tmp_path: Path) -> Iterator[NewStore]:
    """Makes stores on disk."""
    yield from _folders_in(tmp_path)


@pytest.fixture
def new_opensearch_store(opensearch_url: str) -> Iterator[NewStore]:
    """Makes indices of three shards in a running OpenSearch."""
    yield from _indices_in(opensearch_url, SHARDED)


@pytest.fixture
def new_elasticsearch_store(elasticsearch_url: str) -> Iterator[NewStore]:
    """Makes indices in a running Elasticsearch."""
    yield from _indices_in(elasticsearch_url)


@pytest.fixture
def read_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read archives and files of all formats in this process, because starting a subprocess takes 0.2 s."""
    monkeypatch.setattr("simdoc_search.corpus.formats.FileFormat.is_risky", lambda *_: False)
    monkeypatch.setattr(
        "simdoc_search.indexing.archives.iterate_in_subprocess", lambda make, *arguments, **_: make(*arguments)
    )


def _folders_in(folder: Path) -> Iterator[NewStore]:
    with ExitStack() as opened:

        def make(settings: Settings | None = None, **options: Any) -> Store:
            store = open_store(folder / f"store-{uuid4()}", settings, create=True, **options)
            opened.callback(store.close)
            return store

        yield make


def _indices_in(url: str, kind: str = "") -> Iterator[NewStore]:
    with ExitStack() as opened:

        def make(settings: Settings | None = None, **options: Any) -> Store:
            name = own_name(kind)
            store = open_store(f"{url}/{name}", settings, create=True, **options)
            opened.callback(discard, url, name)
            opened.callback(store.close)
            return store

        yield make
