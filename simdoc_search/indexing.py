"""Documents into a store: read and fingerprinted by worker processes, written by this one.

Indexing again is incremental. A file whose size and time of change are those of the last run is not read; a document
whose digest is the stored one is not written. The results do not depend on the number of workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from simdoc_search.corpus.document import Document, FileSource, Skipped
from simdoc_search.preparing import NO_WORDS, Job, Outcome, name_of, origin_of, prepared
from simdoc_search.stores.base import Digest, Origin, Record, Store, Writer

__all__ = ["FILE_TIMEOUT", "IndexReport", "Source", "index_documents"]

Source = Document | FileSource | Skipped

FILE_TIMEOUT = 120.0

_COMMIT_SECONDS = 20.0
_LOOKED_UP_AT_ONCE = 64  # not more than are prepared together, as these wait for the last of them


@dataclass(slots=True)
class IndexReport:
    """What one run did.

    Attributes:
        indexed: documents that are new in the store.
        unchanged: documents that were there already.
        replaced: documents whose text or metadata changed.
        deleted: documents removed because their file has vanished (`prune`) or has no words any more.
        duplicates: documents whose id came more than once in this run; the last one counts.
        skipped: what gave no document, and why.
        seconds: how long it took.
    """

    indexed: int = 0
    unchanged: int = 0
    replaced: int = 0
    deleted: int = 0
    duplicates: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    seconds: float = 0.0


def index_documents(
    store: Store,
    sources: Iterable[Source],
    *,
    workers: int = 1,
    checksum: bool = False,
    prune: bool = False,
    file_timeout: float = FILE_TIMEOUT,
    progress: Callable[[int], None] = lambda _: None,
) -> IndexReport:
    """Bring a store up to date with documents; see `SimilaritySearch.index`."""
    began = time.monotonic()
    with store.writer() as writer:
        run = _Run(store, checksum)  # now that nobody else writes
        committed = began
        try:
            with closing(prepared(run.jobs(sources, progress), store.settings, workers, file_timeout)) as chunks:
                for outcomes in chunks:
                    run.write(writer, outcomes)
                    progress(len(outcomes))
                    if time.monotonic() - committed > _COMMIT_SECONDS:
                        writer.commit()
                        committed = time.monotonic()
            if prune:
                run.prune(writer)
        except KeyboardInterrupt:
            writer.commit()  # what is ready is kept; the next run does the rest
            raise
        writer.commit()
        run.note_failed(writer.failed)
    report = run.finish()
    report.seconds = time.monotonic() - began
    return report


class _Run:
    """What one run knows: the state of the store before it, and what came by so far."""

    def __init__(self, store: Store, checksum: bool) -> None:
        self.store = store
        self.checksum = checksum
        self.known: dict[str, Digest] = {}  # what was there before, of the ids that came by
        self.seen: dict[str, str] = {}  # id -> where it came from last
        self.stored: dict[str, str | None] = {}  # id -> digest of its last document; None: removed
        self.roots: set[str] = set()
        self.report = IndexReport()

    def jobs(self, sources: Iterable[Source], progress: Callable[[int], None]) -> Iterator[Job]:
        """What must be read; the rest is counted and done with."""
        for some in _batches(sources):
            new = {each.id for each in some if not isinstance(each, Skipped)} - self.seen.keys()
            self.known |= {each.id: each for each in self.store.digests(sorted(new))}
            for source in some:
                if isinstance(source, Skipped):
                    self.report.skipped.append(source)
                    self.roots.update([source.root] if source.root else [])
                elif isinstance(job := self._job(source), Job):
                    yield job
                    continue
                progress(1)

    def _job(self, source: Document | FileSource) -> Job | None:
        if isinstance(source, FileSource):
            self.roots.add(source.root)
        again = source.id in self.seen
        if again:
            self._count_duplicate(source)
        self.seen[source.id] = name_of(source)
        known = None if again else self.known.get(source.id)  # an earlier one may be on its way to the store
        if known is None:
            return Job(source, None)
        if not self.checksum and isinstance(source, FileSource) and known.origin == origin_of(source):
            self.stored[source.id] = known.digest
            return None
        return Job(source, known.digest)

    def write(self, writer: Writer, outcomes: list[Outcome]) -> None:
        """Put what changed into the store, and count."""
        for id, outcome in outcomes:
            if isinstance(outcome, Record):
                writer.put([outcome])
                self.stored[id] = outcome.digest
            elif isinstance(outcome, Skipped):
                self.report.skipped.append(outcome)
                if outcome.reason == NO_WORDS and (id in self.known or id in self.stored):
                    writer.delete([id])
                    self.stored[id] = None
            else:
                self.stored[id] = self.known[id].digest
                self._keep(writer, id, outcome.origin)

    def _count_duplicate(self, source: Document | FileSource) -> None:
        """The earlier one of two documents with one id is lost; for a file that is worth a line."""
        self.report.duplicates += 1
        if isinstance(source, FileSource):
            self.report.skipped.append(Skipped(self.seen[source.id], f"same id as {source.path}, which counts"))

    def note_failed(self, failed: Mapping[str, str]) -> None:
        """What the store refused is no document of it; one that it replaced stays."""
        for id, reason in failed.items():
            self.stored.pop(id, None)
            self.report.skipped.append(Skipped(self.seen.get(id, id), f"refused by the store: {reason}"))

    def finish(self) -> IndexReport:
        """Count each id once, now that its last document is known."""
        for id, digest in self.stored.items():
            before = self.known[id].digest if id in self.known else None
            self.report.unchanged += digest is not None and digest == before
            self.report.indexed += digest is not None and before is None
            self.report.replaced += digest is not None and before is not None and digest != before
            self.report.deleted += digest is None and before is not None
        return self.report

    def _keep(self, writer: Writer, id: str, origin: Origin | None) -> None:
        """Remember the new size and time of a file whose text is the stored one."""
        if origin != self.known[id].origin:
            record = self.store.get(id, text=True)
            if record is not None:
                writer.put([replace(record, origin=origin)])

    def prune(self, writer: Writer) -> None:
        """Remove the documents whose file was in one of the folders of this run and is there no more."""
        gone = [
            record.id
            for record in self.store.scan()
            if (origin := record.origin)
            and origin.root in self.roots
            and record.id not in self.seen
            and not _exists(origin.root, record.id)
        ]
        writer.delete(gone)
        self.report.deleted += len(gone)


def _batches(sources: Iterable[Source]) -> Iterator[list[Source]]:
    some: list[Source] = []
    try:
        for source in sources:
            some.append(source)
            if len(some) == _LOOKED_UP_AT_ONCE:
                yield some
                some = []
    except Exception:
        yield some  # what came before a stream broke is indexed
        raise
    yield some


def _exists(root: str, id: str) -> bool:
    try:
        return (Path(root) / id).exists() or Path(root).is_file()
    except OSError:
        return True  # closed to us is not vanished
