"""`simdoc-search serve` as a process."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import httpx
import pytest

from tests.support import http_server
from tests.support.cli import answer, environment, output, run, sentence, usage_error, words, write, write_corpus
from tests.support.engines import PREFIX, discard
from tests.support.http_server import Answer, Request, forward, indices
from tests.support.waiting import wait_until

TOKEN = "SIMDOC_SERVE_TOKEN"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of some files."""
    folder = tmp_path_factory.mktemp("serve")
    output("index", write_corpus(folder / "corpus"), "--store", folder / "store")
    return folder / "store"


@contextmanager
def serving(store: Path | str, *arguments: str, **values: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yield the address and the process of a running server."""
    command = [sys.executable, "-m", "simdoc_search", "serve", "--store", str(store), "--port", "0", *arguments]
    with subprocess.Popen(
        command, env=environment(**values), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            address = re.search(r"http://[\w.:\[\]]+/", line)
            assert address is not None, line
            yield address[0], process
        finally:
            process.kill()


@pytest.mark.slow
def test_the_server_runs_until_ctrl_c(store: Path) -> None:
    """Its answers are those of the command line. At an address that others can reach, it needs the token."""
    token = "0123456789abcdef"
    with serving(store, "--host", "0.0.0.0", **{TOKEN: token}) as (allows_any_address, process):
        address = allows_any_address.replace("0.0.0.0", "127.0.0.1")
        headers = {"Authorization": f"Bearer {token}"}
        found = httpx.get(f"{address}similar.json?q=doc123", headers=headers).json()
        refused = httpx.get(f"{address}status.json").status_code
        process.send_signal(signal.SIGINT)

        assert 0 == process.wait(20)
    assert 401 == refused
    assert answer("similar", "doc123", "--store", store) == found


@pytest.mark.slow
def test_folders_are_indexed_before_they_are_served(store: Path, tmp_path: Path) -> None:
    """The pages show the whole index. As in `duplicates FOLDER`, simdoc.toml says which files are skipped."""
    write(tmp_path, {"a/new.txt": words(0, 99), "b/other.txt": words(50, 150), "b/not.txt": words(0, 9)})
    write(tmp_path, {"simdoc.toml": "[index]\nexclude-files = ['not.txt']"})
    shutil.copytree(store, tmp_path / "s")
    config = str(tmp_path / "simdoc.toml")
    with serving(tmp_path / "s", str(tmp_path / "a"), str(tmp_path / "b"), SIMDOC_CONFIG=config) as (address, process):
        ids = {document["id"] for document in httpx.get(f"{address}documents.json").json()["documents"]}
        process.terminate()
        notes = process.communicate(timeout=20)[1]

    assert {"a/new.txt", "b/other.txt", "reports/copy.txt"} <= ids
    assert "b/not.txt" not in ids
    assert re.search("^2 indexed, 0 unchanged, 1 skipped in .*; the index is in .*/s$", notes, re.MULTILINE)


def test_no_server_starts_if_a_folder_does_not_exist(store: Path, tmp_path: Path) -> None:
    result = run("serve", store.parent / "corpus", tmp_path / "none", "--store", tmp_path / "s", "--port", 0)

    assert f"{tmp_path / 'none'} does not exist" in sentence(result)
    assert not (tmp_path / "s").exists()


@pytest.mark.slow
def test_only_the_log_has_the_location_of_the_store(store: Path, tmp_path: Path) -> None:
    """The answer to a request does not have it."""
    shutil.copytree(store, tmp_path / "moved")
    with serving(tmp_path / "moved") as (address, process):
        httpx.get(f"{address}status.json").raise_for_status()
        (tmp_path / "moved").rename(tmp_path / "away")
        refused = httpx.get(f"{address}similar.json?q=doc123")
        process.terminate()
        log = process.communicate(timeout=20)[1]

    assert 503 == refused.status_code
    assert "moved" not in refused.text
    assert str(tmp_path / "moved") in log


def test_an_address_that_others_can_reach_needs_a_token(store: Path) -> None:
    """The token must have at least 16 characters."""
    for host in ("0.0.0.0", "example.org", ""):
        assert f"Set {TOKEN} to a secret" in usage_error(run("serve", "--store", store, "--host", host))
    assert "use at least 16" in usage_error(run("serve", "--store", store, "--host", "::", **{TOKEN: "short"}))


def test_moving_files_needs_a_server_for_this_computer_only(store: Path) -> None:
    """Neither another address nor a proxy can be combined with it."""
    for options in (["--host", "0.0.0.0"], ["--allowed-host", "docs.example"]):
        problem = usage_error(run("serve", "--store", store, "--allow-apply", *options, **{TOKEN: "0123456789abcdef"}))
        assert "--allow-apply cannot be combined with --allowed-host, or with a --host" in problem


def test_a_port_that_is_in_use_is_reported(store: Path) -> None:
    """The message says what to do."""
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = used.getsockname()[1]
        problem = sentence(run("serve", "--store", store, "--port", port))

    assert (
        f"cannot listen on 127.0.0.1, port {port}: address already in use; choose another address with --host or --port"
        == problem
    )


def test_the_error_about_a_missing_store_names_the_command_that_indexes_and_serves(tmp_path: Path) -> None:
    store = tmp_path / "none"
    problem = sentence(run("serve", "--store", store, "--port", 0))

    assert problem.startswith(f"no index at {store}; ")
    assert problem.endswith(f"; to index a folder and serve it, run: simdoc-search serve FOLDER --store {store}")


@pytest.mark.slow
def test_an_engine_is_served_like_a_folder(opensearch_url: str, store: Path) -> None:
    """The index of each document is shown. The address of the engine is on no page."""
    index = f"{PREFIX}-serve"
    url = f"{opensearch_url}/{index}"
    output("index", store.parent / "corpus", "--store", url)
    try:
        with serving(url) as (address, _):
            found = httpx.get(f"{address}similar.json?q=doc123").json()
            hit = found["hits"][0]
            document = httpx.get(f"{address}document.json?id={hit['id']}&index={hit['index']}").json()
            paths = ("", "status", "similar?q=doc123", f"compare?a=doc123&b={hit['id']}&b_index={index}")
            pages = "".join(httpx.get(f"{address}{path}").text for path in paths)

            assert answer("similar", "doc123", "--store", url) == found
            assert (index, "reports/copy.txt") == (hit["index"], document["id"])
            assert "word199" in document["text"]
            assert opensearch_url not in pages
            assert f"in {index}" in re.sub(r"<[^>]*>", "", pages)
    finally:
        discard(opensearch_url, index)


@pytest.mark.slow
def test_ctrl_c_does_not_wait_for_an_engine(opensearch_url: str, store: Path) -> None:
    """A request that waits for a frozen engine gets an error."""
    thawed = Event()

    def frozen(request: Request) -> Answer | None:
        thawed.wait(60)
        return forward(opensearch_url)(request)

    with indices(opensearch_url) as made, http_server.serving(forward(opensearch_url)) as engine:
        url = f"{engine.url}/{made.name()}"
        output("index", store.parent / "corpus", "--store", url)
        with serving(url) as (address, process), ThreadPoolExecutor(1) as visitor:
            engine.handle, before = frozen, len(engine.requests)
            page = visitor.submit(httpx.get, f"{address}similar?q=doc123", timeout=60)
            wait_until(lambda: len(engine.requests) > before)
            process.send_signal(signal.SIGINT)
            try:
                assert 0 == process.wait(15)
            finally:
                thawed.set()

            assert 503 == page.result().status_code
            assert "Traceback" not in process.communicate()[1]
