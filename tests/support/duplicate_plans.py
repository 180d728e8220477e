"""Plans for files, and checks of the files afterwards."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.plan import DropMethod
from simdoc_search.duplicates.plan.files import read_state
from simdoc_search.duplicates.plan.rows import PlanRow
from tests.support.cli import write

__all__ = ["METHODS", "contents", "no_links", "no_links_between", "plan_of", "tree"]

METHODS: tuple[DropMethod, ...] = ("move", "delete", "hardlink")


def plan_of(folder: Path, files: dict[str, str]) -> list[PlanRow]:
    """Return a plan that keeps the first of these files below `docs` and drops the others."""
    write(folder / "docs", dict(files))
    paths = {name: str(folder / "docs" / name) for name in files}
    first = next(iter(paths.values()))
    return [
        PlanRow(
            "drop" if path != first else "keep",
            1,
            DocumentKey(name),
            path,
            first * (path != first),
            read_state(path)[0],
        )
        for name, path in paths.items()
    ]


def tree(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return the content, the permissions and the modification time of each file below a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns)
        for path in files
    }


def contents(folder: Path) -> list[bytes]:
    """Return the contents of all documents below a folder, including hidden ones, but not incomplete copies."""
    files = [path for path in folder.rglob("*") if path.suffix in {".txt", ".away"}]
    return sorted(path.read_bytes() for path in files)


def no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all hard links fail, as on a disk that does not support them."""

    def refusing(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refusing)


def no_links_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make hard links between folders fail, as if each folder were on another disk."""
    link: Callable[[str, str], None] = os.link

    def refusing(source: str, target: str) -> None:
        if Path(source).parent != Path(target).parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        link(source, target)

    monkeypatch.setattr(os, "link", refusing)
