"""The wheel contains everything that an installation needs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from simdoc_search import __version__
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import environment as cli_environment
from tests.support.scripts import run_script

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
LICENCES = ("LICENSE", "LICENSE-UNICODE.txt")
BUILT_FROM = ("pyproject.toml", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "docker-compose.yml", *LICENCES)
FOLDERS = ("simdoc_search", "index_templates", "scripts", "tests")
PACKAGE_FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "simdoc_search").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
)


def clean() -> dict[str, str]:
    """The environment variables, without PYTHONPATH, which leads to this checkout."""
    return {name: value for name, value in cli_environment().items() if name != "PYTHONPATH"}


def output_of(*command: object, cwd: Path) -> str:
    """Run a process that must succeed, and return its output."""
    arguments = [*map(str, command)]
    done = subprocess.run(arguments, check=False, cwd=cwd, env=clean(), capture_output=True, text=True, timeout=120)
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


def python(*arguments: object, cwd: Path) -> str:
    """Run this Python, and return its output."""
    return output_of(sys.executable, *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout without build artifacts."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, copy)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def built(checkout: Path) -> Path:
    """The folder with the source distribution and the wheel that was built from it."""
    python("-m", "build", "--no-isolation", "--outdir", checkout / "dist", cwd=checkout)
    return checkout / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel."""
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def core(wheel: Path) -> Path:
    """The folder of programs of a new environment that contains only the wheel and numpy."""
    programs, packages = environment(wheel, "core")
    numpy = Path(find_spec("numpy").origin).parent  # type: ignore[union-attr, arg-type]
    for folder in (numpy, numpy.with_name("numpy.libs")):
        if folder.exists():
            (packages / folder.name).symlink_to(folder)
    return programs


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The folder of programs of a new environment with the wheel and all packages of this environment."""
    programs, packages = environment(wheel, "all")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    return programs


def environment(wheel: Path, name: str) -> tuple[Path, Path]:
    """Create an environment with the wheel. Return its folder of programs and its folder of packages."""
    folder = wheel.parent / name
    python("-m", "venv", "--without-pip", folder, cwd=wheel.parent)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    python("-m", "pip", "--python", folder, "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=wheel.parent)
    (package,) = folder.rglob("site-packages/simdoc_search")
    return programs, package.parent


def test_the_wheel_has_the_package_and_the_templates_and_requires_numpy_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith("METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    files = [name for name in names if name.startswith("simdoc_search/")]
    others = [name for name in names if not name.startswith("simdoc_search/")]
    templates = [f"simdoc_search/index_templates/{path.name}" for path in (ROOT / "index_templates").iterdir()]
    required = [line for line in lines if line.startswith("Requires-Dist:") and "extra ==" not in line]

    assert {"simdoc_search/py.typed", "simdoc_search/analysis/word_break_12_1.txt"} < set(files)
    assert sorted([*PACKAGE_FILES, *templates]) == sorted(files)
    assert [] == [name for name in others if not name.partition("/")[0].endswith(".dist-info")]
    assert [*LICENCES] == sorted(name.partition("/licenses/")[2] for name in others if "/licenses/" in name)
    assert ["numpy"] == [line.split()[1].partition(">")[0] for line in required]
    assert {"cli", "dev", "local"} <= {line.split()[1] for line in lines if line.startswith("Provides-Extra:")}


def test_the_source_distribution_has_the_package_and_no_tests(built: Path) -> None:
    (found,) = built.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {*PACKAGE_FILES, "index_templates/simdoc.component.json", "README.md", "pyproject.toml", *LICENCES} <= names
    assert [] == [name for name in names if name.startswith(("tests", ".venv", ".git/"))]


@pytest.mark.parametrize("repository", ["", "https://example.org/a/b"])
def test_the_description_on_pypi_has_no_relative_links(checkout: Path, tmp_path: Path, repository: str) -> None:
    """Without a public repository, links are replaced with their text."""
    shutil.copytree(checkout, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("dist", "tests"))
    with (tmp_path / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[project.urls]\nRepository = "{repository}"\n' if repository else "")
    text = python("-m", "hatchling", "metadata", "readme", cwd=tmp_path)
    tag = f"https://example.org/a/b/{{}}/v{__version__}/docs"

    assert [] == re.findall(r"\]\((?!https?:)[^)]*\)", text)
    assert ("[clean up copies]" in text) == (f"]({tag.format('blob')}/duplicates.md)" in text) == bool(repository)
    assert (f"]({tag.format('raw')}/pictures/terminal.svg)" in text) == bool(repository)
    assert "clean up copies" in text


def test_the_recipes_fit_the_source_distribution(built: Path, wheel: Path, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="the package PyYAML is not installed")
    (sdist,) = built.glob("*.tar.gz")
    lock = tmp_path / "pylock.toml"
    lock.write_text(
        "[[packages]]\nname = 'click'\n"
        "sdist = {url = 'https://mirror/packages/a/click-8.tar.gz', hashes = {sha256 = 'c0'}}"
    )
    run_script(ROOT / "scripts" / "release_recipes.py", sdist, lock, tmp_path)
    recipe = yaml.safe_load((tmp_path / "recipe.yaml").read_text("utf-8"))
    formula = (tmp_path / "simdoc-search.rb").read_text("utf-8")
    checksum = hashlib.sha256(sdist.read_bytes()).hexdigest()
    required = [line.split()[0] for line in recipe["requirements"]["run"]]

    assert (checksum, __version__) == (recipe["source"]["sha256"], recipe["package"]["version"])
    assert f'sha256 "{checksum}"' in formula
    assert f"https://mirror/packages/source/s/simdoc-search/{sdist.name}" == recipe["source"]["url"]
    assert wheel.name.startswith(sdist.name.removesuffix(".tar.gz"))
    assert {"python", "numpy", "tantivy", "click", "kreuzberg", "starlette", "watchfiles"} < set(required)
    assert {"opensearch-py", "pytest", "simdoc-search"}.isdisjoint(required)
    assert 'url "https://mirror/packages/a/click-8.tar.gz"\n    sha256 "c0"' in formula


def test_the_core_works_with_numpy_alone(core: Path, tmp_path: Path) -> None:
    code = """
