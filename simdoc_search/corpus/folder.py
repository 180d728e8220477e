"""Finds the files below folders, without opening them. Skipped files are returned with the reason."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from simdoc_search.corpus.file_source import FileId, FileSource
from simdoc_search.corpus.formats import determine_format
from simdoc_search.corpus.links import LINK_OUT_REASON, file_id, leads_out
from simdoc_search.documents import SkippedFile, check_id
from simdoc_search.errors import CorpusError, DocumentError

DEFAULT_MAX_BYTES = 50_000_000

_OFFICE_LOCK = re.compile(r"~\$.*\.(?:doc|xls|ppt|vsd)[a-z]?", re.IGNORECASE | re.DOTALL)


class Exclusions:
    """Patterns of files and folders to skip.

    `*.log` matches a name in any folder. `drafts/` matches a folder and everything below it. `2021/*.txt` matches a
    path below the indexed folder. `*` also matches `/`.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        patterns = [pattern.removeprefix("./") for pattern in patterns if pattern.strip("./")]
        self._files = _compile_patterns(pattern for pattern in patterns if not pattern.endswith("/"))
        self._folders = _compile_patterns(pattern.rstrip("/") for pattern in patterns)

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Return whether a file or folder is skipped. `path` is its path below the indexed folder."""
        pattern = self._folders if is_folder else self._files
        return pattern is not None and bool(pattern.match(path) or pattern.match(path.rpartition("/")[2]))


def _compile_patterns(patterns: Iterable[str]) -> re.Pattern[str] | None:
    expressions = [fnmatch.translate(pattern) for pattern in patterns]
    return re.compile("|".join(expressions)) if expressions else None


def find_files(
    paths: Iterable[str | Path],
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
    follow_links: bool = False,
    exclude: Iterable[str] = (),
) -> Iterator[FileSource | SkippedFile]:
    """Find the files below folders. The order depends only on the names of the files.

    The root of a file is the absolute path of the given folder, with links unresolved. The id is the path of the file
    below the root, separated by `/` on every system. Root and id do not depend on how the path of the folder is written
    (`docs`, `./docs/`, `x/../docs`). If a file is given, its root is its absolute path, and its id is its name.

    Links that stay inside the given folder are followed, and no folder is entered twice. The given paths themselves may
    be links and may be hidden.

    Args:
        paths: files, and folders, which are searched recursively.
        max_bytes: larger files are skipped.
        follow_links: also follow links out of the given folder. Anyone who can write to the folder can then make the
            current user read any file.
        exclude: patterns of files and folders to skip; see `Exclusions`.

    Raises:
        CorpusError: the call raises it if a path is missing or unreadable. The iterator raises it if a folder has no
            files.
    """
    roots = [Path(path) for path in paths]
    for root in roots:
        check_path(root)
    exclusions = Exclusions(exclude)
    return chain.from_iterable(_find_files_below(root, max_bytes, follow_links, exclusions) for root in roots)


def _find_files_below(
    path: Path, max_bytes: int, follow_links: bool, exclusions: Exclusions
) -> Iterator[FileSource | SkippedFile]:
    absolute = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links
    if not path.is_dir():
        yield SearchedFolder(absolute, max_bytes, None, exclusions).examine_file(str(path), path.name)
        return
    root = SearchedFolder(absolute, max_bytes, None if follow_links else file_id(path), exclusions)
    is_empty = True
    for source in root.files_below(path):
        is_empty = False
        yield source
    if is_empty:
        raise CorpusError(f"{path} has no files; give a folder that contains documents")


@dataclass(frozen=True, slots=True)
class SearchedFolder:
    """A folder to search."""

    path: str  # the absolute path
    max_bytes: int  # larger files are skipped
    boundary: FileId | None  # the folder that links must not leave; if None, all links are followed
    exclusions: Exclusions

    def files_below(self, folder: Path, prefix: str = "") -> Iterator[FileSource | SkippedFile]:
        """Find the files below a subfolder. `prefix` is its path below the searched folder, with a final `/`."""
        entered = _parent_ids(folder)
        folders: list[tuple[Path, str]] = [(folder, prefix)]
        links: deque[tuple[Path, str]] = deque()  # links are followed last, so that files are found by their real paths
        while folders or links:
            folder, prefix = folders.pop() if folders else links.popleft()
            try:
                identity, entries = file_id(folder), _sorted_entries(folder)
            except OSError as error:
                yield SkippedFile(f"{folder}/", _error_reason(error), self.path)
                continue
            if identity in entered:
                yield SkippedFile(f"{folder}/", "a link to a folder that was already read", self.path)
                continue
            entered.add(identity)
            if is_store(folder):
                yield SkippedFile(f"{folder}/", "an index of simdoc-search", self.path)
                continue
            subfolders: list[tuple[Path, str]] = []
            for entry in entries:
                source = self._examine_entry(entry, prefix)
                if source is None:
                    (links if entry.is_symlink() else subfolders).append((Path(entry.path), f"{prefix}{entry.name}/"))
                else:
                    yield replace(source, root=self.path) if isinstance(source, SkippedFile) else source
            folders += reversed(subfolders)

    def _examine_entry(self, entry: os.DirEntry[str], prefix: str) -> FileSource | SkippedFile | None:
        """Return the file, a `SkippedFile` with the reason to skip it, or None for a folder to enter."""
        try:
            is_folder, is_link_out = entry.is_dir(), self._is_link_out(entry)
        except OSError as error:
            return SkippedFile(printable_path(entry.path), _error_reason(error))
        reason = ""
        if entry.name.startswith("."):
            reason = "hidden"
        elif is_office_lock(entry.name) and not is_folder:
            reason = "a lock file of Microsoft Office"
        elif self.exclusions.matches(prefix + entry.name, is_folder=is_folder):
            reason = "excluded"
        elif not _is_unicode(entry.name):
            reason = "the name is not valid UTF-8"
        elif is_link_out:
            reason = LINK_OUT_REASON
        if reason:
            return SkippedFile(printable_path(entry.path) + "/" * is_folder, reason)
        return None if is_folder else self.examine_file(_path_of(entry), prefix + entry.name)

    def _is_link_out(self, entry: os.DirEntry[str]) -> bool:
        try:
            return self.boundary is not None and entry.is_symlink() and leads_out(entry.path, self.boundary)
        except FileNotFoundError:  # this error means that the link is broken
            return False

    def examine_file(self, path: str, id: str) -> FileSource | SkippedFile:
        """Return a file of this folder, or a `SkippedFile` with the reason to skip it."""
        try:
            info = os.stat(path)  # noqa: PTH116 - Path is slow
            check_id(id)
        except FileNotFoundError:
            return SkippedFile(path, "broken link" if os.path.islink(path) else "vanished before it was read")  # noqa: PTH114
        except OSError as error:
            return SkippedFile(path, _error_reason(error))
        except DocumentError as error:
            return SkippedFile(path, str(error))
        if not stat.S_ISREG(info.st_mode):
            return SkippedFile(path, "a pipe, socket or device, not a regular file")
        format = determine_format(path)
        if info.st_size > self.max_bytes and format.kind != "archive":  # in archives, the limit applies to members
            return SkippedFile(path, f"{info.st_size:,} bytes are over the limit of {self.max_bytes:,}")
        return FileSource(
            id, path, self.path, info.st_size, info.st_mtime_ns, self.max_bytes, boundary=self.boundary, format=format
        )


def is_office_lock(name: str) -> bool:
    """Return whether a file exists only while Microsoft Office has a document open: `~$a.docx`."""
    return _OFFICE_LOCK.fullmatch(name) is not None


def is_store(folder: str | Path) -> bool:
    """Return whether a folder is a store of simdoc-search."""
    return all(os.path.exists(os.path.join(folder, name)) for name in ("simdoc.json", "index"))  # noqa: PTH110, PTH118


def check_path(path: Path) -> None:
    """Raise a CorpusError if a path is missing, this user cannot read it, or its name is not valid UTF-8."""
    if not _is_unicode(os.path.abspath(path)):  # noqa: PTH100 - resolve() would follow links
        raise CorpusError(f"the name of {printable_path(path)} is not valid UTF-8; rename the file or folder")
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            os.scandir(path).close()
    except FileNotFoundError:
        raise CorpusError(f"{path} does not exist; check the path") from None
    except PermissionError:
        raise CorpusError(f"no permission to read {path}; change its permissions or run as another user") from None
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}); check the path") from None


def printable_path(path: str | Path) -> str:
    r"""Return a path for messages. Bytes that are not UTF-8 are shown as `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _parent_ids(root: Path) -> set[FileId]:
    """Return the device and inode of each folder above the root. A link to one of these folders is a loop."""
    ids = set()
    for parent in root.resolve().parents:
        with suppress(OSError):  # a folder can be readable even if its parent is not
            ids.add(file_id(parent))
    return ids


def _sorted_entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _path_of(entry: os.DirEntry[str]) -> str:
    """Return the path of an entry, written as `Path` writes it."""
    return entry.path.removeprefix(f".{os.sep}")


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _error_reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
