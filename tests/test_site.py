"""The site of docs/ is built without a warning, and has what people look up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from simdoc_search.cli.group import cli

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Every page is reached; each command and each public name is there, and the search has an index."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", tmp_path / "site"]
    built = subprocess.run([*command, "-d", tmp_path / "trees"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (0, "") == (built.returncode, built.stderr)
    assert {f"{name}.html" for name in PAGES} <= {path.name for path in (tmp_path / "site").iterdir()}
    assert (tmp_path / "site" / "searchindex.js").stat().st_size > 10_000
    commands = (tmp_path / "site" / "commands.html").read_text("utf-8")
    assert [] == [name for name in cli.commands if f"simdoc-search {name}" not in commands.replace("-" * 3, "")]
    assert "SimilaritySearch.similar" in (tmp_path / "site" / "api.html").read_text("utf-8")


def test_the_pictures_are_those_of_the_script(tmp_path: Path) -> None:
    """Nobody has drawn into them by hand, and the curve is that of today's plans."""
    subprocess.run([sys.executable, ROOT / "scripts" / "pictures.py", tmp_path], check=True)
    drawn = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}

    assert 3 < len(drawn)
    assert drawn == {path.name: path.read_text("utf-8") for path in (ROOT / "docs" / "pictures").iterdir()}
