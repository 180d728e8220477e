"""Gives files their ids, for all folders and files that a person names in one run.

An id is the path of the file below its root, after the root's prefix. A folder below a root that the store already
has belongs to that root, and its files have the ids that they have there.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from simdoc_search.corpus.file_source import FileSource
from simdoc_search.documents import Skipped
from simdoc_search.indexing.skip_reasons import BROKEN_LINK
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Origin, Record

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class NamedPath:
    """A folder or file that a person named."""

    number: int  # its number in the run, from 1
    path: str  # its absolute path
    root: str  # the path of its root, which is the path itself or a folder above it
    prefix: str = ""  # the prefix of the root's ids
    within: str = ""  # its path below the root with a `/`, or empty
    stored: int = 0  # number of documents that the store had of the root
    met: int = 0  # number of these that came in this run
    files: int = 0  # number of files found
    unreadable: dict[str, str] = field(default_factory=dict)  # path to reason
    taken: Counter[str] = field(default_factory=Counter)  # root to number of files whose ids it has
    renamed: int = 0  # number of documents that had other ids before

    @property
    def id_prefix(self) -> str:
        """The beginning of all ids of this path."""
        return self.prefix + self.within

    def id_of(self, path: str) -> str:
        """Return the id of a file, by its absolute path."""
        below = PurePath(path).relative_to(self.root).as_posix() if path != self.root else PurePath(path).name
        return self.prefix + below

    def id_of_skipped(self, skipped: Skipped) -> str | None:
        """Return the id that a skipped file would have, or None if it is not below this root."""
        with suppress(ValueError):
            return self.id_of(absolute(skipped.path))
        return None

    def adopt(self, source: FileSource) -> FileSource:
        """Return a file with the id and root that it has in this store."""
        if not self.id_prefix and self.root == source.root:
            return source
        id = self.id_of(self.path) if source.root == absolute(source.path) else self.id_prefix + source.id
        return replace(source, id=id, root=self.root, prefix=self.prefix)

    def unreadable_above(self, path: str) -> str | None:
        """Return the unreadable file or folder that is this path or contains it."""
        if not self.unreadable:
            return None
        if self.unreadable.get(path) == BROKEN_LINK:  # the file is gone, not unreadable
            path = os.path.dirname(path)  # noqa: PTH120 - Path objects are slow here
        while len(path) >= len(self.path):
            if path in self.unreadable:
                return path
            path = os.path.dirname(path)  # noqa: PTH120
        return None

    def conflicts(self) -> list[str]:
        """Return a sentence for each root that has ids of this path's files."""
        name = PurePath(self.path).name if Path(self.path).is_dir() else PurePath(self.path).parent.name
        return [
            f"skipped {_files(count)} of {self.path}, because {root} has the same {'id' if count == 1 else 'ids'}; "
            f"give this folder its own ids with --prefix {name}/"
            for root, count in self.taken.items()
        ]

    def other_documents(self, store: Store, *, has_new_prefix: bool) -> Iterator[Record]:
        """Yield documents of the same files that may have other ids.

        They were indexed from a folder below, or as named files. With a new prefix, also those with another prefix.
        """
        if self.root != self.path or not self.files:
            return
        if store.count(self.root, below=True):
            yield from store.scan(root=self.root, below=True)
        if has_new_prefix and self.stored:
            records = store.scan(root=self.root)
            yield from (record for record in records if record.origin and record.origin.prefix != self.prefix)


