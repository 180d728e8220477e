"""Determines the ids of files, for all folders and files that the user names in one run.

A root is an indexed folder. An id consists of the prefix of a root and the path of the file below that root. If the
user names a folder below a root that the store already has, its files belong to that root and keep their ids.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

from simdoc_search.corpus.file_source import FileSource
from simdoc_search.display import command_line, format_count
from simdoc_search.documents import SkippedFile
from simdoc_search.indexing.skip_reasons import BROKEN_LINK_REASON
from simdoc_search.stores.base import Store
from simdoc_search.stores.fields import ORIGIN_FIELD, origin_value
from simdoc_search.stores.filters import any_of
from simdoc_search.stores.record import Origin, Record

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class InputPath:
    """A folder or file that the user named."""

    number: int  # position of the path in the run, from 1
    path: str  # the absolute path
    root: str  # absolute path of the root, which is `path` itself or a folder above it
    prefix: str = ""  # prefix of the ids of the root
    subfolder: str = ""  # path of the folder below the root, with a final `/`; empty for the root or a file
    stored_count: int = 0  # number of documents of the root that the store had before the run
    found_count: int = 0  # number of these documents that the run found again
    file_count: int = 0  # number of files that the run found
    unreadable_paths: dict[str, str] = field(default_factory=dict)  # maps each unreadable path to the reason
    skips_indexed_files: bool = False  # whether the run skipped files that an earlier run may have indexed
    id_conflicts: Counter[str] = field(default_factory=Counter)  # number of ids shared with other roots, by root
    renamed_count: int = 0  # number of files whose ids changed in the run

    @property
    def id_prefix(self) -> str:
        """The prefix of all ids of this path."""
        return self.prefix + self.subfolder

    @property
    def unseen_count(self) -> int:
        """Number of documents of a root that the run did not find; 0 for a path inside a root."""
        return self.stored_count - self.found_count if self.root == self.path else 0

    def make_id(self, path: str) -> str:
        """Return the id of the file with this absolute path."""
        relative = PurePath(path).relative_to(self.root).as_posix() if path != self.root else PurePath(path).name
        return self.prefix + relative

    def make_skipped_id(self, skipped: SkippedFile) -> str | None:
        """Return the id that a skipped file would have, or None if the file is not below the root."""
        with suppress(ValueError):
            return self.make_id(absolute_path(skipped.path))
        return None

    def with_stored_id(self, source: FileSource) -> FileSource:
        """Return a file with its id and root in the store."""
        if not self.id_prefix and self.root == source.root:
            return source
        id = self.make_id(self.path) if source.root == absolute_path(source.path) else self.id_prefix + source.id
        return replace(source, id=id, root=self.root, prefix=self.prefix)

    def find_unreadable_path(self, path: str) -> str | None:
        """Return the path, or a folder above it, if the run could not read it; None if there is no such folder."""
        if not self.unreadable_paths:
            return None
        if self.unreadable_paths.get(path) == BROKEN_LINK_REASON:  # the file is gone, not unreadable
            path = os.path.dirname(path)  # noqa: PTH120 - Path objects are slow here
        return find_listed_path(path, self.unreadable_paths, self.path)

    def make_conflict_messages(self, store: str) -> list[str]:
        """Return a sentence for each other root whose files have the same ids as files of this path."""
        name = PurePath(self.path).name if Path(self.path).is_dir() else PurePath(self.path).parent.name
        command = command_line(store, "index", self.path, "--prefix", f"{name}/")
        return [
            f"skipped {format_count(count, 'file')} of {self.path}, because {root} has "
            f"{'a file with the same id' if count == 1 else 'files with the same ids'}. To change the ids in "
            f"{self.path}, run: {command}"
            for root, count in self.id_conflicts.items()
        ]

    def make_rename_notes(self) -> list[str]:
        """Return a sentence for the report if files of this path got new ids, and otherwise an empty list."""
        files = format_count(self.renamed_count, "file")
        message = f"{files} of {self.path} got new ids; documents with old ids were removed"
        return [message] if self.renamed_count else []

    def find_old_documents(self, store: Store, *, has_new_prefix: bool) -> Iterator[Record]:
        """Yield stored documents of this path whose ids may differ from the current ids of their files.

        An earlier run indexed these documents when the user named a folder or file below this path. If the run has a
        new prefix, documents with another prefix are also included.
        """
        if self.root != self.path or not self.file_count:
            return
        if store.count(self.root, only_roots_inside_folder=True):
            yield from store.scan(root_folder=self.root, only_roots_inside_folder=True)
        if has_new_prefix and self.stored_count:
            records = store.scan(root_folder=self.root)
            yield from (record for record in records if record.origin and record.origin.prefix != self.prefix)


class InputPaths:
    """All input paths of a run, in order.

    The ids of this run begin with `prefix`; None to use the prefix in the store, if any. With `add_folder_prefix`, the
    ids of a new folder begin with its name if the store or the run already has documents of other folders.
    """

    def __init__(self, store: Store, prefix: str | None, *, add_folder_prefix: bool = False) -> None:
        self.prefix = prefix
        self._add_folder_prefix = add_folder_prefix
        self._store = store
        self._by_path: dict[str, InputPath] = {}
        self._document_counts: dict[str, int] = {}  # for each root

    def __len__(self) -> int:
        return len(self._by_path)

    def __iter__(self) -> Iterator[InputPath]:
        return iter(self._by_path.values())

    def get_or_add(self, path: str) -> InputPath:
        """Return the input path with this absolute path, and add it if it is new."""
        input_path = self._by_path.get(path)
        if input_path is None:
            input_path = self._by_path[path] = self._make_input_path(path)
            _log.info("%s: root %s, ids begin with %r", path, input_path.root, input_path.id_prefix)
        return input_path

    def get_by_number(self, number: int) -> InputPath | None:
        """Return the input path at this position; None for 0."""
        return list(self._by_path.values())[number - 1] if number else None

    def is_inside_another(self, input_path: InputPath) -> bool:
        """Return whether a path is inside another input path of this run."""
        return bool(input_path.subfolder) and input_path.root in self._by_path

    def _make_input_path(self, path: str) -> InputPath:
        number = len(self._by_path) + 1
        is_folder = Path(path).is_dir()
        stored = self._count_documents(path) if is_folder else 0
        if self.prefix is not None or stored:
            prefix = self._read_stored_prefix(path) if self.prefix is None else self.prefix
            return InputPath(number, path, path, prefix, stored_count=stored)
        for parent in map(str, PurePath(path).parents):
            parent_input_path = self._by_path.get(parent)
            if parent_input_path is not None and parent_input_path.root == parent:
                prefix = parent_input_path.prefix
            elif self._count_documents(parent):
                prefix = self._read_stored_prefix(parent)
            else:
                continue
            subfolder = PurePath(path).relative_to(parent).as_posix() + "/" if is_folder else ""
            return InputPath(number, path, parent, prefix, subfolder, stored_count=self._count_documents(parent))
        has_others = self._add_folder_prefix and bool(self._by_path or self._store.info().document_count)
        return InputPath(number, path, path, self._find_unused_prefix(path) if has_others and is_folder else "")

    def _find_unused_prefix(self, path: str) -> str:
        """Return the shortest suffix of a folder's path that is not yet a prefix of ids."""
        parts = [part for part in PurePath(path).parts if part != PurePath(path).anchor]
        used = {input_path.prefix for input_path in self}
        prefixes = ("/".join(parts[-count:]) + "/" for count in range(1, len(parts) + 1))
        for prefix in prefixes:
            if prefix not in used and next(self._store.scan(filters={"path": prefix}), None) is None:
                return prefix
        return "/".join(parts) + "/"

    def _count_documents(self, root: str) -> int:
        if root not in self._document_counts:
            self._document_counts[root] = self._store.count(root)
        return self._document_counts[root]

    def _read_stored_prefix(self, root: str) -> str:
        record = next(self._store.scan(root_folder=root), None)
        return record.origin.prefix if record and record.origin else ""


