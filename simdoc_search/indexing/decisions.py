"""What one run decides: what must be read, what is written, what is removed; and what it counts."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from simdoc_search.documents import Document, FileSource, Skipped
from simdoc_search.indexing.archives import Archives
from simdoc_search.indexing.gate import Gate
from simdoc_search.indexing.preparation import Job, Outcome, origin_of
from simdoc_search.indexing.pruning import gone_from
from simdoc_search.indexing.report import IndexReport
from simdoc_search.indexing.roots import NamedPlace, Places, absolute, file_of, is_as_it_was, is_gone, same_file
from simdoc_search.indexing.seen import Fate, Seen
from simdoc_search.indexing.skip_reasons import BROKEN_LINK, OTHER, kind_of
from simdoc_search.indexing.stream import Source, Stream
from simdoc_search.stores.base import Store, Writer
from simdoc_search.stores.record import Digest, Origin, Record
from simdoc_search.stores.sketching import lacking

_LOOKED_UP_AT_ONCE = 64  # not more than are prepared together, as these wait for the last of them

_log = logging.getLogger("simdoc_search.indexing.run")


class Run:
    """What one run knows: the state of the store before it, and what came by so far."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        checksum: bool,
        places: Places,
        archives: Archives,
        *,
        gate: Gate | None,
        written: Callable[[str], None],
    ) -> None:
        self.store = store
        self.writer = writer
        self.checksum = checksum
        self.archives = archives
        self.gate = gate
        self.written = written
        self.places = places
        self.seen: Seen = Seen()
        self.known: dict[str, Digest] = {}  # what was there before, of the documents that are being prepared
        self.report: IndexReport = IndexReport()
        self.removed: int = 0  # of ids that did not come by

    def jobs(self, stream: Stream, progress: Callable[[int], None]) -> Iterator[Job]:
        """What must be read; the rest is counted and done with."""
        for some in stream.batches(_LOOKED_UP_AT_ONCE, self._inside):
            new = {id for _, _, id in some if id is not None and id not in self.seen}
            known = {each.id: each for each in self.store.digests(sorted(new))}
            for source, place, id in some:
                if isinstance(source, Skipped):
                    self._skip(source, place, known.get(id or ""))
                elif (job := self._job(source, place, known.get(source.id))) is not None:
                    yield job
                    continue
                progress(1)

    def _inside(self, source: Source) -> Iterator[tuple[Source, NamedPlace | None, str | None]]:
        """A source, or all that is in it, located."""
        located = self._located(source)
        found, place, _ = located
        inside = None
        if isinstance(source, FileSource) and isinstance(found, FileSource) and place:
            inside = self.archives.of(found, named=source.root == absolute(source.path))
        for each in inside or ():
            if isinstance(each, Record):
                self._as_it_was(each, place)
            elif isinstance(each, Skipped):
                yield self._located(replace(each, root=place.path if place else None))
            else:
                yield each, place, each.id
        if inside is None:
            yield located

    def _as_it_was(self, record: Record, place: NamedPlace | None) -> None:
        """A document of an archive that has not changed."""
        if place and record.id not in self.seen:
            self.seen.add(record.id, place.number, record.digest)
            self.seen.stored(record.id, record.digest)
            self.archives.met(record.id, file_of(record.origin, record.id) if record.origin else "")
            place.met += 1

    def _located(self, source: Source) -> tuple[Source, NamedPlace | None, str | None]:
        """A source with the id and the root that it has in this store; its place; the id to look up."""
        if isinstance(source, Document):
            return source, None, source.id
        if isinstance(source, FileSource):
            place = self.places.of(source.root)
            place.files += 1
            source = place.adopted(source)
            return source, place, source.id
        kind, _ = kind_of(source.reason)
        root = source.root
        if root is None and kind.text_gone and os.path.isfile(source.path):  # noqa: PTH113 - a file that was named
            root = absolute(source.path)
        if root is None:
            return source, None, None
        place = self.places.of(root)
        if kind is OTHER or source.reason == BROKEN_LINK:
            place.unreadable[absolute(source.path)] = source.reason
        return source, place, place.id_of_skipped(source) if kind.text_gone else None

    def _skip(self, source: Skipped, place: NamedPlace | None, known: Digest | None) -> None:
        """List a source that gives no document; what the store has of a file that changed so is removed."""
        self._list(source)
        if place is None or known is None or known.origin is None or known.id in self.seen:
            return
        if same_file(file_of(known.origin, known.id), source.path):
            self.seen.add(known.id, place.number, known.digest)
            place.met += 1
            if not is_as_it_was(source.path, known.origin):
                self._remove(known.id)

    def _job(self, source: Document | FileSource, place: NamedPlace | None, known: Digest | None) -> Job | None:
        if source.id in self.seen:
            return self._again(source, place)
        origin = known.origin if known else None
        if isinstance(source, FileSource) and place and origin:
            if self._is_of_another_root(source, place, origin):
                return None
            place.met += origin.root == place.root
            self.archives.met(source.id, str(source.path))
        self.seen.add(source.id, place.number if place else 0, known.digest if known else None)
        if known is None:
            return Job(source, None)
        if not self.checksum and isinstance(source, FileSource) and _same(origin, origin_of(source)):
            self.seen.stored(source.id, known.digest)
            return None
        self.known[source.id] = known
        return Job(source, known.digest)

    def _again(self, source: Document | FileSource, place: NamedPlace | None) -> Job | None:
        """Of documents that are given with one id the last counts; of files of two roots the first."""
        earlier = self.places.numbered(self.seen.place(source.id))
        if place and earlier and isinstance(source, FileSource):
            theirs = Origin(earlier.root, 0, 0, earlier.prefix)
            if self._is_of_another_root(source, place, theirs):
                return None
            self.report.duplicates += 1
            return None  # the same file
        self.report.duplicates += 1
        return Job(source, None)  # the earlier one may be on its way to the store

    def _is_of_another_root(self, source: FileSource, place: NamedPlace, origin: Origin) -> bool:
        """Whether another file has this id already; then this one is left out, as nothing is overwritten unseen."""
        if (origin.root, origin.prefix) == (source.root, source.prefix):
            return False
        theirs = file_of(origin, source.id)
        if same_file(theirs, source.path):
            return False
        if is_gone(theirs):
            place.moved[origin.root] += 1
            return False
        place.taken[origin.root] += 1
        self._list(Skipped(str(source.path), f"a file of {origin.root} has this id"))
        return True

    def write(self, outcomes: list[Outcome]) -> None:
        """Put what changed into the store, and count."""
        if self.gate:
            outcomes = self.gate.passed(outcomes, self.seen.is_stored)
        for id, outcome in outcomes:
            known = self.known.pop(id, None)
            if isinstance(outcome, Record):
                self.writer.put([outcome])
                self.written(id)
                self.report.note_lacking(id, lacking(self.store.settings, outcome))
                self.seen.stored(id, outcome.digest)
                _log.debug("stored %s", id)
            elif isinstance(outcome, Skipped):
                self._list(outcome)
                if kind_of(outcome.reason)[0].text_gone and self.seen.is_stored(id):
                    self._remove(id)
            elif known is not None:
                self.seen.stored(id, known.digest)
                self._keep(known, outcome.origin)

    def commit(self) -> None:
        """Show all that was written."""
        self.writer.commit()
        if self.gate:
            self.gate.committed()

    def _list(self, skipped: Skipped) -> None:
        self.report.skipped.append(skipped)
        self.archives.skipped(skipped)
        _log.debug("skipped %s: %s", skipped.path, skipped.reason)

    def _remove(self, id: str) -> None:
        self.writer.delete([id])
        if self.gate:
            self.gate.removed([id])
        self.seen.removed(id)
        _log.debug("removed %s", id)

    def _keep(self, known: Digest, origin: Origin | None) -> None:
        """Remember the new size and time of a file whose text is the stored one."""
        if not _same(known.origin, origin):
            record = self.store.get(known.id, text=True, passages=True, sketches=True)
            if record is not None:
                self.writer.put([replace(record, origin=origin)])

    def tidy(self, *, prune: bool | None, all_may_go: bool) -> None:
        """Remove the documents whose files have other ids now, and those whose files are gone if that is asked for."""
        if prune or len(self.places) > 1:
            self.writer.commit()  # one may have the files of another one; and whatever fails here, they are stored
        for place in self.places:
            for record in place.others(self.store, renamed=self.places.prefix is not None):
                self._remove_other(place, record)
            if prune is False:
                self._note_missing(place)
            elif prune and not self.places.is_part_of_another(place):
                found = gone_from(self.store, place, self.seen, self.archives, all_may_go=all_may_go)
                self.writer.delete(found.ids)
                _log.info("%s: %d documents pruned", place.path, len(found.ids))
                self.removed += len(found.ids)
                self.report.problems += found.kept
        self.archives.note(self.writer, self.seen)

    def _remove_other(self, place: NamedPlace, record: Record) -> None:
        """Remove a document of this place's folder if its file gave another one, with another id."""
        id = place.id_of(file_of(record.origin, record.id)) if record.origin else record.id
        if id == record.id or id not in self.seen or not self.seen.is_stored(id):
            return
        self.writer.delete([record.id])
        if record.id in self.seen:
            self.seen.removed(record.id)
        else:
            self.removed += 1
        place.renamed += 1
        place.met += record.origin is not None and record.origin.root == place.root

    def _note_missing(self, place: NamedPlace) -> None:
        missing = place.stored - place.met
        if missing > 0 and place.root == place.path and not place.unreadable:
            said = "1 file was" if missing == 1 else f"{missing:,} files were"
            self.report.notes.append(f"{said} not found in {place.path} again; --prune removes what is gone")

    def finish(self, failed: Mapping[str, str]) -> IndexReport:
        """The report: each id is counted once, now that its last document is known."""
        report, seen = self.report, self.seen
        for id in failed:
            if id in seen:
                seen.refused(id)
            else:
                self.removed -= 1
        report.refused = dict(failed)
        report.indexed, report.unchanged = seen.count(Fate.INDEXED), seen.count(Fate.UNCHANGED)
        report.replaced, report.deleted = seen.count(Fate.REPLACED), seen.count(Fate.DELETED) + self.removed
        for place in self.places:
            report.problems += place.conflicts()
            report.notes += place.changes()
        return report


def _same(origin: Origin | None, other: Origin | None) -> bool:
    """Whether a file is the same one, whatever was noted of its archive."""
    return other == (origin and replace(origin, archive=""))
