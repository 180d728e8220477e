"""Reads a commit segment by segment, whatever has become of some of its files.

A segment whose inverted index is damaged has its documents all the same: they stand in a file of their own. To read
it, the damaged files are replaced by those of an index that is made for the purpose; and likewise for reading which
ids the inverted index has, if the documents are damaged.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np
import tantivy
from numpy.typing import NDArray

from simdoc_search.errors import StoreError
from simdoc_search.stores.local.crash_probe import deadly_documents
from simdoc_search.stores.local.errors import is_engine_error
from simdoc_search.stores.local.open_index import open_linked, pinned, scratch_folder
from simdoc_search.stores.local.queries import term
from simdoc_search.stores.local.schema import build_schema, document_at
from simdoc_search.stores.local.segments import (
    META_FILE,
    PARTS,
    Commit,
    Segment,
    fault_of,
    read_alive,
)
from simdoc_search.stores.local.writer import SMALLEST_HEAP, require_address_space

GONE = "it is gone"


@dataclass(frozen=True, slots=True)
class OpenSegment:
    """A segment that is open, so that no later commit takes it away.

    Attributes:
        segment: which one.
        written: when its documents were, in nanoseconds; 0 if their file is gone.
        alive: for each document whether it is not deleted; all are if that cannot be read.
        deletions_known: whether that could be read.
        whole: finds all its documents, deleted ones too; None if one of its files is damaged.
        stored: reads its documents; None if not even that can be done.
        indexed: finds its documents, but cannot read them; None if not even that can be done.
        deadly: the numbers of documents so damaged that reading them would end this process.
    """

    segment: Segment
    written: int
    alive: NDArray[np.bool_]
    deletions_known: bool
    whole: tantivy.Searcher | None
    stored: tantivy.Searcher | None
    indexed: tantivy.Searcher | None
    deadly: frozenset[int] = frozenset()

    def documents(self) -> Iterator[tuple[int, tantivy.Document | None]]:
        """Its documents, deleted ones too, by number; None for one that is damaged."""
        for number in range(len(self.alive)):
            yield number, self._document(number)

    def ids_of(self, numbers: Collection[int]) -> dict[int, str]:
        """The ids of some documents, as far as the inverted index tells."""
        found: dict[int, str] = {}
        if self.indexed is None or not numbers:
            return found
        wanted, schema = set(numbers), build_schema(())  # in which the id is the same field
        with _Faults():
            for id, count in self.indexed.terms_with_prefix("id", ""):
                hits = self.indexed.search(term(schema, "id", id), limit=count, count=False).hits
                found |= {address.doc: id for _, address in hits if address.doc in wanted}
        return found

    def _document(self, number: int) -> tantivy.Document | None:
        if self.stored and number not in self.deadly:
            with _Faults():
                return document_at(self.stored, tantivy.DocAddress(0, number))
        return None


@dataclass(frozen=True, slots=True)
class OpenCommit:
    """A commit that is open.

    Attributes:
        faults: the files that are damaged, with what is wrong.
        segments: its segments, also those with damaged files.
        whole: all of it, as queries see it; None if a file is damaged.
    """

    faults: Mapping[str, str]
    segments: list[OpenSegment]
    whole: tantivy.Searcher | None


def open_commit(index: Path) -> OpenCommit:
    """Verify all files of the last commit, and open it as far as it can be opened.

    Raises:
        StoreError: `meta.json` is damaged or gone, or a file cannot be read at all, see `check_files`.
    """
    with pinned(index) as (commit, files):
        return _open(commit, files)


def has_documents(stored: tantivy.Searcher, count: int) -> bool:
    """Whether a segment has just so many documents, deleted ones too."""
    return (count == 0 or _has(stored, count - 1)) and not _has(stored, count)


def _open(commit: Commit, files: Mapping[str, Path]) -> OpenCommit:
    found = {name: fault_of(files[name]) if name in files else GONE for name in commit.files}
    faults = {name: fault for name, fault in found.items() if fault}
    kinds = _kinds_in(commit.meta)
    with _spare_index(kinds) as spare:
        segments = [_open_segment(each, files, faults, spare) for each in commit.segments]
    whole = None
    if not faults:
        with _Faults(faults, META_FILE):
            schema = build_schema(kinds)
            whole = open_linked(commit.meta, {name: files[name] for name in commit.files}, schema).searcher()
    return OpenCommit(faults, segments, whole)


def _open_segment(segment: Segment, files: Mapping[str, Path], faults: dict[str, str], spare: Path) -> OpenSegment:
    damaged = {part for part in PARTS if f"{segment.name}.{part}" in faults}
    alive = np.ones(segment.documents, np.bool_)
    if segment.deletions and segment.deletions not in faults:
        with _Faults(faults, segment.deletions):
            alive = read_alive(files[segment.deletions], segment.documents)
    whole = stored = indexed = None
    deadly: frozenset[int] = frozenset()
    if not damaged:
        with _Faults(faults, f"{segment.name}.store"):
            whole = stored = indexed = _searcher(segment, files, set(), spare)
    if stored is None:
        with _Faults():
            only_stored = _parts(segment, files, set(PARTS) - {"store"}, spare)
            if "store" in damaged:
                deadly = deadly_documents(*only_stored, segment.documents)
            if len(deadly) < segment.documents:
                stored = open_linked(*only_stored, None).searcher()
    if damaged == {"store"}:
        with _Faults():
            indexed = _searcher(segment, files, damaged, spare)
    documents = files.get(f"{segment.name}.store")
    written = documents.stat().st_mtime_ns if documents else 0
    return OpenSegment(segment, written, alive, segment.deletions not in faults, whole, stored, indexed, deadly)


def _searcher(segment: Segment, files: Mapping[str, Path], replaced: set[str], spare: Path) -> tantivy.Searcher:
    """A segment with some of its files replaced."""
    return open_linked(*_parts(segment, files, replaced, spare), None).searcher()


def _parts(
    segment: Segment, files: Mapping[str, Path], replaced: set[str], spare: Path
) -> tuple[bytes, dict[str, Path]]:
    """The list of segments and the files by name of one segment, some of them replaced."""
    own = {name: files[name] for part in PARTS if (name := f"{segment.name}.{part}") in files}
    own |= {f"{segment.name}.{part}": next(spare.glob(f"*.{part}")) for part in replaced}
    return _meta_of(spare, [segment]), own


def _has(searcher: tantivy.Searcher, number: int) -> bool:
    try:
        searcher.doc(tantivy.DocAddress(0, number))
    except BaseException as error:
        if not is_engine_error(error):
            raise
        return "Failed to lookup" not in str(error)
    return True


@contextmanager
def _spare_index(kinds: Collection[str]) -> Iterator[Path]:
    """An index with one empty document, whose files take the place of damaged ones."""
    with scratch_folder() as folder:
        require_address_space(4 * SMALLEST_HEAP)
        writer = tantivy.Index(build_schema(kinds), str(folder)).writer(SMALLEST_HEAP, 1)
        writer.add_document(tantivy.Document())
        writer.commit()
        writer.wait_merging_threads()
        yield folder


class _Faults:
    """What a damaged file makes tantivy say ends the block, and is noted as a fault of that file."""

    def __init__(self, faults: dict[str, str] | None = None, name: str = "") -> None:
        self._faults = {} if faults is None else faults
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if error is None or not (isinstance(error, StoreError) or is_engine_error(error)):
            return False
        self._faults[self._name] = f"it cannot be read ({error})"
        return True


def _meta_of(spare: Path, segments: Sequence[Segment]) -> bytes:
    """A `meta.json` of these segments with all their documents, deleted ones too."""
    entries = [{"segment_id": str(UUID(each.name)), "max_doc": each.documents, "deletes": None} for each in segments]
    return json.dumps({**json.loads((spare / META_FILE).read_bytes()), "segments": entries}).encode()


def _kinds_in(meta: bytes) -> set[str]:
    """The names of an index's fields, as its `meta.json` says; what tantivy cannot read will be told by it."""
    with suppress(ValueError, LookupError, TypeError):
        return {each["name"] for each in json.loads(meta)["schema"]}
    return set()
