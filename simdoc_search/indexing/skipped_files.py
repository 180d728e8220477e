"""Locates the skipped files of indexed folders, so that their bytes can be compared."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from simdoc_search.corpus.file_source import FileSource
from simdoc_search.documents import SkippedFile
from simdoc_search.indexing.input_paths import InputPaths, absolute_path
from simdoc_search.indexing.skip_reasons import classify_reason
from simdoc_search.stores.base import Store


def locate_skipped_files(store: Store, skipped: Iterable[SkippedFile]) -> Iterator[FileSource]:
    """Yield the skipped files that may be compared, with the ids that they would have in the store.

    Hidden and excluded files, links, empty files and members of archives are left out. So are files that are not in an
    indexed folder, and files whose ids belong to other documents.
    """
    paths = InputPaths(store, None, add_folder_prefix=True)
    for file in skipped:
        if file.root is None or not classify_reason(file.reason)[0].can_compare_bytes:
            continue
        input_path, path = paths.get_or_add(file.root), absolute_path(file.path)
        try:
            info = os.lstat(path)
            id = input_path.make_id(path)
        except (OSError, ValueError):  # a member of an archive, or a name that is not UTF-8
            continue
        if stat.S_ISREG(info.st_mode) and info.st_size:
            yield FileSource(id, path, input_path.root, info.st_size, info.st_mtime_ns, prefix=input_path.prefix)
