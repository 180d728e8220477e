"""Writes the licences of the Rust crates that are linked into the native kernel.

    python scripts/native_licences.py native/LICENSE-THIRD-PARTY.txt

Run it after a change of native/Cargo.lock. It needs cargo.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

MANIFEST = Path(__file__).parents[1] / "native" / "Cargo.toml"
INTRODUCTION = """\
The native kernel of simdoc-search (see LICENSE) contains code of other projects.

Under the Apache License 2.0, which is in LICENSE: the standard library of Rust, and
"""


def main(target: Path) -> None:
    """Write the file."""
    target.write_text(licences(), "utf-8")


def licences() -> str:
    """Return the text of the file."""
    apache, others = [], []
    for package in linked_packages():
        name = f"{package['name']} {package['version']}"
        terms = package["license"]
        if "Apache-2.0" in terms:
            apache.append(name)
        if "Apache-2.0" not in terms or "Unicode" in terms:
            folder = Path(package["manifest_path"]).parent
            file = next(folder / file for file in ("LICENSE-UNICODE", "LICENSE") if (folder / file).exists())
            text = "\n".join(line.rstrip() for line in file.read_text("utf-8").strip().splitlines())
            others.append(f"{'-' * 80}\n{name}: {terms}\n\n{text}\n")
    return "\n".join([INTRODUCTION + "".join(f"  {name}\n" for name in apache), *others])


def linked_packages() -> list[dict[str, Any]]:
    """Return the crates that the kernel links on any platform. Macros and build scripts are not linked."""
    options = ["--locked", "--manifest-path", str(MANIFEST)]
    tree = ["cargo", "tree", *options, "--edges=normal,no-proc-macro", "--prefix=none", "--format={p}", "--target=all"]
    names = {line.split()[0] for line in _output(tree).splitlines() if line} - {"simdoc-search-native"}
    packages = json.loads(_output(["cargo", "metadata", *options, "--format-version=1"]))["packages"]
    return sorted((package for package in packages if package["name"] in names), key=lambda package: package["name"])


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
