"""Nothing that lies where the user stands is imported: a folder that is indexed holds documents, no modules of ours."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.support import cli, formats

pytestmark = pytest.mark.slow

COMMAND = Path(sysconfig.get_path("scripts")) / "simdoc-search"

OURS = {
    "simdoc_search",
    "numpy",
    "tantivy",
    "click",
    "rich",
    "selectolax",
    "chardet",
    "kreuzberg",
    "pyarrow",
}
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
def marks(tmp_path: Path) -> Path:
    """Where a module from the folder says that it was imported."""
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


@pytest.fixture
def hostile(tmp_path: Path, marks: Path) -> Path:
    """A folder with a module for every name that Python or we may import, and with documents of several kinds."""
    folder = cli.write(tmp_path / "hostile", {f"{name}.py": HOSTILE.format(marks=str(marks)) for name in NAMES})
    pages = "<p>" + cli.words(0, 60_000)  # large enough for a worker
    return cli.write(folder, {"a.odt": formats.odt(), "b.html": pages, "c.txt": "ein schöner Tag".encode("latin-1")})


def run(*command: object, cwd: Path, **values: str) -> subprocess.CompletedProcess[str]:
    """A process in a folder, which must succeed."""
    done = subprocess.run(
        [*map(str, command)], check=False, cwd=cwd, env=cli.environment(**values), capture_output=True, text=True
    )
    assert (0, "") == (done.returncode, done.stderr)
    return done


def imported(marks: Path) -> dict[str, str]:
    """The modules that were imported from the folder, and the arguments of the processes that did."""
    return {mark.name: mark.read_text() for mark in marks.iterdir()}


@pytest.mark.parametrize("workers", [1, 2])
def test_the_command_imports_nothing_from_where_it_is_started(
    workers: int, hostile: Path, marks: Path, tmp_path: Path
) -> None:
    """Indexing `.`, by worker processes too, runs no module that lies there, whatever its name."""
    options = ("--store", tmp_path / "store", "--workers", workers, "--json")
    report = json.loads(run(COMMAND, "index", ".", *options, cwd=hostile).stdout)

    assert {} == imported(marks)
    assert (len(NAMES) + 3, []) == (report["indexed"], report["skipped"])


def test_the_command_reads_a_file_without_importing_from_where_it_is_started(
    hostile: Path, marks: Path, tmp_path: Path
) -> None:
    """`similar --file` has a worker process too."""
    store = tmp_path / "store"
    run(COMMAND, "index", "c.txt", "--store", store, cwd=hostile)
    run(COMMAND, "similar", "--file", "a.odt", "--overlap", "20", "--store", store, cwd=hostile)

    assert {} == imported(marks)


def loaded_by_python_itself(folder: Path) -> set[str]:
    """What `python -m` imports before it comes to the named module: from the working directory, as Python has it."""
    cli.write(folder, {"empty.py": "import sys; print(*sys.modules)"})
    return set(run(sys.executable, "-m", "empty", cwd=folder).stdout.split())


def test_as_a_module_it_imports_nothing_from_where_it_is_started(hostile: Path, marks: Path, tmp_path: Path) -> None:
    """`python -m simdoc_search` does the same, with all that Python itself has not imported for `-m` before."""
    for name in {"simdoc_search", *loaded_by_python_itself(tmp_path)} & NAMES:
        (hostile / f"{name}.py").unlink()
    options = ("--store", tmp_path / "store", "--workers", 2, "--json")
    report = json.loads(run(sys.executable, "-m", "simdoc_search", "index", ".", *options, cwd=hostile).stdout)

    assert {} == imported(marks)
    assert [] == report["skipped"]


def test_a_library_imports_nothing_from_where_its_user_stands(hostile: Path, marks: Path, tmp_path: Path) -> None:
    """Nor do an application's workers, though it may itself; they need no `__main__` guard and no class of its."""
    script = cli.write(tmp_path / "application", {"script.py": LIBRARY}) / "script.py"
    once, report = run(sys.executable, script, cwd=hostile).stdout.splitlines()

    assert {} == imported(marks)
    assert "a script runs once" == once
    assert (400 + len(NAMES) + 3, [], "red") == tuple(
        json.loads(report)[name] for name in ("indexed", "skipped", "colour")
    )


def test_a_folder_that_pythonpath_names_is_meant(tmp_path: Path) -> None:
    """What a user put on Python's path on purpose is there for workers too, even where she stands."""
    library = "import types\ndef detect_mime_type(data): return 'application/pdf'\ndetect_mime_type_from_path = None\n"
    library += "def ExtractionConfig(**options): return None\nPageConfig = ExtractionConfig\n"
    library += f"def extract_bytes_sync(*_): return types.SimpleNamespace(content='{cli.words(0, 200)}')\n"
    folder = cli.write(tmp_path / "folder", {"kreuzberg.py": library, "a.pdf": formats.pdf()})
    store = tmp_path / "store"
    run(COMMAND, "index", "a.pdf", "--store", store, cwd=folder, PYTHONPATH=str(folder))
    found = run(COMMAND, "similar", "--text", cli.words(0, 200), "--overlap", "100", "--store", store, cwd=folder)

    assert "a.pdf" in found.stdout
