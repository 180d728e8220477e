"""Which files does a folder hold, and which of them are not read, and why?"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from simdoc_search.corpus.exclusion import EXCLUDED, Excluding
from simdoc_search.corpus.member_names import is_archive
from simdoc_search.documents import FileId, FileSource, Skipped, check_id
from simdoc_search.errors import CorpusError, DocumentError

DEFAULT_MAX_BYTES = 50_000_000

_MOST_LINKS = 40  # as in Linux

LINK_OUT = "a link out of the folder; --follow-links follows it"


def find_files(
    paths: Iterable[str | Path],
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
    follow_links: bool = False,
    exclude: Iterable[str] = (),
) -> Iterator[FileSource | Skipped]:
    """The files below some folders, in an order that depends on their names alone; nothing is opened.

    A file is known by its root and its id, the same however the folder was named (`docs`, `./docs/`, `x/../docs`): the
    root is the folder's absolute path, in which links stay as they were named; the id is the file's path below it, with
    `/` on every system. Of a named file the root is its own absolute path, and the id its name.

    Links to files and folders that lie inside the named folder are followed, and no folder is entered twice. The named
    paths themselves may be links, and hidden.

    Args:
        paths: folders, which are searched with all below them, and files.
        max_bytes: larger files are skipped.
        follow_links: follow links that lead out of the named folder too. Who may write there can then have any file
            read that this user can read.
        exclude: patterns of what is left out, see `Excluding`.

    Raises:
        CorpusError: at the call, a path is missing or closed to us; while iterating, a folder has no file.
    """
    roots = [Path(path) for path in paths]
    for root in roots:
        check_path(root)
    excluding = Excluding(exclude)
    return chain.from_iterable(_root(root, max_bytes, follow_links, excluding) for root in roots)


def files_below(
    path: Path, id: str, place: str, max_bytes: int, within: FileId | None, *, excluding: Excluding
) -> Iterator[FileSource | Skipped]:
    """A file or folder that lies in a root, with the id that it has there; of a folder all files below it."""
    root = _Root(place, max_bytes, within, excluding)
    if path.is_dir():
        yield from _below(path, root, f"{id}/")
    elif path.exists():
        yield _file(path, id, root)


def leads_out(path: str | Path, within: FileId, descriptor: int | None = None) -> bool:
    """Whether a file or folder lies outside of a folder, that is whether a link on its path leads out.

    It is found by climbing from where it really lies, not by names: what is above the folder may be closed to us.

    Args:
        path: of the file or folder.
        within: device and inode of the folder.
        descriptor: the file that was opened by this path; it must be the one that lies there, as somebody may have put
            a link in its place for just that moment.

    Raises:
        OSError: it is not there.
    """
    real = _behind_links(os.fspath(path))
    info = os.stat(real)  # noqa: PTH116 - links are resolved
    if descriptor is not None and not os.path.samestat(info, os.fstat(descriptor)):
        return True
    folder = real if stat.S_ISDIR(info.st_mode) else os.path.dirname(real) or os.curdir  # noqa: PTH120 - keeps `x/..`
    try:
        while (here := _identity(folder)) != within:
            folder = os.path.join(folder, os.pardir) if os.name == "posix" else os.path.dirname(folder)  # noqa: PTH118, PTH120
            if _identity(folder) == here:  # the top
                return True
    except PermissionError:  # above the folder, as all below it could be entered
        return True
    return False


def _behind_links(path: str) -> str:
    """Where a file lies to which the last name of a path is a link, or a link to a link."""
    if os.name != "posix":  # there `x/..` is where x is, not where it leads to
        return os.path.realpath(path)
    for _ in range(_MOST_LINKS):
        if not os.path.islink(path):  # noqa: PTH114
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))  # noqa: PTH115, PTH118, PTH120
    return path


def check_path(path: Path) -> None:
    """Refuse a path that a person named and that cannot be read at all.

    Raises:
        CorpusError: it is missing, closed to this user, or its name is not valid Unicode.
    """
    if not _is_unicode(os.path.abspath(path)):  # noqa: PTH100 - resolve() would follow links
        raise CorpusError(f"the name of {readable_path(path)} is not valid UTF-8; rename it")
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            os.scandir(path).close()
    except FileNotFoundError:
        raise CorpusError(f"{path} does not exist; check the path") from None
    except PermissionError:
        raise CorpusError(f"no permission to read {path}; change its permissions or run as another user") from None
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}); check the path") from None


def readable_path(path: str | Path) -> str:
    r"""A path for people: bytes that are not UTF-8 are shown as `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _root(root: Path, max_bytes: int, follow_links: bool, excluding: Excluding) -> Iterator[FileSource | Skipped]:
    place = os.path.abspath(root)  # noqa: PTH100 - resolve() would follow links
    if not root.is_dir():
        yield _file(root, root.name, _Root(place, max_bytes, None))
        return
    empty = True
    for found in _below(root, _Root(place, max_bytes, None if follow_links else _identity(root), excluding)):
        empty = False
        yield replace(found, root=place) if isinstance(found, Skipped) else found
    if empty:
        raise CorpusError(f"{root} has no files; name a folder with documents")


@dataclass(frozen=True, slots=True)
class _Root:
    """What was named: its absolute path, the limit for files, and the folder that no link leads out of."""

    place: str
    max_bytes: int
    within: FileId | None
    excluding: Excluding = field(default_factory=Excluding)


def _below(folder: Path, root: _Root, prefix: str = "") -> Iterator[FileSource | Skipped]:
    entered = _parents(folder)
    folders: list[tuple[Path, str]] = [(folder, prefix)]
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
            found = _entry(entry, prefix, root)
            if found is not None:
                yield found
            else:
                (links if entry.is_symlink() else inner).append((Path(entry.path), f"{prefix}{entry.name}/"))
        folders += reversed(inner)


def _entry(entry: os.DirEntry[str], prefix: str, root: _Root) -> FileSource | Skipped | None:
    """What one entry of a folder is; None for a folder to enter."""
    try:
        is_folder, is_out = entry.is_dir(), _is_link_out(entry, root)
    except OSError as error:
        return Skipped(readable_path(entry.path), _reason(error))
    shown = readable_path(entry.path) + "/" * is_folder
    if entry.name.startswith("."):
        return Skipped(shown, "hidden")
    if root.excluding.leaves_out(prefix + entry.name, is_folder=is_folder):
        return Skipped(shown, EXCLUDED)
    if not _is_unicode(entry.name):
        return Skipped(shown, "the name is not valid UTF-8")
    if is_out:
        return Skipped(shown, LINK_OUT)
    return None if is_folder else _file(Path(entry.path), prefix + entry.name, root)


def _is_link_out(entry: os.DirEntry[str], root: _Root) -> bool:
    try:
        return root.within is not None and entry.is_symlink() and leads_out(entry.path, root.within)
    except FileNotFoundError:  # a broken one
        return False


def _file(path: Path, id: str, root: _Root) -> FileSource | Skipped:
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
    if info.st_size > root.max_bytes and not is_archive(path.name):  # each member has the limit
        return Skipped(str(path), f"{info.st_size:,} bytes are over the limit of {root.max_bytes:,}")
    return FileSource(id, path, root.place, info.st_size, info.st_mtime_ns, root.max_bytes, within=root.within)


def _parents(root: Path) -> set[FileId]:
    """The folders around the root: a link to one of them is a loop."""
    found = set()
    for parent in root.resolve().parents:
        with suppress(OSError):  # a folder may be open to us although one around it is not
            found.add(_identity(parent))
    return found


def _sorted_entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _identity(folder: str | Path) -> FileId:
    info = os.stat(folder)  # noqa: PTH116 - a name may end in `..`
    return info.st_dev, info.st_ino


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
