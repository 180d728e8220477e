"""Opens a tantivy index for reading and writing. An index on a read-only medium can be read."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import tantivy

from simdoc_search.errors import StoreError
from simdoc_search.stores.local.segments import META_FILE, Commit, find_fault, read_commit

READERS_LOCK_FILE, WRITERS_LOCK_FILE = ".tantivy-meta.lock", ".tantivy-writer.lock"
MAX_ATTEMPTS = 100
"""Maximum number of attempts to remove a folder, or to open all files of a commit before a newer commit removes one."""

_FILE_DESCRIPTOR_FOLDER = Path("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")


class IndexInMemory:
    """An index that is never on disk."""

    def __init__(self, schema: tantivy.Schema) -> None:
        self._index = _disable_reloads(tantivy.Index(schema))

    def searcher(self) -> tantivy.Searcher:
        """Return a searcher of the last commit. Later commits do not change what it finds."""
        self._index.reload()
        return self._index.searcher()

    @property
    def commit_id(self) -> None:
        """None, because commits in memory cannot be distinguished."""
        return None

    def open_for_writing(self) -> tantivy.Index:
        """Return the index for a writer."""
        return self._index


class IndexInFolder:
    """An index in a folder. It can be read even if its lock file cannot be written, as on a read-only medium.

    Opening an index with a different schema raises an error.
    """

    def __init__(self, path: Path, schema: tantivy.Schema) -> None:
        self._path = path
        self._schema = schema
        self._commit: Commit | None = None
        _verify_small_files(path)
        if ensure_lock_file(path / READERS_LOCK_FILE):
            self._index = open_index(path, schema)
        else:
            self._open_through_links()

    def searcher(self) -> tantivy.Searcher:
        """Return a searcher of the last commit. Later commits do not change what it finds."""
        if self._commit is None:
            self._index.reload()
        elif read_commit(self._path) != self._commit:
            self._open_through_links()
        return self._index.searcher()

    @property
    def commit_id(self) -> tuple[int, int, int] | None:
        """The identity of `meta.json`, which each commit replaces. None if the file cannot be read."""
        try:
            status = (self._path / META_FILE).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def open_for_writing(self) -> tantivy.Index:
        """Open the index again, for a writer.

        An index object does not know the files that other processes wrote after it was opened. A writer of such an
        object would remove these files from `.managed.json`, and tantivy never deletes a file that is not in this list.
        Also, an index object with a reader does not delete files that the reader has open.
        """
        ensure_lock_file(self._path / WRITERS_LOCK_FILE)
        return open_index(self._path)

    def _open_through_links(self) -> None:
        """Open the index through links in a temporary folder, where tantivy can write its lock file.

        tantivy opens all files immediately, so the folder can then be removed.
        """
        with open_commit(self._path) as (self._commit, files), scratch_folder() as folder:
            for name, path in files.items():
                (folder / name).symlink_to(path.absolute())
            (folder / META_FILE).write_bytes(self._commit.meta)
            self._index = open_index(folder, self._schema)


def open_index(path: Path, schema: tantivy.Schema | None = None) -> tantivy.Index:
    """Open the index in a folder. If a schema is given, the index must have it."""
    return _disable_reloads(tantivy.Index.open(str(path)) if schema is None else tantivy.Index(schema, str(path)))


@contextmanager
def open_commit(index: Path) -> Iterator[tuple[Commit, dict[str, Path]]]:
    """Return the last commit, and the paths of its files by name. The files can be read during the block.

    All files are opened, so that a writer cannot make them unreadable. On Linux and macOS, the paths refer to the open
    files. On Windows, an open file cannot be removed. Missing files of the commit are omitted.

    Raises:
        StoreError: `meta.json` is damaged or missing.
    """
    for _ in range(MAX_ATTEMPTS):
        commit = read_commit(index)
        with ExitStack() as held:
            files = {}
            for name in commit.files:
                with suppress(FileNotFoundError):
                    opened = held.enter_context((index / name).open("rb"))
                    files[name] = index / name
                    with suppress(OSError):
                        path = _FILE_DESCRIPTOR_FOLDER / str(opened.fileno())
                        path.stat()  # if the process has changed its user, this fails, and `index / name` is kept
                        files[name] = path
            if len(files) == len(commit.files) or read_commit(index) == commit:
                yield commit, files
                return
    raise StoreError(f"the index {index} changes too fast to be read; try again when fewer documents are being written")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Create a temporary folder and remove it after the block, even if tantivy is still writing its lock file there."""
    folder = Path(tempfile.mkdtemp(prefix="simdoc-"))
    try:
        yield folder
    finally:
        for _ in range(MAX_ATTEMPTS):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break


def _verify_small_files(index: Path) -> None:
    """Verify the small files with deletions and token counts. Damage to these files would silently change results."""
    for name in read_commit(index).files:
        if name.endswith((".del", ".fast")):
            with suppress(FileNotFoundError):  # a later commit has removed the file
                if fault := find_fault(index / name):
                    raise StoreError(
                        f"{index / name} is damaged: {fault}; save the readable documents with `simdoc-search repair`"
                    )


def ensure_lock_file(path: Path) -> bool:
    """Create a lock file if it is missing. Return whether this process can write to it. Links are not followed."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666))
    except PermissionError:
        return False
    except FileNotFoundError:
        return True  # tantivy will report that the folder is missing
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        return False
    return True


def _disable_reloads(index: tantivy.Index) -> tantivy.Index:
    """Return the index without its thread that checks for new commits twice a second."""
    index.config_reader("manual")
    return index
