"""Saving the readable documents of a damaged store into a new one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from simdoc_search.durable import finished_folder
from simdoc_search.errors import StoreError
from simdoc_search.stores.local.errors import engine_errors
from simdoc_search.stores.local.folder import make_store
from simdoc_search.stores.local.integrity import Damage, Progress
from simdoc_search.stores.local.salvage import GONE, OpenCommit, OpenSegment, has_documents, open_commit
from simdoc_search.stores.local.schema import to_record
from simdoc_search.stores.local.segments import META_FILE
from simdoc_search.stores.local.settings_file import INDEX_FOLDER, Identity, require_checksums, surviving_identity
from simdoc_search.stores.local.store import LocalStore
from simdoc_search.stores.record import Record

REPORT_EVERY = 100


@dataclass(frozen=True, slots=True)
class Repaired:
    """The result of a repair.

    Attributes:
        documents: number of documents in the new store.
        lost: unreadable documents, by id, or by number and file if not even the id can be read.
        doubts: what else is uncertain.
    """

    documents: int
    lost: list[str]
    doubts: list[Damage]


def repair_store(folder: Path, target: Path, progress: Progress | None = None) -> Repaired:
    """Put all readable documents of a store into a new store with the same settings.

    The damaged store is not changed. The new one gets its name when it is complete.

    Args:
        folder: folder of the damaged store.
        target: folder of the new store; new or empty.
        progress: called with the number of finished documents and of all.

    Raises:
        StoreError: neither copy of the settings can be read, the list of segments is damaged, a file of documents is
            gone, or the target is not empty.
    """
    identity = surviving_identity(folder)
    if identity is None:
        raise StoreError(f"no settings of a store can be read in {folder}; restore its simdoc.json from a backup")
    require_checksums(folder)
    with engine_errors("read", str(folder)):
        opened = open_commit(folder / INDEX_FOLDER)
        if not _is_right(opened):
            raise StoreError(
                f"{folder / INDEX_FOLDER / META_FILE} is damaged, or files of documents are gone; restore the store "
                "from a backup, or index again"
            )
    doubts = [_resurrected(each) for each in opened.segments if not each.deletions_known]
    with engine_errors("write to", str(target)), finished_folder(target) as working:
        make_store(working, Identity.new(identity.settings, identity.store_texts))
        with closing(LocalStore(str(target), working, identity.settings, identity.store_texts)) as new:
            lost: list[str] = []
            with new.writer() as writer:
                writer.put(_records(opened, identity, lost, progress or (lambda _done, _all: None)))
            kept = {each.id for each in new.records(lost)}  # a version of it was in another segment
            documents = new.info().documents
    return Repaired(documents, [each for each in dict.fromkeys(lost) if each not in kept], doubts)


def _records(opened: OpenCommit, identity: Identity, lost: list[str], progress: Progress) -> Iterator[Record]:
    """Yield all readable documents that are not deleted; add the others to `lost`.

    Where deletions are unknown, later documents replace earlier ones. Those segments therefore come first, the oldest
    before all.
    """
    segments = sorted(opened.segments, key=lambda each: (each.deletions_known, each.written))
    done, total = 0, sum(int(each.alive.sum()) for each in segments)
    for segment in segments:
        damaged = []
        for number, document in segment.documents():
            if not segment.alive[number]:
                continue
            if document is None:
                damaged.append(number)
            else:
                yield to_record(document, identity.settings.token_length, text=True, passages=True, sketches=True)
            done += 1
            if done % REPORT_EVERY == 0 or done == total:
                progress(done, total)
        ids = segment.ids_of(damaged)
        lost += (ids.get(number, f"document {number} of {segment.segment.name}") for number in damaged)


def _is_right(opened: OpenCommit) -> bool:
    """Whether the list of segments names existing files with as many documents as they have."""
    for each in opened.segments:
        store = f"{each.segment.name}.store"
        if opened.faults.get(store) == GONE:
            return False
        if store not in opened.faults and each.stored and not has_documents(each.stored, each.segment.documents):
            return False
    return True


def _resurrected(segment: OpenSegment) -> Damage:
    deletions = segment.segment.deletions or segment.segment.name
    return Damage(f"{INDEX_FOLDER}/{deletions}", "it cannot be read which documents were deleted, so they may be back")