class NamedPaths:
    """All named paths of a run, in order.

    Args:
        store: the store, which knows the roots of earlier runs.
        prefix: the prefix of the ids of this run's files. None: as in the store, or none.
        own_ids: whether the ids of a new folder begin with its name if the store or the run has other documents.
    """

    def __init__(self, store: Store, prefix: str | None, *, own_ids: bool = False) -> None:
        self.prefix = prefix
        self._own_ids = own_ids
        self._store = store
        self._by_path: dict[str, NamedPath] = {}
        self._document_counts: dict[str, int] = {}  # by root

    def __len__(self) -> int:
        return len(self._by_path)

    def __iter__(self) -> Iterator[NamedPath]:
        return iter(self._by_path.values())

    def of(self, path: str) -> NamedPath:
        """Return the named path with this absolute path. It is added if it is new."""
        named = self._by_path.get(path)
        if named is None:
            named = self._by_path[path] = self._new(path)
            _log.info("%s: root %s, ids begin with %r", path, named.root, named.id_prefix)
        return named

    def numbered(self, number: int) -> NamedPath | None:
        """Return the named path with this number, or None for 0."""
        return list(self._by_path.values())[number - 1] if number else None

    def is_part_of_another(self, named: NamedPath) -> bool:
        """Return whether a path is a part of another one of this run."""
        return bool(named.within) and named.root in self._by_path

    def _new(self, path: str) -> NamedPath:
        number = len(self._by_path) + 1
        is_folder = Path(path).is_dir()
        stored = self._count(path) if is_folder else 0
        if self.prefix is not None or stored:
            prefix = self._stored_prefix(path) if self.prefix is None else self.prefix
            return NamedPath(number, path, path, prefix, stored=stored)
        for parent in map(str, PurePath(path).parents):
            above = self._by_path.get(parent)
            if above is not None and above.root == parent:
                prefix = above.prefix
            elif self._count(parent):
                prefix = self._stored_prefix(parent)
            else:
                continue
            within = PurePath(path).relative_to(parent).as_posix() + "/" if is_folder else ""
            return NamedPath(number, path, parent, prefix, within, stored=self._count(parent))
        has_others = self._own_ids and bool(self._by_path or self._store.info().documents)
        return NamedPath(number, path, path, self._own_prefix(path) if has_others and is_folder else "")

    def _own_prefix(self, path: str) -> str:
        """Return the name of a folder, with as many folders above it as no other ids begin with."""
        parts = [part for part in PurePath(path).parts if part != PurePath(path).anchor]
        used = {named.prefix for named in self}
        prefixes = ("/".join(parts[-count:]) + "/" for count in range(1, len(parts) + 1))
        for prefix in prefixes:
            if prefix not in used and next(self._store.scan(filters={"path": prefix}), None) is None:
                return prefix
        return "/".join(parts) + "/"

    def _count(self, root: str) -> int:
        if root not in self._document_counts:
            self._document_counts[root] = self._store.count(root)
        return self._document_counts[root]

    def _stored_prefix(self, root: str) -> str:
        record = next(self._store.scan(root=root), None)
        return record.origin.prefix if record and record.origin else ""


def file_of(origin: Origin, id: str) -> str:
    """Return the path of the file of a document. For a member of an archive: path, `!` and the member's name."""
    if os.path.isfile(origin.root):  # noqa: PTH113 - Path.is_file() may raise
        below = id.removeprefix(origin.prefix).removeprefix(PurePath(origin.root).name)
        return origin.root + below * bool(origin.content)
    return str(Path(origin.root) / id.removeprefix(origin.prefix))


def is_gone(path: str) -> bool:
    """Return whether a file does not exist. An unreadable file, or one on a failing disk, may exist."""
    try:
        os.stat(path)  # noqa: PTH116 - Path.exists() takes an error for absence
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def is_same_file(path: str, other: str | Path) -> bool:
    """Return whether two paths lead to the same file, perhaps over links."""
    if path == absolute(other):
        return True
    with suppress(OSError, ValueError):
        return os.path.samefile(path, other)  # noqa: PTH121 - with strings
    return False


def is_unchanged(path: str, origin: Origin) -> bool:
    """Return whether a file has the stored size and modification time. Only our limits have changed then.

    A member of an archive is read only if it changed.
    """
    if origin.content:
        return False
    with suppress(OSError):
        info = os.stat(path)  # noqa: PTH116 - as above
        return (info.st_size, info.st_mtime_ns) == (origin.size, origin.mtime_ns)
    return True


def absolute(path: str | Path) -> str:
    """Return the absolute path, with links unresolved."""
    return os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"
