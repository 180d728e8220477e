"""Writes recipes for conda and Homebrew that fit a built source distribution.

    python scripts/release_recipes.py SDIST LOCK FOLDER

LOCK is a lock file (PEP 751) with the dependencies of the extra `full`, made with the index on which the package will
be published. The recipes are untried, because both build from the published files.
"""

from __future__ import annotations

import hashlib
import sys
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from simdoc_search.small_files import parse_toml

_EXTRA = "full"
_MIN_PYTHON, _PYTHON = "3.11", "3.13"
"""The oldest Python of the conda package, and the Python of the Homebrew formula."""

_CONDA = """\
schema_version: 1
package:
  name: simdoc-search
  version: {version}
source:
  url: {url}
  sha256: {sha256}
build:
  noarch: python
  script: python -m pip install . --no-deps --no-build-isolation
  python:
    entry_points: [simdoc-search = simdoc_search.cli:main]
requirements:
  host:
    - python {min_python}.*
    - pip
    - hatchling >=1.24
  run:
    - python >={min_python}
{run}
tests:
  - python: {{imports: [simdoc_search]}}
  - script: simdoc-search --version
about:
  summary: {summary}
  license: {license}
  license_file: [LICENSE, LICENSE-UNICODE.txt]
"""

_FORMULA = """\
class SimdocSearch < Formula
  include Language::Python::Virtualenv

  desc "Find documents that share text"
  homepage "{homepage}"
  url "{url}"
  sha256 "{sha256}"
  license all_of: [{licenses}]

  depends_on "rust" => :build
  depends_on "python@{python}"

{resources}
  def install
    virtualenv_install_with_resources
  end

  test do
    %w[a.txt b.txt].each {{ |name| (testpath/"docs"/name).write "one two three four five six seven eight" }}
    assert_match "b.txt", shell_output("#{{bin}}/simdoc-search duplicates docs")
  end
end
"""


def main() -> None:
    """Write the recipes."""
    sdist, lock, folder = map(Path, sys.argv[1:])
    packages = parse_toml(lock.read_text("utf-8"))["packages"]
    name = sdist.name.partition("-")[0].replace("_", "-")
    index_url = packages[0]["sdist"]["url"].partition("/packages/")[0]
    url = f"{index_url}/packages/source/{name[0]}/{name}/{sdist.name}"
    (folder / "recipe.yaml").write_text(conda_recipe(sdist, url), "utf-8")
    (folder / "simdoc-search.rb").write_text(homebrew_formula(sdist, url, packages), "utf-8")


def conda_recipe(sdist: Path, url: str) -> str:
    """Return a recipe of version 1 for rattler-build, with the packages of the extra `full`.

    https://rattler.build/latest/reference/recipe_file/
    """
    metadata = read_metadata(sdist)
    return _CONDA.format(
        url=url,
        sha256=hash_file(sdist),
        version=metadata["Version"],
        summary=metadata["Summary"].replace(": ", " - "),
        license=metadata["License-Expression"],
        min_python=_MIN_PYTHON,
        run="\n".join(f"    - {line}" for line in sorted(required_packages(metadata, _MIN_PYTHON))),
    )


def homebrew_formula(sdist: Path, url: str, packages: Iterable[Mapping[str, Any]]) -> str:
    """Return a formula.

    Args:
        sdist: the source distribution.
        url: its URL after publication.
        packages: the `packages` of a lock file (PEP 751) with the dependencies of the extra `full`.
    """
    metadata = read_metadata(sdist)
    resources = []
    for package in packages:
        source = package["sdist"]
        lines = f'    url "{source["url"]}"', f'    sha256 "{source["hashes"]["sha256"]}"'
        resources.append("\n".join([f'  resource "{package["name"]}" do', *lines, "  end", ""]))
    project_urls = dict(line.split(", ", 1) for line in metadata.get_all("Project-URL", []))
    return _FORMULA.format(
        homepage=project_urls.get("Repository", ""),
        url=url,
        sha256=hash_file(sdist),
        licenses=", ".join(f'"{name}"' for name in metadata["License-Expression"].split(" AND ")),
        python=_PYTHON,
        resources="\n".join(resources),
    )


def read_metadata(sdist: Path) -> Message:
    """Return the metadata of a source distribution."""
    with tarfile.open(sdist) as archive:
        (member,) = (member for member in archive if member.name.count("/") == 1 and member.name.endswith("/PKG-INFO"))
        content = archive.extractfile(member)
        assert content  # noqa: S101 - PKG-INFO is a regular file
        return Parser().parsestr(content.read().decode())


def required_packages(metadata: Message, python: str, extra: str = _EXTRA) -> set[str]:
    """Return the packages that an extra needs with a version of Python, as `name >=version,<version`."""
    return {f"{requirement.name} {requirement.specifier}" for requirement in _requirements(metadata, python, extra)}


def _requirements(metadata: Message, python: str, extra: str) -> Iterator[Requirement]:
    """Yield requirements without those of simdoc-search itself, whose extras contain other extras."""
    for requirement in map(Requirement, metadata.get_all("Requires-Dist", [])):
        if requirement.marker and not requirement.marker.evaluate({"extra": extra, "python_version": python}):
            continue
        if requirement.name == "simdoc-search":
            for other in requirement.extras:
                yield from _requirements(metadata, python, other)
        else:
            yield requirement


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
