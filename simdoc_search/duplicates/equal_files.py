"""Finds files with equal bytes among files that are not documents of the store: photos, scans and archives."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from simdoc_search.corpus.file_source import FileSource
from simdoc_search.corpus.member_names import find_archive_file
from simdoc_search.duplicates.plan.files import read_state
from simdoc_search.duplicates.plan.rows import LeftAloneError
from simdoc_search.sketch.tokens import empty_token_ids
from simdoc_search.stores.record import Origin, Record


def records_of_equal_files(
    files: Iterable[FileSource], progress: Callable[[float], object] = lambda _: None
) -> Iterator[Record]:
    """Yield a record for each file whose bytes equal those of another one. Files with a unique size are not read.

    The records have no tokens. Their `text_hash` is the hash of the bytes.
    """
    by_size: dict[int, list[FileSource]] = defaultdict(list)
    for file in {file.path: file for file in files}.values():
        by_size[file.size].append(file)
    same_size = [candidates for candidates in by_size.values() if len(candidates) > 1]
    for number, candidates in enumerate(same_size, 1):
        by_hash: dict[str, list[FileSource]] = defaultdict(list)
        for file in candidates:
            try:
                state, _ = read_state(file.path)
            except LeftAloneError:
                continue
            if (state.size, state.mtime_ns) == (file.size, file.mtime_ns):
                by_hash[state.hash].append(file)
        for file_hash, equal in by_hash.items():
            for file in equal if len(equal) > 1 else ():
                origin = Origin(file.root, file.size, file.mtime_ns, file.prefix)
                yield Record(file.id, empty_token_ids(), 0, "", origin=origin, text_hash=file_hash)
        progress(number / len(same_size))


def collect_archives(records: Iterable[Record], archives: dict[str, FileSource]) -> Iterator[Record]:
    """Yield the records, and add the archives and mailboxes that contain them to `archives`, by path."""
    for record in records:
        origin = record.origin
        id = find_archive_file(record.id) if origin and origin.content_hash else None
        if origin and id and (path := origin.path_of(id)) not in archives:
            with suppress(OSError, ValueError):
                info = os.lstat(path)
                if stat.S_ISREG(info.st_mode):
                    archives[path] = FileSource(
                        id, path, origin.root, info.st_size, info.st_mtime_ns, prefix=origin.prefix
                    )
        yield record
