"""Finds files with equal bytes among files that are not in the store, such as photos and scans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from simdoc_search.corpus.file_source import FileSource
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
    for file in files:
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
