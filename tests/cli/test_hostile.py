"""No hostile name, text, metadata or engine can make a command write control or invisible characters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from simdoc_search.cli.group import cli
from simdoc_search.display import printable
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import build_index_body
from tests.support.cli import CLEAN, json_lines, write
from tests.support.http_server import Handler, Server, answer, error, serving
from tests.support.slow_cases import slow_after

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
HIDDEN = "\u200b\u200d\u2060\ufeff\u3164\U000e0041\U000e0100"
EVIL = f"e\x1b]0;title\x07\x1b[2J\x9b31m\x7f\r{BIDI}{HIDDEN}vil"
TEXT = " ".join(f"word{number}" for number in range(50))


def run(*arguments: object, stdin: str | None = None) -> Result:
    """Run a command. Click takes the output for a terminal, and does not remove escape sequences."""
    runner = CliRunner(env={**CLEAN, "SIMDOC_STORE": EVIL})
    return runner.invoke(
        cli, [*map(str, arguments)], stdin, prog_name="simdoc-search", catch_exceptions=False, color=True
    )


def harmful(result: Result) -> set[str]:
    """Return the characters of the output that a terminal must not get."""
    written = result.stdout.replace("\n", "") + result.stderr.replace("\n", "")
    return {c for c in written if printable(c) != c}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with hostile ids and metadata, at a hostile path."""
    pytest.importorskip("sentencex")
    pytest.importorskip("stop_words")
    folder = tmp_path_factory.mktemp("hostile") / EVIL
    folder.mkdir()
    write(folder, {f"docs/{EVIL}.txt": TEXT, f"docs/{EVIL}.bin": b"\0\1\2", "docs/doc.txt": TEXT, "bad.txt": TEXT})
    write(folder, {"rows.jsonl": json_lines({"id": EVIL, "text": TEXT, EVIL: EVIL}, {"id": "b", "text": TEXT})})
    lines = json_lines({"id": f"{EVIL}/1", "text": TEXT, EVIL: EVIL}, {"id": f"{EVIL}/2", "text": TEXT})
    command = ["index", folder / "docs", "-", "--store", folder / EVIL, "--with", "versions,related"]
    assert 0 == run(*command, stdin=lines).exit_code
    assert 0 == run("duplicates", "--plan", folder / "plan.tsv", "--store", folder / EVIL).exit_code
    return folder


