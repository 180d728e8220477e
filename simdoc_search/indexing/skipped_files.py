"""Locates the skipped files of indexed folders, so that their bytes can be compared."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from simdoc_search.corpus.file_source import FileSource
from simdoc_search.corpus.member_names import find_archive_file
from simdoc_search.documents import SkippedFile
from simdoc_search.indexing.input_paths import InputPaths, absolute_path
from simdoc_search.indexing.skip_reasons import classify_reason
from simdoc_search.stores.base import Store


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
