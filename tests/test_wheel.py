"""What is installed from the built wheel works: nothing is left behind in the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from simdoc_search.stores.remote.index_body import component_template

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
BUILT_FROM = ("pyproject.toml", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE", "docker-compose.yml")
FOLDERS = ("simdoc_search", "index_templates", "scripts", "tests")
PACKAGE_FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "simdoc_search").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
)


def python(*arguments: object, cwd: Path, path: Path | None = None) -> str:
    """What a Python process prints; it must succeed."""
    env = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, check=False, cwd=cwd, env=env, capture_output=True, text=True, timeout=120)
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, as git has it: without what was built in it."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, copy)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def built(checkout: Path) -> Path:
    """The folder with the source distribution and the wheel that was made from it."""
    python("-m", "build", "--no-isolation", "--outdir", checkout / "dist", cwd=checkout)
    return checkout / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel."""
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """A folder into which the wheel is installed."""
    target = wheel.parent / "installed"
    python("-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", target, wheel, cwd=wheel.parent)
    return target


def files(wheel: Path) -> dict[str, int]:
    """Its files and their checksums."""
    with zipfile.ZipFile(wheel) as archive:
        return {info.filename: info.CRC for info in archive.infolist()}


def test_the_wheel_holds_the_whole_package_and_the_templates(wheel: Path) -> None:
    """Modules, the mark that types are checked, the table of word breaks; and index_templates, from the top."""
    held = [name for name in files(wheel) if name.startswith("simdoc_search/")]
    templates = [f"simdoc_search/index_templates/{path.name}" for path in (ROOT / "index_templates").iterdir()]

    assert {"simdoc_search/py.typed", "simdoc_search/analysis/word_break_12_1.txt"} < set(held)
    assert sorted([*PACKAGE_FILES, *templates]) == sorted(held)


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    """No tests, no scripts: the package and what describes it, the licence too."""
    others = [name for name in files(wheel) if not name.startswith("simdoc_search/")]

    assert [] != others
    assert [] == [name for name in others if not name.partition("/")[0].endswith(".dist-info")]
    assert [] != [name for name in others if name.endswith("licenses/LICENSE")]


def test_the_source_distribution_gives_the_same_wheel(built: Path, wheel: Path, checkout: Path) -> None:
    """File by file, whether it is built from the checkout or from the source distribution."""
    python("-m", "build", "--no-isolation", "--wheel", "--outdir", built / "direct", cwd=checkout)

    assert files(wheel) == files(built / "direct" / wheel.name)


def test_the_source_distribution_holds_what_is_needed_and_no_tests(built: Path) -> None:
    """The package, its templates, the documents."""
    (found,) = built.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}

    assert {*PACKAGE_FILES, "index_templates/simdoc.component.json", "README.md", "LICENSE", "pyproject.toml"} <= held
    assert [] == [name for name in held if name.startswith(("tests", ".venv", ".git/"))]


def test_the_template_is_loaded_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """Without the checkout it is the same."""
    code = """
import simdoc_search
from simdoc_search.stores.remote.index_body import component_template
print(simdoc_search.__file__, component_template(), sep="\\n")
"""
    place, template = python("-c", code, cwd=tmp_path, path=installed).splitlines()

    assert str(installed / "simdoc_search/__init__.py") == place
    assert repr(component_template()) == template


def test_the_program_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """It says its version, indexes and answers."""
    (tmp_path / "a.txt").write_text("one two three four five six")
    (tmp_path / "b.txt").write_text("One, two, three, four, five, six.")

    def program(*arguments: str) -> str:
        return python("-m", "simdoc_search", *arguments, cwd=tmp_path, path=installed)

    (information,) = installed.glob("simdoc_search-*.dist-info")

    assert f"simdoc-search {information.stem.partition('-')[2]}\n" == program("--version")
    assert program("index", "a.txt", "b.txt").startswith("2 indexed")
    assert "b.txt" in program("similar", "a_80")


def test_the_wheel_brings_the_command(wheel: Path) -> None:
    """Installing it puts `simdoc-search` on the path."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith("entry_points.txt"))

        assert "simdoc-search = simdoc_search.cli:main" in archive.read(name).decode()


def test_the_core_needs_numpy_alone(wheel: Path) -> None:
    """Everything else is an extra; cli, local and dev are offered."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith("METADATA"))
        lines = archive.read(name).decode().splitlines()
    needed = [line for line in lines if line.startswith("Requires-Dist:") and "extra ==" not in line]

    assert ["numpy"] == [line.split()[1].partition(">")[0] for line in needed]
    assert {"cli", "dev", "local"} <= {line.split()[1] for line in lines if line.startswith("Provides-Extra:")}