def make_origin_filter(store: Store, paths: Iterable[str]) -> dict[str, Any]:
    """Return the filter that selects the documents that were read from these indexed folders and files."""
    values: list[str] = []
    for path in map(absolute_path, paths):
        input_path = InputPaths(store, None).get_or_add(path)
        below = {
            record.origin.root
            for record in store.scan(root_folder=path, only_roots_inside_folder=True)
            if record.origin
        }
        values += map(origin_value, sorted(below))
        if path == input_path.root:
            values.append(origin_value(path))
        else:
            stored_path = input_path.id_prefix if input_path.subfolder else input_path.make_id(path)
            values.append(origin_value(input_path.root, stored_path))
    return {ORIGIN_FIELD: any_of(*values)}


def find_roots(store: Store, paths: Iterable[str]) -> set[Path]:
    """Return the indexed folders that contain at least one of these paths."""
    folders = {folder for path in paths for folder in Path(path).parents}
    return {folder for folder in folders if store.count(str(folder))}


def find_listed_path(path: str, listed: Container[str], top: str) -> str | None:
    """Return the path, or the nearest folder above it, that is listed. `top` is the last folder to look up."""
    while path not in listed:
        if len(path) <= len(top):
            return None
        path = os.path.dirname(path)  # noqa: PTH120 - Path objects are slow here
    return path


def is_missing(path: str) -> bool:
    """Return whether a file does not exist. For a file in an unreadable folder, return False."""
    try:
        os.stat(path)  # noqa: PTH116 - Path.exists() treats errors as absence
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def is_same_file(path: str, other: str | Path) -> bool:
    """Return whether two paths lead to the same file, perhaps through links."""
    if path == absolute_path(other):
        return True
    with suppress(OSError, ValueError):
        return os.path.samefile(path, other)  # noqa: PTH121 - paths are strings
    return False


def is_unchanged(path: str, origin: Origin) -> bool:
    """Return whether a file still has the stored size and modification time.

    For a member of an archive, return False. If the file cannot be accessed, return True.
    """
    if origin.content_hash:
        return False
    with suppress(OSError):
        info = os.stat(path)  # noqa: PTH116 - paths are strings
        return (info.st_size, info.st_mtime_ns) == (origin.size, origin.mtime_ns)
    return True


def absolute_path(path: str | Path) -> str:
    """Return the absolute path. Links are not resolved."""
    return os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links
