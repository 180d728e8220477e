"""What docs/operating.md tells people to do works on real engines; queries find afterwards what they found before."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from simdoc_search.devengine import start
from tests.support.cli import answer, output
from tests.support.engines import call, need_packages, own_name
from tests.support.living import has_data_streams, rolling
from tests.support.programs import program

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "operating.md").read_text("utf-8")
OLD = "2.19.1"
BLOCKS = re.compile(r"^(<!-- data streams -->\n)?( *)```sh\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(params=["opensearch", "elasticsearch_7"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """Each engine that has pipelines and search templates."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def names(engine_url: str) -> Iterator[dict[str, str]]:
    """What the page calls the engine, indices and a repository, and what they are called here; in the end all goes."""
    articles, mails, backup = (own_name() for _ in range(3))
    yield {"http://localhost:9200": engine_url, "articles": articles, "mails": mails, "backup": backup}
    if has_data_streams(engine_url):
        call(engine_url, "DELETE", f"/_data_stream/{mails}", allow=(404,))
    templates = [f"_index_template/{each}" for each in (articles, mails)]
    pipelines = [f"_ingest/pipeline/{each}" for each in (articles, f"{articles}_2")]
    for place in (f"{articles}-*", *templates, *pipelines, "_component_template/simdoc_2"):
        call(engine_url, "DELETE", f"/{place}", allow=(404,))


def commands(names: dict[str, str], *, streams: bool, heading: str = "") -> Iterator[str]:
    """Those of the page or a part of it, in their order; some are for engines that have data streams."""
    page = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0] if heading else PAGE
    for written, meant in names.items():
        page = page.replace(written, meant)
    for of_streams, indent, block in BLOCKS.findall(page):
        if streams or not of_streams:
            lines = block.removeprefix(indent).replace(f"\n{indent}", "\n").replace("\\\n", "")
            yield from re.split(r"\n(?=curl|simdoc-search)", lines)


def test_the_commands_of_the_page_run_in_their_order(engine_url: str, names: dict[str, str]) -> None:
    """None fails, and each `similar` finds the one other document, wherever it is then."""
    program("curl")
    streams = has_data_streams(engine_url)
    found = []
    for command in commands(names, streams=streams):
        if command.startswith("curl"):
            check_curl(command)
        elif command.startswith("simdoc-search similar"):
            found.append([hit["id"] for hit in answer(*shlex.split(command)[1:])["hits"]])
        else:
            output(*shlex.split(command)[1:])

    assert [["41"]] * 7 + [["1"]] * streams == found


@pytest.mark.slow
@pytest.mark.usefixtures("engine_home")
def test_an_engine_of_the_next_version_goes_on_with_the_data(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """An OpenSearch 2.19 is stopped, and started as the newest: the commands of the page find nothing wrong then."""
    need_packages(pytestconfig)
    text = "The tenant may keep one dog or two cats, if no neighbour complains of them within a month, or of number"
    engine = start(port=0, heap="512m", version=OLD, data=tmp_path / "engine")
    try:
        with rolling(engine.url) as articles:
            articles.write("41", {"body": f"{text} 41"})
            engine.stop()
            engine = start(port=engine.port, heap="512m", data=tmp_path / "engine")
            assert OLD != engine.version == call(articles.engine, "GET", "/")["version"]["number"]

            articles.roll_over()
            articles.write("42", {"body": f"{text} 42"})
            names = {"http://localhost:9200": engine.url, "articles": articles.name}
            for command in commands(names, streams=False, heading="Upgrade the engine"):
                output(*shlex.split(command)[1:])
            for source, hit in (("41", "42"), ("42", "41")):
                assert [hit] == [each["id"] for each in answer("similar", source, "--store", articles.url)["hits"]]
    finally:
        engine.stop()


def check_curl(command: str) -> None:
    """It succeeds, and nothing failed on a shard or of a bulk."""
    command = command.replace("curl ", "curl --silent --show-error --fail-with-body ", 1)
    done = subprocess.run(["sh", "-c", command], check=False, capture_output=True, encoding="utf-8", timeout=120)

    assert 0 == done.returncode, f"{command}\n{done.stdout}{done.stderr}"
    assert not {"error", "errors", "failures"} & {key for key, value in json.loads(done.stdout).items() if value}
