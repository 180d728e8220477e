"""The commands that install what is missing, and all commands where only the extra `cli` is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from simdoc_search import MissingExtraError
from simdoc_search.cli.group import COMMANDS
from simdoc_search.installation import install_command
from tests.support.cli import environment, process, words, write

HIDE_MODULES = """
import json, sys
from importlib.machinery import PathFinder
hidden = set(json.loads({names!r}))
class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else PathFinder.find_spec(name, path, target)
sys.meta_path = [Finder if finder is PathFinder else finder for finder in sys.meta_path]
"""
URL = "http://127.0.0.1:9"
PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
PIP = "pip install 'simdoc-search["


def installed_modules(extra: str) -> set[str]:
    """Return the top-level modules that an extra needs, with those of its requirements."""
    found: set[tuple[str, str]] = set()
    waiting = [("simdoc-search", extra)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in found:
            continue
        found.add((name, extra))
        for line in metadata.requires(name) or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                waiting += [(requirement.name.lower(), wanted) for wanted in ("", *requirement.extras)]
    names = {name.replace("_", "-") for name, _ in found}
    modules = metadata.packages_distributions()
    return {module for module, owners in modules.items() if any(o.lower().replace("_", "-") in names for o in owners)}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `sitecustomize` hides everything that the extra `cli` does not install."""
    folder = tmp_path_factory.mktemp("bare")
    hidden = sorted({*metadata.packages_distributions()} - installed_modules("cli") - {"simdoc_search"})
    write(folder, {"sitecustomize.py": HIDE_MODULES.format(names=json.dumps(hidden))})
    assert {"kreuzberg", "starlette", "anyio", "sentencex", "watchfiles", "opensearchpy", "pyarrow"} < {*hidden}
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, bare: Path) -> Path:
    """A folder with an index that the extra `cli` has made."""
    folder = tmp_path_factory.mktemp("indexed")
    texts = {"a.txt": words(0, 60), "b.txt": words(0, 60), "c.txt": words(5, 70), "d.html": words(20, 90)}
    write(folder, {"docs/e.pdf": PDF, **{f"docs/{name}": text for name, text in texts.items()}})
    write(folder, {"rows.csv": "text\none two\n", "rows.parquet": b"PAR1"})
    write(folder, {"pairs.tsv": "a.txt\tb.txt\tyes\na.txt\td.html\tno\n"})
    done = run(folder, bare, "index", "docs")
    assert done.stdout.startswith("4 indexed"), done.stderr
    assert f"{PIP}documents]'" in done.stderr
    process("duplicates", "docs", "--plan", "plan.tsv", cwd=folder)
    return folder


def run(folder: Path, bare: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command where only the extra `cli` is installed."""
    command = [sys.executable, "-m", "simdoc_search", *map(str, arguments)]
    values = environment(PYTHONPATH=f"{bare}:{Path(__file__).parents[1]}")
    return subprocess.run(
        command, check=False, cwd=folder, env=values, capture_output=True, text=True, encoding="utf-8", timeout=60
    )


WORKING: list[tuple[str, ...]] = [
    ("similar", "a"),
    ("similar", "FINGERPRINT:a_20 AND path:b"),
    ("passages", "a"),
    ("passages", "--file", "docs/a.txt", "--in", "docs"),
    ("compare", "a", "d"),
    ("duplicates", "docs"),
    ("apply", "plan.tsv", "--move-to", "dropped", "--dry-run"),
    ("list",),
    ("show", "a"),
    ("info",),
    ("languages",),
    ("delete", "c.txt"),
    ("template", "show"),
    ("check", ".simdoc"),
    ("repair", ".simdoc", "--to", "repaired"),
    ("backup", ".simdoc", "copy"),
    ("defaults",),
    ("tune", "docs", "--pairs", "pairs.tsv"),
    ("explain", "a_20"),
]
NEEDING: dict[tuple[str, ...], str] = {
    ("versions", "a"): "versions",
    ("index", "--with", "versions"): "versions",
    ("index", "--with", "related"): "language",
    ("index", "docs", "--watch"): "watch",
    ("index", "docs", "--store", "new", "--language"): "language",
    ("languages", "docs"): "language",
    ("serve", "--port", "0"): "web",
    ("dedupe", "rows.csv", "-o", "kept.csv"): "datasets",
    ("dedupe", "rows.parquet", "-o", "kept.parquet"): "datasets",
    ("backfill", f"{URL}/articles", "--text-field", "body"): "opensearch,elasticsearch",
    ("status", f"{URL}/articles"): "opensearch,elasticsearch",
    ("watch", "a", "--store", f"{URL}/articles"): "opensearch,elasticsearch",
    ("template", "install", URL): "opensearch,elasticsearch",
    ("engine", "start", "--port", "9231"): "engine",
    ("mcp",): "mcp",
}


def test_every_command_is_tried() -> None:
    """`related` needs an index with concepts, which the extra `cli` cannot make."""
    assert {*COMMANDS} == {command[0] for command in [*WORKING, *NEEDING, ("related",)]}


@pytest.mark.slow
@pytest.mark.parametrize("command", WORKING, ids=" ".join)
def test_a_command_works_with_the_extra_cli(command: tuple[str, ...], folder: Path, bare: Path) -> None:
    done = run(folder, bare, *command)

    assert 0 == done.returncode, done.stderr
    assert "Traceback" not in done.stderr
    assert PIP not in done.stderr.replace(f"{PIP}documents]'", "")


@pytest.mark.slow
@pytest.mark.parametrize(("command", "extra"), NEEDING.items(), ids=str)
def test_a_command_says_in_one_sentence_what_to_install(
    command: tuple[str, ...], extra: str, folder: Path, bare: Path
) -> None:
    done = run(folder, bare, *command)
    (error,) = (line for line in done.stderr.splitlines() if line.startswith("Error: "))

    assert 1 == done.returncode
    assert "Traceback" not in done.stderr
    assert error.endswith(f"{PIP}{extra}]'")


def test_the_command_fits_the_way_of_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr("simdoc_search.installation._find_source", lambda: "simdoc-search")

    assert "pip install 'simdoc-search[web]'" == install_command("web")
    write(tmp_path, {"uv-receipt.toml": ""})
    assert "uv tool install 'simdoc-search[full]'" == install_command("web")
    assert "uv tool install 'simdoc-search[full,opensearch]'" == install_command("opensearch")
    write(tmp_path, {"pipx_metadata.json": "{}"})
    assert "pipx inject simdoc-search 'simdoc-search[web]'" == install_command("web")
    assert str(MissingExtraError("the server", "web")).endswith(install_command("web"))


def test_an_installation_from_a_folder_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class FromFolder:
        def read_text(self, name: str) -> str:
            return json.dumps({"url": f"file://{tmp_path}/my%20checkout"}) if name == "direct_url.json" else ""

    monkeypatch.setattr(sys, "prefix", str(write(tmp_path, {"uv-receipt.toml": ""})))
    monkeypatch.setattr(metadata, "distribution", lambda _: FromFolder())

    assert f"uv tool install '{tmp_path}/my checkout[full]'" == install_command("web")
