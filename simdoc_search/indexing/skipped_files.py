"""Remembers the skipped files of indexed folders, and locates them, so that their bytes can be compared."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from simdoc_search.corpus.file_source import FileSource
from simdoc_search.corpus.member_names import find_archive, find_archive_file
from simdoc_search.display import format_count, printable
from simdoc_search.documents import SkippedFile
from simdoc_search.errors import StoreError
from simdoc_search.indexing.input_paths import InputPath, InputPaths, absolute_path, is_missing
from simdoc_search.indexing.seen_ids import SeenIds
from simdoc_search.indexing.skip_reasons import NO_FILES_REASON, SKIP_KINDS, classify_reason, group_by_reason
from simdoc_search.stores.base import Store

_MAX_NAMED_FILES = 20


def remember_skipped_files(
    store: Store, paths: Iterable[InputPath], seen: SeenIds, skipped: Iterable[SkippedFile], *, read_all: bool
) -> None:
    """Update the store's list of skipped files after a run. Lines of files with several documents are not listed.

    If the run did not `read_all` files of its paths, the others remain in the list. So do the members of archives and
    the attachments of e-mails, because an unchanged archive or e-mail is not read again.
    """
    new = {}
    for file in skipped:
        path = absolute_path(file.path)
        if file.reason != NO_FILES_REASON and (file.root or os.path.isfile(path)):  # noqa: PTH113 - paths are strings
            new[path] = SkippedFile(path, file.reason, file.root or path)
    input_paths = {input_path.path: input_path for input_path in paths}
    folders = tuple(os.path.join(path, "") for path in input_paths)  # noqa: PTH118 - Path objects are slow here

    def is_current(file: SkippedFile) -> bool:
        archive = find_archive(file.path)
        if (archive or file.path) not in input_paths and not file.path.startswith(folders):
            return True
        if file.path in new or (read_all and not archive):
            return False
        input_path = input_paths.get(file.root or "")
        id = input_path.make_skipped_id(file) if input_path else None
        return not is_missing(archive or file.path) and (id is None or id not in seen)

    old: list[SkippedFile] = []
    with suppress(StoreError):  # the list is damaged; the new one replaces it
        old += store.skipped_files()
    current = [*filter(is_current, old), *new.values()]
    if current != old:
        store.remember_skipped_files(current)


class SkippedFilesNote(NamedTuple):
    """Says which files were not searched. Both strings are empty if there are none."""

    summary: str  # the number of files
    names: str  # the files that may have a text, with the reasons, and the number of the others


def describe_skipped_files(skipped: Sequence[SkippedFile]) -> SkippedFilesNote:
    """Name at most 20 skipped files with the reasons, damaged files before images."""
    ranks = {reason: SKIP_KINDS.index(classify_reason(reason)[0]) for reason in {file.reason for file in skipped}}
    by_rank = sorted(skipped, key=lambda file: ranks[file.reason])
    named = [file for file in by_rank if SKIP_KINDS[ranks[file.reason]].may_have_text][:_MAX_NAMED_FILES]
    parts = [f"{_shorten_path(file)}, {file.reason.partition(';')[0]}" for file in named]
    files = "other files" if named else "files"
    for group in group_by_reason(by_rank[len(named) :]):  # kinds of files that may have a text have the first ranks
        count = len(group.files)
        nouns = group.noun or f"{files if count > 1 else files[:-1]}, {group.label}"
        parts.append(f"{count:,} {nouns}")
    files_were = format_count(len(skipped), "file was", "files were")
    return SkippedFilesNote(f"{files_were} skipped and not searched" if skipped else "", "; ".join(parts))


def _shorten_path(file: SkippedFile) -> str:
    """Return the path of a file below the indexed folder."""
    path = absolute_path(file.path)
    return printable(os.path.relpath(path, file.root) if file.root not in (None, path) else os.path.basename(path))  # noqa: PTH119


def locate_skipped_files(store: Store, skipped: Iterable[SkippedFile]) -> Iterator[FileSource]:
    """Yield the skipped files that may be compared, with the ids that they would have in the store.

    For a member of an archive, the archive is yielded. Hidden and excluded files, links and empty files are left out.
    So are files that are not in an indexed folder, and files whose ids belong to other documents.
    """
    paths = InputPaths(store, None, add_folder_prefix=True)
    for file in skipped:
        if file.root is None or not classify_reason(file.reason)[0].can_compare_bytes:
            continue
        input_path, path = paths.get_or_add(file.root), absolute_path(file.path)
        if not os.path.lexists(path):
            path = find_archive_file(path) or path
        try:
            info = os.lstat(path)
            id = input_path.make_id(path)
        except (OSError, ValueError):  # an attachment of an e-mail, or a name that is not UTF-8
            continue
        if stat.S_ISREG(info.st_mode) and info.st_size:
            yield FileSource(id, path, input_path.root, info.st_size, info.st_mtime_ns, prefix=input_path.prefix)
