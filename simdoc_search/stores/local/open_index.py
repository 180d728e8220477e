"""Opening a tantivy index for writing, for reading, and for reading on read-only media."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import tantivy

from simdoc_search.errors import StoreError
from simdoc_search.stores.local.segments import META_FILE, Commit, check_files, fault_of, read_commit

READERS_LOCK, WRITERS_LOCK = ".tantivy-meta.lock", ".tantivy-writer.lock"
TRIES = 100
"""A commit can be replaced, and its files removed, while they are being opened."""

_DESCRIPTORS = Path("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")


class IndexInMemory:
    """An index that is never on disk."""

    def __init__(self, schema: tantivy.Schema) -> None:
        self._index = _without_reloads(tantivy.Index(schema))

    @property
    def schema(self) -> tantivy.Schema:
        """The fields of the index."""
        return self._index.schema

    def searcher(self) -> tantivy.Searcher:
        """Return the last commit; later commits do not change it."""
        self._index.reload()
        return self._index.searcher()

    def for_writing(self) -> tantivy.Index:
        """Return the index for a writer."""
        return self._index


class IndexInFolder:
    """An index in a folder, readable also where its lock file cannot be written, as on a read-only medium.

    An unexpected schema is an error; None, for a store made before checksums, accepts any.
    """

    def __init__(self, path: Path, schema: tantivy.Schema | None) -> None:
        self._path = path
        self._expected = schema
        self._commit: Commit | None = None
        check_files(path)
        _verify_small_files(path)
        if _may_lock(path / READERS_LOCK):
            self._index = _without_reloads(_index_at(path, schema))
        else:
            self._link()

    @property
    def schema(self) -> tantivy.Schema:
        """The fields of the index."""
        return self._index.schema

    def searcher(self) -> tantivy.Searcher:
        """Return the last commit; later commits do not change it."""
        if self._commit is None:
            self._index.reload()
        elif read_commit(self._path) != self._commit:
            self._link()
        return self._index.searcher()

    def for_writing(self) -> tantivy.Index:
        """Return the index for a writer.

        An index opened earlier does not know the files that others wrote since, and would remove them from the list of
        files that may be deleted. An index with a reader would keep what the reader has open.
        """
        _may_lock(self._path / WRITERS_LOCK)
        return _without_reloads(tantivy.Index.open(str(self._path)))

    def _link(self) -> None:
        with pinned(self._path) as (self._commit, files):
            self._index = open_linked(self._commit.meta, files, self._expected)


@contextmanager
def pinned(index: Path) -> Iterator[tuple[Commit, dict[str, Path]]]:
    """Return the last commit, and the paths of its files by name; no writer can remove them during the block.

    Open files have paths on Linux and macOS, and cannot be removed on Windows. A file that is gone for good is missing.

    Raises:
        StoreError: `meta.json` is damaged or gone, or a file cannot be read at all, see `check_files`.
    """
    check_files(index)
    for _ in range(TRIES):
        commit = read_commit(index)
        with ExitStack() as held:
            files = {}
            for name in commit.files:
                with suppress(FileNotFoundError):
                    opened = held.enter_context((index / name).open("rb"))
                    files[name] = index / name
                    with suppress(OSError):
                        path = _DESCRIPTORS / str(opened.fileno())
                        path.stat()  # fails for a process with the rights of another user, too
                        files[name] = path
            if len(files) == len(commit.files) or read_commit(index) == commit:
                yield commit, files
                return
    raise StoreError(f"{index} changes too fast to be read; try again when less is written")


def open_linked(meta: bytes, files: Mapping[str, Path], schema: tantivy.Schema | None) -> tantivy.Index:
    """Open an index that consists of these files, by name, wherever they are, without writing beside them.

    tantivy needs a lock file beside what it reads, so it gets a folder of links. When this returns, tantivy has all of
    them open, and the folder is removed.
    """
    with scratch_folder() as folder:
        for name, path in files.items():
            (folder / name).symlink_to(path.absolute())
        (folder / META_FILE).write_bytes(meta)
        return _without_reloads(_index_at(folder, schema))


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder that is removed after the block, even if tantivy is still making its lock file in it."""
    folder = Path(tempfile.mkdtemp(prefix="simdoc-"))
    try:
        yield folder
    finally:
        for _ in range(TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break


def _verify_small_files(index: Path) -> None:
    """Verify the small files: deleted documents and numbers of tokens affect answers, and are quick to verify."""
    for name in read_commit(index).files:
        if name.endswith((".del", ".fast")):
            with suppress(FileNotFoundError):  # a later commit has others
                if fault := fault_of(index / name):
                    raise StoreError(
                        f"{index / name} is damaged: {fault}; save what can be read with simdoc-search repair"
                    )


def _index_at(path: Path, schema: tantivy.Schema | None) -> tantivy.Index:
    """Open the index in a folder with this schema, or with its own."""
    return tantivy.Index.open(str(path)) if schema is None else tantivy.Index(schema, str(path))


def _may_lock(path: Path) -> bool:
    """Whether a lock file can be written. tantivy would try, but would follow a link and make it elsewhere."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666))
    except PermissionError:
        return False
    except FileNotFoundError:
        return True  # tantivy says what is gone
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        return False
    return True


def _without_reloads(index: tantivy.Index) -> tantivy.Index:
    """Return the index without the thread that looks for commits twice a second; each call looks for itself."""
    index.config_reader("manual")
    return index
