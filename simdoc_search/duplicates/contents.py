"""Which documents of a group have equal contents? Their files are looked at here, and the bytes of some are read.

A file is read only if another file of its group has its size. Names of one file (hard links) are read once.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from simdoc_search.duplicates.collection import Documents
from simdoc_search.duplicates.plan.files import GONE, FileNow, seen, state_of
from simdoc_search.duplicates.plan.rows import LeftAloneError
from simdoc_search.duplicates.table import Ints


@dataclass(slots=True)
class Contents:
    """What is known of the contents of documents.

    Attributes:
        classes: a number per document, equal where contents are; int64, shape (documents,).
        files: the files of the documents of groups, by the numbers of the documents.
        problems: why the bytes of a document cannot be compared, by its number.
    """

    classes: Ints
    files: dict[int, FileNow] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)


Fields = Callable[[Sequence[int]], Mapping[int, str]]
"""Hashes of all fields of some documents, by their numbers; for documents of which the store has no hash."""

_SETS_AT_ONCE = 100


def read_contents(
    documents: Documents,
    groups: Iterable[Sequence[int]],
    fields: Fields = lambda _: {},
    progress: Callable[[], object] = lambda: None,
) -> Contents:
    """Compare the contents of the documents of each group.

    Args:
        documents: all of them; those without files are compared by `Documents.contents`.
        groups: the numbers of the documents of each group.
        fields: gives what documents without files have in their fields.
        progress: called after each group.
    """
    found = Contents(documents.contents.copy())
    same_text: list[list[int]] = []
    for group in groups:
        same_text += _without_files(documents, group)
        by_size: dict[int, dict[tuple[int, int], list[int]]] = defaultdict(lambda: defaultdict(list))
        for each in group:
            if documents.sizes[each] < 0 or (path := documents.path(each)) is None:
                continue
            try:
                file = _look(path, int(documents.sizes[each]), int(documents.changed[each]))
            except LeftAloneError as error:
                found.problems[each] = str(error)
                continue
            found.files[each] = file
            by_size[file.size][file.inode].append(each)
        for inodes in by_size.values():
            _classify(documents, list(inodes.values()), found)
        progress()
    for start in range(0, len(same_text), _SETS_AT_ONCE):
        _compare_fields(same_text[start : start + _SETS_AT_ONCE], fields, found)
    return found


def _without_files(documents: Documents, group: Sequence[int]) -> Iterator[list[int]]:
    """Documents of a group without files that have the same text, and perhaps other fields."""
    by_text: dict[int, list[int]] = defaultdict(list)
    for each in group:
        if documents.path(each) is None:
            by_text[int(documents.texts[each])].append(each)
    for some in by_text.values():
        if len({int(documents.contents[each]) for each in some}) > 1:
            yield some


def _compare_fields(sets: list[list[int]], fields: Fields, found: Contents) -> None:
    """Give documents of each set whose fields are equal one class."""
    hashes = fields([each for some in sets for each in some])
    for some in sets:
        first: dict[str, int] = {}
        for each in some:
            if each in hashes:
                found.classes[each] = found.classes[first.setdefault(hashes[each], each)]


def _classify(documents: Documents, names: list[list[int]], found: Contents) -> None:
    """Give equal files of one size one class; `names` are the documents of each file."""
    first: dict[str, int] = {}
    for some in names:
        found.classes[some] = found.classes[some[0]]
        if len(names) == 1:
            return
        try:
            state, info = state_of(documents.path(some[0]) or "")
            if seen(info) != (*found.files[some[0]].inode, state.size, int(documents.changed[some[0]])):
                raise LeftAloneError("it is being changed")
        except LeftAloneError as error:
            found.problems |= dict.fromkeys(some, str(error))
            continue
        found.classes[some] = found.classes[first.setdefault(state.hash, some[0])]


def _look(path: str, size: int, changed: int) -> FileNow:
    """The file at a path.

    Raises:
        LeftAloneError: it is gone, not a regular file, or not the one that was indexed.
    """
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        raise LeftAloneError(GONE) from None
    except (OSError, ValueError) as error:
        raise LeftAloneError(f"it cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if not stat.S_ISREG(info.st_mode):
        raise LeftAloneError("it is not a regular file")
    if (info.st_size, info.st_mtime_ns) != (size, changed):
        raise LeftAloneError("it has changed since it was indexed")
    return FileNow.of(info)