import simdoc_search
from simdoc_search import fingerprint
from simdoc_search.query import similar_query
from simdoc_search.stores.remote.schema import component_template
tokens = fingerprint("one two three four five six seven").tokens()
print(simdoc_search.__file__, similar_query(tokens, overlap=0.2, field="simdoc.tokens")["match"].keys(), sep="\\n")
print(component_template())
"""
    place, query, template = output_of(core / "python", "-c", code, cwd=tmp_path).splitlines()
    done = subprocess.run([core / "simdoc-search"], check=False, cwd=tmp_path, capture_output=True, text=True)
    message = "Error: the command line needs optional packages; install them with: pip install 'simdoc-search[cli]'\n"

    assert core.parent in Path(place).parents
    assert "dict_keys(['simdoc.tokens'])" == query
    assert repr(component_template()) == template
    assert (1, "", message) == (done.returncode, done.stdout, done.stderr)


def test_the_program_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two three four five six")
    (tmp_path / "b.txt").write_text("One, two, three, four, five, six.")

    def program(*arguments: str) -> str:
        return output_of(installed / "simdoc-search", *arguments, cwd=tmp_path)

    pipeline = json.loads(program("template", "show", "--pipeline"))

    assert f"simdoc-search {version('simdoc-search')}\n" == program("--version")
    assert program("index", "a.txt", "b.txt").startswith("2 indexed")
    assert "b.txt" in program("similar", "a_80")
    assert "shared.html" in program("compare", "a", "b", "--html", "shared.html")
    assert json.loads((ROOT / "index_templates" / "simdoc.pipeline.json").read_text("utf-8")) == pipeline


def test_the_pages_are_served_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two three four five six")
    output_of(installed / "simdoc-search", "index", "a.txt", cwd=tmp_path)
    command: list[str | Path] = [installed / "python", "-u", installed / "simdoc-search", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, env=clean(), stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            address = server.stdout.readline().split()[0]
            with httpx.Client(base_url=address) as client:
                pages = [client.get(path) for path in ("/", "/similar?q=a", "/status")]
                linked = re.findall(r'(?:href|src)="(/static/[^"]+)"', pages[0].text)

                assert [200] * 3 == [page.status_code for page in pages]
                assert {".css", ".js", ".svg"} == {Path(link).suffix for link in linked}
                assert [200] * len(linked) == [client.get(path).status_code for path in linked]
        finally:
            server.terminate()
