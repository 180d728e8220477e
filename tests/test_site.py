"""The site of docs/ is built without a warning. Its pictures and JSON examples are current."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.cli.group import load_commands
from tests.support.cli import answer, json_values, output, words, write, write_corpus
from tests.support.scripts import run_script

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", str(tmp_path / "site")]
    built = subprocess.run(
        [*command, "-d", str(tmp_path / "trees")], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (0, "") == (built.returncode, built.stderr)
    assert {f"{name}.html" for name in PAGES} <= {path.name for path in (tmp_path / "site").iterdir()}
    assert (tmp_path / "site" / "searchindex.js").stat().st_size > 10_000
    commands = (tmp_path / "site" / "commands.html").read_text("utf-8")
    assert [] == [name for name in load_commands() if f"simdoc-search {name}" not in commands.replace("-" * 3, "")]
    assert "SimilaritySearch.similar" in (tmp_path / "site" / "api.html").read_text("utf-8")


@pytest.mark.slow
def test_the_pictures_are_those_of_the_script(tmp_path: Path) -> None:
    run_script(ROOT / "scripts" / "pictures.py", tmp_path)
    drawn = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}

    assert 3 < len(drawn)
    assert drawn == {path.name: path.read_text("utf-8") for path in (ROOT / "docs" / "pictures").glob("*.svg")}


def documented_outputs() -> list[tuple[str, Any]]:
    """The commands on the page about JSON, with their documented output."""
    page = (ROOT / "docs" / "json.md").read_text("utf-8")
    pairs = re.findall(r"^```console\n\$ (.*?)\n```\n\n```json\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [(command, json.loads(shown)) for command, shown in pairs]


def differences(expected: Any, printed: Any, path: str = "") -> Iterator[str]:
    """Yield where two values have different keys or types. Only the first items of lists are compared."""
    if isinstance(expected, dict) and isinstance(printed, dict):
        yield from (f"{path}.{key}" for key in sorted(expected.keys() - printed.keys()))
        yield from (f"{path}.{key} is new" for key in sorted(printed.keys() - expected.keys()))
        for key in expected.keys() & printed.keys():
            yield from differences(expected[key], printed[key], f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(printed, list):
        for pair in zip(expected[:1], printed[:1], strict=False):
            yield from differences(*pair, f"{path}[]")
    elif not (isinstance(expected, int | float) and isinstance(printed, int | float)) and type(expected) is not type(
        printed
    ):
        yield f"{path}: {expected!r}, {printed!r}"


def test_commands_print_the_documented_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "corpus")
    write(tmp_path, {"draft.txt": words(0, 150), "corpus/empty.txt": ""})
    found = {
        command: list(differences(expected, answer(*shlex.split(command)[1:])))
        for command, expected in documented_outputs()
    }

    assert 7 < len(found)
    assert {} == {command: difference for command, difference in found.items() if difference}


@pytest.mark.usefixtures("read_in_this_process")
def test_commands_still_print_the_json_of_0_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New keys are allowed. Until 0.1 is released, other changes are allowed, too: write the file again with

    python scripts/golden_formats.py tests/data/formats_0_1
    """
    for package in ("stop_words", "sentencex", "pyarrow"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    golden = json.loads((ROOT / "tests" / "data" / "formats_0_1" / "commands.json").read_text("utf-8"))
    write(tmp_path, golden["files"])
    found: dict[str, list[str]] = {}
    for command, expected in golden["outputs"].items():
        printed = json_values(output(*command.split(), "--json"))
        changed = [change for change in differences(expected, printed) if not change.endswith(" is new")]
        found |= {command: changed} if changed else {}

    assert 20 < len(golden["outputs"])
    assert {} == found
