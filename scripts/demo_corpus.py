"""Writes a folder of real documents that every machine has.

    packages/<name>/...   licence and readme files of the installed Python packages
    help/<module>.txt     help texts of the standard library

They are full of natural near-duplicates: the same licence in many packages, modules that share their classes.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import pydoc
import re
import shutil
import sys
import warnings
from pathlib import Path

NOT_IMPORTED = re.compile(r"_|this$|antigravity$|idlelib$|turtle|test$|lib2to3$|msilib$|tkinter$|distutils$|ensurepip$")
DOCUMENTS = re.compile(r"(licen[cs]e|copying|notice|authors|readme|changes)[^/]*$", re.IGNORECASE)


def write_packages(folder: Path) -> int:
    """The licence files of each installed package, and its description as README.md."""
    count = 0
    for package in importlib.metadata.distributions():
        target = folder / package.metadata["Name"]
        texts = {"README.md": str(package.metadata.json.get("description", ""))}
        for file in package.files or []:
            if DOCUMENTS.search(file.name) and file.suffix in ("", ".txt", ".md", ".rst"):
                texts[file.name] = Path(str(file.locate())).read_text("utf-8", "replace")
        for name, text in texts.items():
            if text.strip():
                target.mkdir(parents=True, exist_ok=True)
                (target / name).write_text(text, "utf-8")
                count += 1
    return count


def write_help(folder: Path) -> int:
    """What `help(module)` shows, without bold face and machine paths."""
    folder.mkdir(parents=True)
    count = 0
    for name in sorted(sys.stdlib_module_names):
        if NOT_IMPORTED.match(name):
            continue
        try:
            text = pydoc.plain(pydoc.render_doc(importlib.import_module(name)))
        except Exception:  # noqa: S112 - a module that this system lacks parts of
            continue
        (folder / f"{name}.txt").write_text(text.partition("\nFILE\n")[0], "utf-8")
        count += 1
    return count


def main() -> None:
    """Write the folder anew."""
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    warnings.simplefilter("ignore")
    packages, modules = write_packages(folder / "packages"), write_help(folder / "help")
    print(f"{packages} licence and readme files, {modules} help texts")


if __name__ == "__main__":
    main()
