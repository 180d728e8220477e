"""Detection of documents in a damaged file that crash the process that reads them.

With a flipped bit in a length, tantivy asks for more memory than there is, and aborts. A subprocess therefore reads
such a file first.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import tantivy

from simdoc_search.stores.local.errors import is_engine_error
from simdoc_search.stores.local.open_index import open_linked
from simdoc_search.workers import Begin, Limits
from simdoc_search.workers.memory import address_space_left
from simdoc_search.workers.process import ALL_MEMORY, Work, started

_AT_ONCE = 256
_PATIENCE = 64
"""After this many crashes in a row, growing numbers of documents are skipped at once."""


def deadly_documents(meta: bytes, files: Mapping[str, Path], count: int) -> frozenset[int]:
    """Return the numbers of the documents that must not be read.

    Args:
        meta: the `meta.json` of an index of one segment.
        files: its files by name.
        count: number of documents.

    Raises:
        MemoryError: the address space is limited and does not suffice.
    """
    deadly: set[int] = set()
    work: Work[int, None] = _Read(meta, {name: str(each.resolve()) for name, each in files.items()})
    at = ends = 0
    with started(1, work, Limits()) as (process,):
        while at < count:
            end = process.run(range(at, min(at + _AT_ONCE, count)))
            if end.limit == ALL_MEMORY and address_space_left() is not None:
                raise MemoryError  # the document may be whole
            if end.outcomes is None:
                died = at if end.at is None else end.at
                ends = ends + 1 if died == at else 1
                at = min(died + (1 << max(0, ends - _PATIENCE)), count)
                deadly.update(range(died, at))
            else:
                at, ends = at + len(end.outcomes), 0
    return frozenset(deadly)


class _Read:
    """The work of the subprocess: read some documents."""

    def __init__(self, meta: bytes, files: Mapping[str, str]) -> None:
        self._meta, self._files = meta, files
        self._searcher: tantivy.Searcher | None = None

    def __call__(self, numbers: Sequence[int], begin: Begin) -> list[None]:
        begin(numbers[0])
        if self._searcher is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where tantivy says what it dies of
            self._searcher = open_linked(self._meta, {n: Path(p) for n, p in self._files.items()}, None).searcher()
        for each in numbers:
            begin(each)
            try:
                self._searcher.doc(tantivy.DocAddress(0, each))
            except BaseException as error:
                if not is_engine_error(error):
                    raise
        return [None] * len(numbers)
