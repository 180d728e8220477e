"""Which files does a folder hold, and which of them are not read, and why?"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from simdoc_search.corpus.document import FileSource, Skipped, check_id
from simdoc_search.errors import CorpusError, DocumentError

__all__ = ["DEFAULT_MAX_BYTES", "check_path", "find_files", "printable"]

DEFAULT_MAX_BYTES = 50_000_000


def find_files(paths: Iterable[str | Path], *, max_bytes: int = DEFAULT_MAX_BYTES) -> Iterator[FileSource | Skipped]:
    """The files below some folders, in an order that depends on their names alone; nothing is opened.

    A file's id is its path below the named folder, with `/`; of a named file its name. Links are followed, and no
    folder is entered twice. The named paths themselves may be hidden.

    Args:
        paths: folders, which are searched with all below them, and files.
        max_bytes: larger files are skipped.

    Raises:
        CorpusError: at the call, a path is missing or closed to us; while iterating, a folder has no file.
    """
    roots = [Path(path) for path in paths]
    for root in roots:
        check_path(root)
    return chain.from_iterable(_root(root, max_bytes) for root in roots)


def check_path(path: Path) -> None:
    """Refuse a path that a person named and that cannot be read at all.

    Raises:
        CorpusError: it is missing, closed to this user, or its name is not valid Unicode.
    """
    if not _is_unicode(os.path.abspath(path)):  # noqa: PTH100 - resolve() would follow links
        raise CorpusError(f"the name of {printable(path)} is not valid UTF-8; rename it")
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            os.scandir(path).close()
    except FileNotFoundError:
        raise CorpusError(f"{path} does not exist; check the path") from None
    except PermissionError:
        raise CorpusError(f"no permission to read {path}; change its permissions or run as another user") from None
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}); check the path") from None


def printable(path: str | Path) -> str:
    r"""A path for people: bytes that are not UTF-8 are shown as `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _root(root: Path, max_bytes: int) -> Iterator[FileSource | Skipped]:
    place = os.path.abspath(root)  # noqa: PTH100 - resolve() would follow links
    if not root.is_dir():
        yield _file(root, root.name, place, max_bytes)
        return
    empty = True
    for found in _below(root, place, max_bytes):
        empty = False
        yield replace(found, root=place) if isinstance(found, Skipped) else found
    if empty:
        raise CorpusError(f"{root} has no files; name a folder with documents")


def _below(root: Path, place: str, max_bytes: int) -> Iterator[FileSource | Skipped]:
    entered = _parents(root)
    folders: list[tuple[Path, str]] = [(root, "")]
    links: deque[tuple[Path, str]] = deque()  # after all real folders, so that a link never takes the place of one
    while folders or links:
        folder, prefix = folders.pop() if folders else links.popleft()
        try:
            identity, entries = _identity(folder), _sorted_entries(folder)
        except OSError as error:
            yield Skipped(f"{folder}/", _reason(error))
            continue
        if identity in entered:
            yield Skipped(f"{folder}/", "a link to a folder that is entered already")
            continue
        entered.add(identity)
        if {"simdoc.json", "index"} <= {entry.name for entry in entries}:
            yield Skipped(f"{folder}/", "a store of simdoc-search")
            continue
        inner: list[tuple[Path, str]] = []
        for entry in entries:
            found = _entry(entry, prefix, place, max_bytes)
            if found is not None:
                yield found
            else:
                (links if entry.is_symlink() else inner).append((Path(entry.path), f"{prefix}{entry.name}/"))
        folders += reversed(inner)


def _entry(entry: os.DirEntry[str], prefix: str, place: str, max_bytes: int) -> FileSource | Skipped | None:
    """What one entry of a folder is; None for a folder to enter."""
    try:
        is_folder = entry.is_dir()
    except OSError as error:
        return Skipped(printable(entry.path), _reason(error))
    shown = printable(entry.path) + "/" * is_folder
    if entry.name.startswith("."):
        return Skipped(shown, "hidden")
    if not _is_unicode(entry.name):
        return Skipped(shown, "the name is not valid UTF-8")
    return None if is_folder else _file(Path(entry.path), prefix + entry.name, place, max_bytes)


def _file(path: Path, id: str, place: str, max_bytes: int) -> FileSource | Skipped:
    try:
        info = path.stat()
        check_id(id)
    except FileNotFoundError:
        return Skipped(str(path), "broken link" if path.is_symlink() else "vanished before it was read")
    except OSError as error:
        return Skipped(str(path), _reason(error))
    except DocumentError as error:
        return Skipped(str(path), str(error))
    if not stat.S_ISREG(info.st_mode):
        return Skipped(str(path), "not a file but a pipe, socket or device")
    if info.st_size > max_bytes:
        return Skipped(str(path), f"{info.st_size:,} bytes are over the limit of {max_bytes:,}")
    return FileSource(id, path, place, info.st_size, info.st_mtime_ns)


def _parents(root: Path) -> set[tuple[int, int]]:
    """The folders around the root: a link to one of them is a loop."""
    found = set()
    for parent in root.resolve().parents:
        with suppress(OSError):  # a folder may be open to us although one around it is not
            found.add(_identity(parent))
    return found


def _sorted_entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _identity(folder: Path) -> tuple[int, int]:
    info = folder.stat()
    return info.st_dev, info.st_ino


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
