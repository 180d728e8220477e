"""Folders and files that a person names, and the ids that their documents have.

An id is the path of the file below its root, after the root's prefix. A folder below a root that the store has already
is a part of that root: its files have the ids that they have there.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from simdoc_search.documents import FileSource, Skipped
from simdoc_search.indexing.skip_reasons import BROKEN_LINK
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Origin, Record

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class NamedPlace:
    """A folder or file that was named.

    Attributes:
        number: which place of the run it is, from 1.
        path: its absolute path.
        root: the path of the root that it is, or is a part of.
        prefix: what the root's ids begin with.
        within: the place's path below its root, with a `/` at its end; empty for the root itself.
        stored: how many documents the store had of the root.
        met: how many of those came by.
        files: how many files were found.
        unreadable: the paths that could not be looked into, and why.
        taken: how many of its files have an id that a file of another root has, by that root.
        renamed: how many documents had other ids, as they were indexed with another prefix, or from a folder below.
        moved: how many documents came here from another root whose files are gone, by that root.
    """

    number: int
    path: str
    root: str
    prefix: str = ""
    within: str = ""
    stored: int = 0
    met: int = 0
    files: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)
    taken: Counter[str] = field(default_factory=Counter)
    renamed: int = 0
    moved: Counter[str] = field(default_factory=Counter)

    @property
    def beginning(self) -> str:
        """What all ids of this place begin with."""
        return self.prefix + self.within

    def id_of(self, path: str) -> str:
        """The id of a file of this place, by its absolute path."""
        below = PurePath(path).relative_to(self.root).as_posix() if path != self.root else PurePath(path).name
        return self.prefix + below

    def adopted(self, source: FileSource) -> FileSource:
        """A file with the id and the root that it has here."""
        if not self.beginning and self.root == source.root:
            return source
        id = self.id_of(self.path) if source.root == absolute(source.path) else self.beginning + source.id
        return replace(source, id=id, root=self.root, prefix=self.prefix)

    def id_of_skipped(self, skipped: Skipped) -> str | None:
        """The id that a skipped file would have here; None for what is not below this place."""
        try:
            return self.id_of(absolute(skipped.path))
        except ValueError:
            return None

    def closed(self, path: str) -> str | None:
        """What could not be looked into and has this path, or has it below."""
        if not self.unreadable:
            return None
        if self.unreadable.get(path) == BROKEN_LINK:  # that of a file is a file that is gone
            path = os.path.dirname(path)  # noqa: PTH120 - a Path for each is slow
        while len(path) >= len(self.path):
            if path in self.unreadable:
                return path
            path = os.path.dirname(path)  # noqa: PTH120
        return None

    def conflicts(self) -> list[str]:
        """A sentence for each root that has ids of files of this place."""
        name = PurePath(self.path).name if Path(self.path).is_dir() else PurePath(self.path).parent.name
        return [
            f"{_files(count)} of {self.path} {'has an id' if count == 1 else 'have ids'} of {root} and "
            f"{'was' if count == 1 else 'were'} left out; give this folder ids of its own with --prefix {name}/"
            for root, count in self.taken.items()
        ]

    def changes(self) -> list[str]:
        """A sentence for each root whose files are gone and whose documents are now of this place; one for new ids."""
        said = [
            f"{_files(count)} of {root}, which {'is' if count == 1 else 'are'} gone, now count as those of {self.path}"
            for root, count in self.moved.items()
        ]
        if self.renamed:
            said.append(f"{_files(self.renamed)} of {self.path} had other ids before, which are removed")
        return said

    def others(self, store: Store, *, renamed: bool) -> Iterator[Record]:
        """The documents that this place's files may have given under other ids.

        They were indexed from a folder below, or as files by themselves; if `renamed`, also with another prefix.
        """
        if self.root != self.path or not self.files:
            return
        if store.count(self.root, below=True):
            yield from store.scan(root=self.root, below=True)
        if renamed and self.stored:
            yield from (
                each for each in store.scan(root=self.root) if each.origin and each.origin.prefix != self.prefix
            )


class Places:
    """All places of a run, as they come by.

    Args:
        store: says which roots it has.
        prefix: what the ids of this run's files are to begin with; None: as the store has it, or nothing.
        own_ids: whether a folder that the store does not have gets ids that begin with its name, if there are other
            documents in the store or in this run.
    """

    def __init__(self, store: Store, prefix: str | None, *, own_ids: bool = False) -> None:
        self.prefix = prefix
        self._own_ids = own_ids
        self._store = store
        self._all: list[NamedPlace] = []
        self._by_path: dict[str, NamedPlace] = {}
        self._documents: dict[str, int] = {}  # of a root

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[NamedPlace]:
        return iter(self._all)

    def of(self, path: str) -> NamedPlace:
        """The place with this absolute path."""
        if (place := self._by_path.get(path)) is None:
            place = self._by_path[path] = self._new(path)
            self._all.append(place)
            _log.info("%s: root %s, ids begin with %r", path, place.root, place.beginning)
        return place

    def numbered(self, number: int) -> NamedPlace | None:
        """The place with this number; None for 0."""
        return self._all[number - 1] if number else None

    def is_part_of_another(self, place: NamedPlace) -> bool:
        """Whether a place is a part of another one of this run."""
        return bool(place.within) and place.root in self._by_path

    def _new(self, path: str) -> NamedPlace:
        number = len(self._all) + 1
        is_folder = Path(path).is_dir()
        stored = self._count(path) if is_folder else 0
        if self.prefix is not None:
            return NamedPlace(number, path, path, self.prefix, stored=stored)
        if stored:
            return NamedPlace(number, path, path, self._prefix_of(path), stored=stored)
        for parent in map(str, PurePath(path).parents):
            if (around := self._by_path.get(parent)) is not None and around.root == parent:
                prefix = around.prefix
            elif self._count(parent):
                prefix = self._prefix_of(parent)
            else:
                continue
            within = PurePath(path).relative_to(parent).as_posix() + "/" if is_folder else ""
            return NamedPlace(number, path, parent, prefix, within, stored=self._count(parent))
        is_alone = not self._all and not self._store.info().documents if self._own_ids else True
        return NamedPlace(number, path, path, "" if is_alone or not is_folder else self._own_prefix(path))

    def _own_prefix(self, path: str) -> str:
        """The name of a folder, with as many of those above it as tell its ids from those of other folders."""
        parts = [each for each in PurePath(path).parts if each != PurePath(path).anchor]
        used = {place.prefix for place in self._all}
        options = ("/".join(parts[-count:]) + "/" for count in range(1, len(parts) + 1))
        for prefix in options:
            if prefix not in used and next(self._store.scan(filters={"path": prefix}), None) is None:
                return prefix
        return "/".join(parts) + "/"

    def _count(self, root: str) -> int:
        if root not in self._documents:
            self._documents[root] = self._store.count(root)
        return self._documents[root]

    def _prefix_of(self, root: str) -> str:
        record = next(self._store.scan(root=root), None)
        return record.origin.prefix if record and record.origin else ""


def file_of(origin: Origin, id: str) -> str:
    """The path of the file that a document was read from; of a member that of its archive, `!` and its name."""
    if os.path.isfile(origin.root):  # noqa: PTH113 - Path.is_file() may raise
        below = id.removeprefix(origin.prefix).removeprefix(PurePath(origin.root).name)
        return origin.root + below * bool(origin.content)
    return str(Path(origin.root) / id.removeprefix(origin.prefix))


def is_gone(path: str) -> bool:
    """Whether a file is there no more; one that is closed to us, or on a disk that fails, may be there."""
    try:
        os.stat(path)  # noqa: PTH116 - Path.exists() takes an error for absence
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def same_file(one: str, other: str | Path) -> bool:
    """Whether two paths lead to one file, over links or not."""
    if one == absolute(other):
        return True
    with suppress(OSError, ValueError):
        return os.path.samefile(one, other)  # noqa: PTH121 - with strings
    return False


def absolute(path: str | Path) -> str:
    """The absolute path, with links as they are."""
    return os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def is_as_it_was(path: str, origin: Origin) -> bool:
    """Whether a file has the size and time of change that it had; only our limits are other ones then.

    A member of an archive is read again only if that changed.
    """
    if origin.content:
        return False
    with suppress(OSError):
        info = os.stat(path)  # noqa: PTH116 - as above
        return (info.st_size, info.st_mtime_ns) == (origin.size, origin.mtime_ns)
    return True