ON_A_STORE = [
    ["index", "docs"],
    ["index", "docs", "--checksum"],
    ["index", EVIL],
    ["index", f"{EVIL}.txt"],
    ["index", "docs", "--max-size", EVIL],
    ["tune", "docs", "--pairs", f"docs/{EVIL}.txt"],
    ["similar", f'"{EVIL}/1"'],
    ["similar", f'"{EVIL}/1"_20_80'],
    ["similar", EVIL],
    ["similar", f"{EVIL}_20_0.8"],
    ["similar", f'"{EVIL}"x'],
    ["similar", f"{EVIL}x"],
    ["similar", "doc", EVIL],
    ["similar", "--text", TEXT],
    ["similar", "--file", EVIL],
    ["similar", "--file", f"docs/{EVIL}.bin"],
    ["similar", "--all-from", EVIL],
    ["similar", "--all-from", "-"],
    ["similar", "doc", "--filter", EVIL],
    ["similar", "doc", "--filter", f"{EVIL}={EVIL}"],
    ["similar", "doc", "--filter", f"path={EVIL}/"],
    ["similar", "doc", "--overlap", EVIL],
    ["similar", "doc", "--planner", EVIL],
    ["similar", "doc", "--id-field", EVIL],
    ["similar", "doc", f"--{EVIL}"],
    ["similar", "doc", "--store", f"{EVIL}://u:p@h/x"],
    ["compare", "doc", f"{EVIL}/1"],
    ["compare", f"docs/{EVIL}.txt", EVIL],
    ["compare", "doc", "bad.txt", "--html", f"{EVIL}/{EVIL}/x"],
    ["similar", "doc", "--exclude", EVIL],
    ["similar", "doc"],
    ["similar", "doc", "--measure", "containment", "--text-field", EVIL],
    ["passages", f'"{EVIL}/1"'],
    ["passages", EVIL],
    ["passages", "doc", EVIL],
    ["passages", "--text", TEXT],
    ["passages", "--file", f"docs/{EVIL}.txt"],
    ["passages", "--file", f"docs/{EVIL}.txt", "--file", f"docs/{EVIL}.bin"],
    ["passages", "--file", f"{EVIL}.txt"],
    ["passages", "--folder", "docs", "--html", "page.html"],
    ["passages", "--folder", EVIL, "--exclude-same-folder"],
    ["passages", "--all-from", "-"],
    ["passages", "doc", "--exclude", f"{EVIL}={EVIL}"],
    ["passages", "doc", "--html", f"{EVIL}/{EVIL}/x"],
    ["versions", f'"{EVIL}/1"', "--sentences"],
    ["versions", EVIL],
    ["defaults", "--max-distance", EVIL],
    ["defaults", "--min-score", "0.6"],
    ["versions", "--file", f"docs/{EVIL}.txt"],
    ["versions", "--file", EVIL],
    ["versions", "doc", "--filter", f"{EVIL}={EVIL}"],
    ["versions", "doc", "--html", "page.html", "--min-share", EVIL],
    ["versions", "doc", "--html", f"{EVIL}/{EVIL}/x"],
    ["related", f'"{EVIL}/1"'],
    ["related", EVIL],
    ["related", "--file", f"docs/{EVIL}.txt"],
    ["related", "doc", "--synonyms", EVIL],
    ["explain", f'"{EVIL}/1"_20_80'],
    ["explain", f"{EVIL}_20_80"],
    ["explain", f'"{EVIL}"_20_80'],
    ["explain", "doc_20", "--dsl", "--field", EVIL],
    ["list"],
    ["list", "--show", f"path,title,{EVIL}", "--sort", EVIL],
    ["list", EVIL],
    ["list", "docs"],
    ["list", "--show", f",{EVIL}"],
    ["show", f"{EVIL}/1"],
    ["show", f"{EVIL}.txt"],
    ["show", "doc", "--text-only"],
    ["show", EVIL],
    ["similar", "doc", "--show", f"path,{EVIL}", "--sort", EVIL],
    ["passages", "doc", "--show", f"path,{EVIL}"],
    ["related", "doc", "--show", f"path,{EVIL}"],
    ["serve", "--port", EVIL],
    ["serve", "--host", EVIL],
    ["serve", "--allowed-host", EVIL, f"{EVIL}2"],
    ["serve", "--store", f"{EVIL}2"],
    ["mcp", "--store", f"{EVIL}2"],
    ["mcp", EVIL],
    ["info"],
    ["languages"],
    ["languages", "docs", EVIL, "--workers", "1"],
    ["languages", "--filter", f"{EVIL}={EVIL}"],
    ["info", "--store", f"{EVIL}2"],
    ["delete", f"{EVIL}x"],
    ["dedupe", EVIL, "-o", f"{EVIL}.csv"],
    ["dedupe", "docs", "-o", "kept.csv", "--text", EVIL],
    ["backup", EVIL, f"{EVIL}/copy"],
    ["backup", f"{EVIL}x", f"{EVIL}y"],
    ["dedupe", EVIL, "--output", f"{EVIL}x"],
    ["dedupe", "rows.jsonl", "--output", f"{EVIL}.jsonl", "--text", EVIL],
    ["dedupe", "rows.jsonl", "--output", f"{EVIL}/x.jsonl", "--id", EVIL],
    ["duplicates", "--overlap", "1"],
    ["duplicates", EVIL],
    ["duplicates", "--keep", EVIL],
    ["duplicates", "--filter", f"{EVIL}={EVIL}"],
    ["duplicates", "--csv", f"{EVIL}/{EVIL}"],
    ["duplicates", "--plan", f"{EVIL}/{EVIL}"],
    ["duplicates", "--plan", "plan.tsv"],
    ["apply", "plan.tsv", "--move-to", EVIL, "--dry-run"],
    ["apply", "plan.tsv", "--hardlink", "--dry-run", "--store", EVIL],
    ["apply", EVIL, "--delete"],
    ["apply", "--undo", EVIL],
    ["repair", EVIL, "--to", f"{EVIL}/mended"],
    ["repair", f"{EVIL}x", "--to", f"{EVIL}y"],
    ["engine", "logs", "--port", EVIL],
    ["engine", "start", "--data", f"{EVIL}://"],
    ["template", "show", "--field", EVIL],
    ["template", "show", "--min-hash", EVIL],
    ["template", "show", "--pipeline", "--text-field", EVIL, "--field", EVIL],
    ["template", "install", EVIL],
    ["template", "show", "--search", "--field", EVIL],
    ["watch", EVIL],
    ["watch", EVIL, "--overlap", EVIL],
    ["watch", EVIL, "--store", f"http://{EVIL}/x"],
    ["check", EVIL],
    ["check", f"http://{EVIL}/x"],
    ["status", EVIL],
    ["status", f"http://{EVIL}/x", "--max-stale", EVIL],
    ["backfill", EVIL, "--text-field", EVIL],
    ["backfill", EVIL, "--text-field", EVIL, "--throttle", EVIL],
    ["backfill", EVIL, "--field", "simdoc_2", "--shingle-size", "4"],
    [EVIL],
    [f"--{EVIL}"],
]


