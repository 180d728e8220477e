"""Makes random folders with copies, links and edits."""

from __future__ import annotations

import os
import random
from pathlib import Path

from tests.support.cli import words

__all__ = ["contents_of", "disk_bytes", "random_tree"]

_SYMBOLS = (".", "!", " -1", " 1", " a+b", " a-b")


def random_tree(rng: random.Random, folder: Path, files: int) -> None:
    """Make a folder of files, copies, hard and symbolic links, and files with changed words, punctuation or formats."""
    made: list[Path] = []
    for number in range(files):
        path = folder / rng.choice(["", "sub", "sub/deep", "other"]) / f"{number:04}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        source = rng.choice(made) if made else None
        kind = rng.choice(["new", "copy", "copy", "hard", "link", "word", "symbol", "html"]) if source else "new"
        if source is None or kind == "new":
            begin = 200 * number
            path.write_text(words(begin, begin + rng.randrange(40, 120)))
        elif kind == "hard":
            os.link(source, path)
        elif kind == "link":
            path.symlink_to(source)
            continue
        else:
            content = source.read_text()
            if kind == "html":
                path = path.with_suffix(".html")
                content = content if content.startswith("<p>") else f"<p>{content}</p><img src={number}.png>"
            elif kind != "copy":
                content += rng.choice(_SYMBOLS) if kind == "symbol" else f" added{number}"
            path.write_text(content)
        made.append(path)


def contents_of(folder: Path) -> set[bytes]:
    """Return the contents of all files below a folder, without symbolic links."""
    return {path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


def disk_bytes(folder: Path) -> int:
    """Return the bytes of all files below a folder. Hard links count once."""
    infos = [path.lstat() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return sum({(info.st_dev, info.st_ino): info.st_size for info in infos}.values())
