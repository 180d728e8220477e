"""Nothing is imported from the current directory, which may be the folder being indexed."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import cli, formats

pytestmark = pytest.mark.slow

COMMAND = Path(sysconfig.get_path("scripts")) / "simdoc-search"

OURS = {"simdoc_search", "numpy", "tantivy", "click", "rich", "selectolax", "chardet", "kreuzberg", "pyarrow"}
NAMES = {*sys.stdlib_module_names, "sitecustomize", "usercustomize", *OURS} - {"__main__", "antigravity", "this"}

HOSTILE = """
import os, sys
with open(os.path.join({marks!r}, __name__), "a") as mark:
    mark.write(repr(sys.argv) + chr(10))
raise ImportError("imported from the folder that is indexed")
"""

LIBRARY = """
import json, sys
from collections import UserDict
from dataclasses import asdict
from enum import Enum

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus

class Colour(str, Enum):
    RED = "red"

class Letter(Document):
    pass

print("a script runs once")
search = SimilaritySearch(open_store(":memory:"))
search.index([Document("first", "now all is loaded")])
sys.path.insert(0, "")  # as in an interactive Python
letters = [Letter(f"letter{n}", f"some words of letter {n}", {"colour": Colour.RED, "n": n}) for n in range(400)]
report = search.index([*letters, *read_corpus(["."])], workers=2)
print(json.dumps({**asdict(report), "colour": search.store.get("letter7").metadata["colour"]}))
"""


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Path]:
    """A folder with documents, and with a module for every name that Python or this package may import.

    At the end, none of the modules was imported.
    """
    (tmp_path / "marks").mkdir()
    folder = cli.write(tmp_path / "hostile", {f"{n}.py": HOSTILE.format(marks=str(tmp_path / "marks")) for n in NAMES})
    pages = "<p>" + cli.words(0, 60_000)  # large enough for a worker
    cli.write(folder, {"a.rtf": formats.rtf(), "b.html": pages, "c.txt": "ein schöner Tag".encode("latin-1")})
    yield folder
    assert {} == {mark.name: mark.read_text() for mark in (tmp_path / "marks").iterdir()}


def run(*command: object, cwd: Path, **values: str) -> subprocess.CompletedProcess[str]:
    """Run a process in a folder. It must succeed."""
    done = subprocess.run(
        [*map(str, command)], check=False, cwd=cwd, env=cli.environment(**values), capture_output=True, text=True
    )
    assert (0, "") == (done.returncode, done.stderr)
    return done


def test_the_command_imports_nothing_from_the_current_directory(hostile: Path, tmp_path: Path) -> None:
    store = ("--store", tmp_path / "store")
    report = json.loads(run(COMMAND, "index", ".", *store, "--workers", 2, "--json", cwd=hostile).stdout)
    run(COMMAND, "similar", "--file", "a.rtf", "--overlap", "20", *store, cwd=hostile)

    assert (len(NAMES) + 3, []) == (report["added_count"], report["skipped"])


def test_python_m_imports_nothing_from_the_current_directory(hostile: Path, tmp_path: Path) -> None:
    """Python itself imports some modules before."""
    cli.write(tmp_path, {"empty.py": "import sys; print(*sys.modules)"})
    for name in {"simdoc_search", *run(sys.executable, "-m", "empty", cwd=tmp_path).stdout.split()} & NAMES:
        (hostile / f"{name}.py").unlink()
    options = ("--store", tmp_path / "store", "--workers", 2, "--json")
    report = json.loads(run(sys.executable, "-m", "simdoc_search", "index", ".", *options, cwd=hostile).stdout)

    assert [] == report["skipped"]


def test_workers_of_a_library_import_nothing_from_the_current_directory(hostile: Path, tmp_path: Path) -> None:
    """They need neither a `__main__` guard nor classes of the application."""
    script = cli.write(tmp_path / "application", {"script.py": LIBRARY}) / "script.py"
    once, report = run(sys.executable, script, cwd=hostile).stdout.splitlines()

    assert "a script runs once" == once
    assert (400 + len(NAMES) + 3, [], "red") == tuple(
        json.loads(report)[name] for name in ("added_count", "skipped", "colour")
    )


def test_a_folder_in_pythonpath_is_imported_from(tmp_path: Path) -> None:
    library = "import types\ndef detect_mime_type(data): return 'application/pdf'\ndetect_mime_type_from_path = None\n"
    library += "def ExtractionConfig(**options): return None\nPageConfig = ExtractionConfig\n"
    library += (
        f"def extract_bytes_sync(*_): return types.SimpleNamespace(pages=[dict(content='{cli.words(0, 200)}')])\n"
    )
    folder = cli.write(tmp_path / "folder", {"kreuzberg.py": library, "a.pdf": formats.pdf()})
    store = tmp_path / "store"
    run(COMMAND, "index", "a.pdf", "--store", store, cwd=folder, PYTHONPATH=str(folder))
    found = run(COMMAND, "similar", "--text", cli.words(0, 200), "--overlap", "100", "--store", store, cwd=folder)

    assert "a.pdf" in found.stdout