@pytest.mark.parametrize("as_json", slow_after(1, [[], ["--json"]]), ids=" ".join)
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=pytest.mark.slow if command == "mcp" else ())  # its import takes a second
        for command in sorted({arguments[0] for arguments in ON_A_STORE})
    ],
    ids=printable,
)
def test_no_command_writes_control_characters(folder: Path, command: str, as_json: list[str]) -> None:
    """Ids, paths, metadata and arguments contain such characters."""
    stdin = f'{EVIL}\n"{EVIL}/1"\nnobody_{EVIL}\n_{EVIL}\n'
    for arguments in [arguments for arguments in ON_A_STORE if arguments[0] == command]:
        assert set() == harmful(run(*arguments, *as_json, stdin=stdin)), arguments


def test_a_hostile_id_is_shown_with_escapes(folder: Path) -> None:
    """The JSON has the id itself."""
    text = run("similar", "doc").stdout
    hits = json.loads(run("similar", "doc", "--json").stdout)["hits"]

    assert printable(f"{EVIL}/1") in text
    assert {f"{EVIL}.txt", f"{EVIL}/1", f"{EVIL}/2"} <= {hit["id"] for hit in hits}


def test_every_command_is_tried() -> None:
    """If this fails, add the new command to the list above."""
    from simdoc_search.cli.group import COMMANDS

    assert set(COMMANDS) <= {command[0] for command in ON_A_STORE}


MAPPING = {EVIL: build_index_body(Settings(), field="simdoc", store_texts=True)}
UNFIT = {EVIL: {"mappings": {"properties": {"simdoc": {"properties": {"tokens": {"type": EVIL}}}}}}}


def failing(status: int) -> Handler:
    """Return a handler that answers each request with an error that has a hostile name and reason."""
    return lambda _: error(status, EVIL, f"{EVIL} http://u:SECRET@h/x {EVIL}")


