"""Plans for files, and what became of them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from simdoc_search.documents import Place
from simdoc_search.duplicates.plan import How
from simdoc_search.duplicates.plan.files import file_state
from simdoc_search.duplicates.plan.rows import PlanRow
from tests.support.cli import write

__all__ = ["HOWS", "contents", "no_links_between", "plan_of", "tree"]

HOWS: tuple[How, ...] = ("move", "delete", "hardlink")


def plan_of(folder: Path, files: dict[str, str]) -> list[PlanRow]:
    """Files below `docs`, the first of which stays for all others."""
    write(folder / "docs", dict(files))
    paths = {name: str(folder / "docs" / name) for name in files}
    first = next(iter(paths.values()))
    return [
        PlanRow("drop" if path != first else "keep", 1, Place(name), path, first * (path != first), file_state(path)[0])
        for name, path in paths.items()
    ]


def tree(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Content, permissions and date of each file below a folder."""
    files = [each for each in folder.rglob("*") if each.is_file()]
    return {
        each.relative_to(folder).as_posix(): (each.read_bytes(), each.stat().st_mode, each.stat().st_mtime_ns)
        for each in files
    }


def contents(folder: Path) -> list[bytes]:
    """The content of each file of documents below a folder, hidden ones too, but for copies that are not whole yet."""
    files = [each for each in folder.rglob("*") if each.suffix in {".txt", ".away"}]
    return sorted(each.read_bytes() for each in files)


def no_links_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each folder is a disk of its own."""
    link: Callable[[str, str], None] = os.link

    def refusing(source: str, target: str) -> None:
        if Path(source).parent != Path(target).parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        link(source, target)

    monkeypatch.setattr(os, "link", refusing)
