"""`simdoc-search serve`: the program as a person starts it, and ends it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from urllib.error import HTTPError

import pytest

from tests.support import http_server
from tests.support.cli import answer, environment, output, run, sentence, usage_error, write_corpus
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
    """The address of the program as it runs, and its process."""
    command = [sys.executable, "-m", "simdoc_search", "serve", "--store", str(store), "--port", "0", *arguments]
    with subprocess.Popen(
        command, env=environment(**values), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://[\w.:\[\]]+/", line)
            assert found is not None, line
            yield found[0], process
        finally:
            process.kill()


def get(address: str, **headers: str) -> str:
    """What an address gives."""
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30) as response:
        return str(response.read().decode())


def status(address: str) -> int:
    """With which status an address answers."""
    try:
        get(address)
    except HTTPError as refused:
        with closing(refused):
            return refused.code
    return 200


@pytest.mark.slow
def test_it_serves_until_ctrl_c(store: Path) -> None:
    """It says its address, answers as the command line does, and ends without complaint."""
    with serving(store) as (address, process):
        said = json.loads(get(f"{address}similar.json?q=doc123"))
        page = get(address)
        process.send_signal(signal.SIGINT)

        assert 0 == process.wait(20)
    assert "5 documents" in re.sub(r"<[^>]*>", "", page)
    assert answer("similar", "doc123", "--store", store) == said


@pytest.mark.slow
def test_what_goes_wrong_is_told_here_and_not_there(store: Path, tmp_path: Path) -> None:
    """Who runs the server reads on stderr where the store is; who asks does not."""
    shutil.copytree(store, tmp_path / "moved")
    with serving(tmp_path / "moved") as (address, process):
        get(f"{address}status.json")
        (tmp_path / "moved").rename(tmp_path / "away")
        with pytest.raises(HTTPError) as refused:
            get(f"{address}similar.json?q=doc123")
        said = refused.value.read().decode()
        process.terminate()
        told = process.communicate(timeout=20)[1]

    assert 503 == refused.value.code
    assert "moved" not in said
    assert str(tmp_path / "moved") in told


@pytest.mark.slow
def test_another_address_asks_for_the_token(store: Path) -> None:
    """Which comes from the environment."""
    token = "0123456789abcdef"
    with serving(store, "--host", "0.0.0.0", **{TOKEN: token}) as (address, _):
        here = address.replace("0.0.0.0", "127.0.0.1")
        with pytest.raises(HTTPError) as refused:
            get(f"{here}status.json")
        refused.value.close()

        assert 401 == refused.value.code
        assert 5 == json.loads(get(f"{here}status.json", Authorization=f"Bearer {token}"))["documents"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org", ""])
def test_another_address_needs_a_token(store: Path, host: str) -> None:
    """Without one, or with a short one, it is not served."""
    command = ("serve", "--store", store, "--host", host)

    assert f"set {TOKEN} to a secret" in usage_error(run(*command))
    assert "16 are the least" in usage_error(run(*command, **{TOKEN: "short"}))


def test_a_port_that_is_taken_is_said(store: Path) -> None:
    """With what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = sentence(run("serve", "--store", store, "--port", port))

    assert f"cannot listen at 127.0.0.1, port {port}: address already in use; --port names another one" == said


def test_a_store_that_is_missing_is_said(tmp_path: Path) -> None:
    """Before anybody comes."""
    assert "no store at" in sentence(run("serve", "--store", tmp_path / "none"))


@pytest.mark.slow
def test_an_engine_is_served_like_a_folder(opensearch_url: str, store: Path) -> None:
    """The same pages over an index of OpenSearch: places have their index, and no page says where the engine is."""
    index = f"{PREFIX}-serve"
    url = f"{opensearch_url}/{index}"
    output("index", store.parent / "corpus", "--store", url)
    try:
        with serving(url) as (address, _):
            said = json.loads(get(f"{address}similar.json?q=doc123"))
            hit = said["hits"][0]
            document = json.loads(get(f"{address}document.json?id={hit['id']}&index={hit['index']}"))
            pages = "".join(
                get(f"{address}{each}")
                for each in ("", "status", "similar?q=doc123", f"compare?a=doc123&b={hit['id']}&b_index={index}")
            )

            assert answer("similar", "doc123", "--store", url) == said
            assert (index, "reports/copy.txt") == (hit["index"], document["id"])
            assert "word199" in document["text"]
            assert opensearch_url not in pages
            assert f"in {index}" in re.sub(r"<[^>]*>", "", pages)
    finally:
        discard(opensearch_url, index)


@pytest.mark.slow
def test_ctrl_c_waits_for_no_engine(opensearch_url: str, store: Path) -> None:
    """A page that waits for an engine that is frozen is told so, and the program ends without complaint."""
    thawed = Event()

    def frozen(request: Request) -> Answer | None:
        thawed.wait(60)
        return forward(opensearch_url)(request)

    with indices(opensearch_url) as made, http_server.serving(forward(opensearch_url)) as engine:
        url = f"{engine.url}/{made.name()}"
        output("index", store.parent / "corpus", "--store", url)
        with serving(url) as (address, process), ThreadPoolExecutor(1) as visitor:
            engine.handle, before = frozen, len(engine.requests)
            page = visitor.submit(status, f"{address}similar?q=doc123")
            wait_until(lambda: len(engine.requests) > before)
            process.send_signal(signal.SIGINT)
            try:
                assert 0 == process.wait(15)
            finally:
                thawed.set()

            assert 503 == page.result()
            assert "Traceback" not in process.communicate()[1]