def hostile(mappings: Any) -> Handler:
    """Return a handler of an engine with a hostile index, ids and component template."""
    hit = {"_index": EVIL, "_id": EVIL, "_score": 1, "_source": {"simdoc": {"tokens": EVIL}, "body": EVIL}}
    shards = {"total": 1, "successful": 1, "failed": 0}
    counted = ("documents", "fingerprinted", "missing", "wordless", "current", "passages", "incomplete", "errors")
    examples = {name: {"ids": {"hits": {"hits": [hit]}}} for name in ("missing", "errors")}
    counts = {"states": {"buckets": {name: {"doc_count": 1} for name in counted}}}
    reasons = {"reasons": {"buckets": [{"key": EVIL, "doc_count": 1}]}}
    answers: dict[str, Any] = {
        "_search": {
            "hits": {"total": {"value": 1}, "hits": [hit]},
            "_shards": shards,
            "aggregations": {**counts, **reasons, **examples},
        },
        "_mget": {"docs": [{**hit, "found": True}]},
        "_ingest": {EVIL: {"processors": [{"pipeline": {"name": EVIL}}]}},
        "_count": {"count": 1, "_shards": shards},
        "_component_template": {"component_templates": [{"name": EVIL, "component_template": {"template": {}}}]},
        "_settings": {EVIL: {"settings": {"index": {"number_of_shards": "1"}}}},
        "_stats": {"_all": {"primaries": {"store": {"size_in_bytes": 1}, "docs": {"count": 1}}}, "indices": {}},
        "_mapping": mappings,
        "_cluster": {},
        "_nodes": {"nodes": {EVIL: {"name": EVIL, "fs": {"total": {"total_in_bytes": 9, "available_in_bytes": 1}}}}},
    }
    index = {"number_of_shards": "1", "final_pipeline": EVIL, "default_pipeline": EVIL[1:]}
    whole = {EVIL: {**mappings[EVIL], "settings": {"index": index}, "aliases": {EVIL: {}}}}
    return lambda request: answer(next((answers[part] for part in answers if part in request.path), whole))


ON_AN_ENGINE: list[Callable[[str], list[str]]] = [
    lambda url: ["info", "--store", f"{url}/docs"],
    lambda url: ["similar", "doc", "--store", f"{url}/docs"],
    lambda url: ["similar", "--text", TEXT, "--store", f"{url}/docs"],
    lambda url: ["list", "--store", f"{url}/docs"],
    lambda url: ["show", "doc", "--store", f"{url}/docs"],
    lambda url: ["passages", "doc", "--store", f"{url}/docs"],
    lambda url: ["passages", "--text", TEXT, "--text-field", "body", "--store", f"{url}/docs"],
    lambda url: ["versions", "doc", "--store", f"{url}/docs"],
    lambda url: ["related", "doc", "--store", f"{url}/docs"],
    lambda url: ["explain", "doc_20", "--store", f"{url}/docs"],
    lambda url: ["delete", "doc", "--store", f"{url}/docs"],
    lambda url: ["check", f"{url}/docs"],
    lambda url: ["status", f"{url}/docs", "--text-field", "body"],
    lambda url: ["backfill", f"{url}/docs", "--text-field", "body", "--dry-run"],
    lambda url: ["backfill", f"{url}/docs", "--shingle-size", "4", "--text-field", "body"],
    lambda url: ["template", "install", url],
    lambda url: ["template", "install", url, "--pipeline", "--text-field", EVIL, "--name", EVIL],
    lambda url: ["template", "install", url, "--pipeline", "--index", "docs"],
    lambda url: ["template", "install", url, "--search"],
    lambda url: ["watch", "doc", "--store", f"{url}/docs"],
    lambda url: ["watch", "--check-new", "doc", "--store", f"{url}/docs"],
    lambda url: ["watch", "--list", "--store", f"{url}/docs"],
    lambda url: ["watch", "--remove", EVIL, "--store", f"{url}/docs"],
]


@pytest.fixture
def engine() -> Iterator[Server]:
    """An engine whose handler a test replaces."""
    with serving(failing(500)) as running:
        yield running


@pytest.mark.parametrize(
    "handler", slow_after(2, [failing(500), hostile(MAPPING), hostile(UNFIT), failing(400), failing(403), failing(404)])
)
def test_no_engine_makes_a_command_write_control_characters(engine: Server, handler: Handler) -> None:
    """Nor does a command repeat the password of an address in the engine's messages."""
    engine.handle = handler
    for command, as_json in product(ON_AN_ENGINE, ([], ["--json"])):
        arguments = [*command(engine.url), *as_json]
        result = run(*arguments)

        assert set() == harmful(result), arguments
        assert "SECRET" not in result.stdout + result.stderr, arguments
