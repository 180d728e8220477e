"""The site of docs/ is built without a warning, and has what people look up."""

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

from simdoc_search.cli.group import cli
from tests.support.cli import answer, words, write, write_corpus

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
    assert [] == [name for name in cli.commands if f"simdoc-search {name}" not in commands.replace("-" * 3, "")]
    assert "SimilaritySearch.similar" in (tmp_path / "site" / "api.html").read_text("utf-8")


def test_the_pictures_are_those_of_the_script(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "pictures.py", tmp_path], check=True)
    drawn = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}

    assert 3 < len(drawn)
    assert drawn == {path.name: path.read_text("utf-8") for path in (ROOT / "docs" / "pictures").iterdir()}


def shapes() -> list[tuple[str, Any]]:
    """Each command of the page about JSON, and what is documented to be printed."""
    page = (ROOT / "docs" / "json.md").read_text("utf-8")
    pairs = re.findall(r"^```console\n\$ (.*?)\n```\n\n```json\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [(command, json.loads(shown)) for command, shown in pairs]


def differences(documented: Any, printed: Any, at: str = "") -> Iterator[str]:
    """Where two values have other keys, or are of another kind; of lists the first parts count."""
    if isinstance(documented, dict) and isinstance(printed, dict):
        yield from (f"{at}.{key}" for key in documented.keys() ^ printed.keys())
        for key in documented.keys() & printed.keys():
            yield from differences(documented[key], printed[key], f"{at}.{key}")
    elif isinstance(documented, list) and isinstance(printed, list):
        for pair in zip(documented[:1], printed[:1], strict=False):
            yield from differences(*pair, f"{at}[]")
    elif not (isinstance(documented, int | float) and isinstance(printed, int | float)) and type(
        documented
    ) is not type(printed):
        yield f"{at}: {documented!r}, {printed!r}"


def test_the_json_of_commands_is_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "corpus")
    write(tmp_path, {"draft.txt": words(0, 150), "corpus/empty.txt": ""})
    found = {
        command: list(differences(documented, answer(*shlex.split(command)[1:]))) for command, documented in shapes()
    }

    assert 7 < len(found)
    assert {} == {command: difference for command, difference in found.items() if difference}
