"""The steps of scripts/release. Each step either prints a result, or ends the run with what is wrong."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
BIN = ROOT / ".venv-release" / "bin"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
MAX_FULL_MB = 350
"""Maximum size of an installation with the extra `full`, which the README promises."""
LICENCES = re.compile(
    r"apache|bsd|mit\b|\bisc\b|psf|python software|mozilla|mpl|zlib|unlicense|cc0|public domain", re.IGNORECASE
)
"""Licences of dependencies that are known to be compatible with Apache 2.0."""


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
        steps: list[Callable[[], str]] = [
            check_tree,
            check_versions,
            build_twice,
            build_native,
            check_files,
        ]
        if rehearse:
            steps += [
                lambda: try_pythons(environments),
                lambda: try_oldest_dependencies(environments),
                lambda: inspect_dependencies(environments),
                check_types_and_site,
                compare_api,
            ]
        for step in steps:
            began = time.monotonic()
            result = step()
            print(f"{time.monotonic() - began:5.0f} s  {result}", flush=True)
    print("Nothing was published. The files are in dist/.")


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


def check_tree() -> str:
    """Check that all changes are committed."""
    if changed := run("git", "status", "--porcelain").splitlines():
        sys.exit(f"Commit these files first, or remove them:\n{os.linesep.join(changed)}")
    return f"commit {run('git', 'describe', '--always').strip()}, no uncommitted changes"


def read_version() -> str:
    """Return the version in simdoc_search/__init__.py, from which the build takes it."""
    (version,) = re.findall(r'(?m)^__version__ = "(.+)"', (ROOT / "simdoc_search" / "__init__.py").read_text("utf-8"))
    return str(version)


def check_versions() -> str:
    """Check that the changelog and the native kernel have the version of the package; and its tag, if there is one."""
    version = read_version()
    tags = run("git", "tag", "--points-at", "HEAD", "--list", "v*").split()
    if tags not in ([], [f"v{version}"]):
        sys.exit(
            f"The commit has the tags {', '.join(tags)}, but the version in simdoc_search/__init__.py is {version}."
        )
    heading = re.findall(r"(?m)^## \[(.+?)\](.*)", (ROOT / "CHANGELOG.md").read_text("utf-8"))[0]
    if tags and (heading[0] != version or not re.fullmatch(r" - \d{4}-\d\d-\d\d", heading[1])):
        sys.exit(f"The first heading of CHANGELOG.md must be '## [{version}] - YYYY-MM-DD', not '[{heading[0]}]'.")
    for name in ("Cargo.toml", "pyproject.toml"):
        if f'version = "{version}"' not in (ROOT / "native" / name).read_text("utf-8"):
            sys.exit(f"Set the version in native/{name} to {version}.")
    return f"version {version} in the package and in the native kernel; changelog: {heading[0]}"


def build_twice() -> str:
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
    return f"two builds have the same bytes: {sizes}"


def build_native() -> str:
    """Build the wheel of the native kernel for this platform."""
    manifest = str(ROOT / "native" / "Cargo.toml")
    fetch = ["cargo", "fetch", "--quiet", "--locked", "--manifest-path", manifest]
    if not shutil.which("cargo") or subprocess.run(fetch, check=False, capture_output=True).returncode:
        return "NOT BUILT: the native kernel, because cargo is missing or cannot download crates"
    run(BIN / "maturin", "build", "--quiet", "--release", "--manifest-path", manifest, "--out", DIST)
    (wheel,) = DIST.glob("simdoc_search_native-*.whl")
    return f"native kernel for this platform only: {wheel.name} {wheel.stat().st_size / 1000:,.0f} kB"


def check_files() -> str:
    """Check the built files, and the workflows that publish them."""
    files = [*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")]
    run(BIN / "twine", "check", "--strict", *files)
    run(BIN / "validate-pyproject", "pyproject.toml")
    run(BIN / "check-wheel-contents", *DIST.glob("simdoc_search-*.whl"))
    run(BIN / "zizmor", "--offline", "--quiet", ".github/workflows")
    return "twine, validate-pyproject, check-wheel-contents and zizmor (for the workflows) have no complaints"


def wheel_with(extras: str) -> str:
    """Return the requirement of the built wheel with extras."""
    (wheel,) = DIST.glob("simdoc_search-*.whl")
    return f"simdoc-search[{extras}] @ {wheel.as_uri()}"


def try_pythons(environments: Environments) -> str:
    """Run every command with each version of Python."""
    for version in environments.pythons:
        folder = environments.make(version, wheel_with("full,datasets"))
        run(sys.executable, ROOT / "scripts" / "smoke.py", folder / "bin" / "simdoc-search")
    missing = [version for version in PYTHONS if version not in environments.pythons]
    note = f"; NOT TRIED, because they were not found: {', '.join(missing)}" if missing else ""
    return f"every command works from the wheel with Python {', '.join(environments.pythons)}{note}"


def try_oldest_dependencies(environments: Environments) -> str:
    """Run the default tests with the oldest allowed version of each dependency."""
    version = next(iter(environments.pythons))
    folder = environments.make(version, f"simdoc-search[dev-pythons] @ {ROOT.as_uri()}", "--resolution=lowest-direct")
    run(folder / "bin" / "python", "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider")
    return f"the default tests pass with the oldest dependencies and Python {version}"


def inspect_dependencies(environments: Environments) -> str:
    """Check licences and size of an installation with the extra `full`. Write its bill of materials to dist/."""
    version = next(reversed(environments.pythons))
    folder = environments.make(version, wheel_with("full"))
    python = folder / "bin" / "python"
    packages = json.loads(run(BIN / "pip-licenses", "--python", python, "--from", "mixed", "--format", "json"))
    unknown = [f"{item['Name']}: {item['License']}" for item in packages if not LICENCES.search(item["License"])]
    if unknown:
        sys.exit(f"Look at the licences of these dependencies: {', '.join(unknown)}")
    run(BIN / "cyclonedx-py", "environment", "--output-file", DIST / "sbom.cdx.json", python)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    if size > MAX_FULL_MB:
        sys.exit(f"An installation with the extra 'full' takes {size:,.0f} MB. The limit is {MAX_FULL_MB} MB.")
    return f"the extra 'full' has {len(packages)} packages with compatible licences, and takes {size:,.0f} MB"


def check_types_and_site() -> str:
    """Check format, lint, types and the public types, and build the site."""
    run("scripts/lint")
    run("scripts/docs")
    return "format, lint, types, public types and the site have no warnings"


def compare_api() -> str:
    """Compare the public API with that of the last release."""
    tags = run("git", "tag", "--list", "v*", "--sort=-version:refname").split()
    if not tags:
        return "API not compared, because there is no earlier release"
    run(BIN / "griffe", "check", "simdoc_search", "--against", tags[0])
    return f"the API has no breaking change since {tags[0]}"


if __name__ == "__main__":
    main()
