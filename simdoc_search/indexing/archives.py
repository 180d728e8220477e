"""Archives and mailboxes, whose members are documents: which are looked into, and which were read whole before?

An archive that has not changed since all of it was stored is not read. That is noted at one of its documents, after
all were written: a run that broke off before leaves no such note, and the next one reads the archive again. Then only
members whose bytes differ are made into documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from simdoc_search.corpus.member_names import archive_of, is_archive
from simdoc_search.corpus.members import Member, members
from simdoc_search.documents import FileSource, Skipped
from simdoc_search.errors import DocumentError
from simdoc_search.indexing.roots import absolute
from simdoc_search.indexing.seen import Seen
from simdoc_search.indexing.skip_reasons import kind_of
from simdoc_search.stores.base import Store, Writer
from simdoc_search.stores.record import Record
from simdoc_search.workers import ItemLimits, iterate_in_subprocess


@dataclass(slots=True)
class _Archive:
    """An archive that is read in this run.

    Attributes:
        id: what the ids of its members begin with, without the `!`.
        state: its size and time of change.
        stored: how many documents of it the store had.
        met: how many of these came by.
        noted: the document that has the note of an earlier run.
        whole: whether it was read to its end, and nothing of it could be read another time.
    """

    id: str
    state: str
    stored: int = 0
    met: int = 0
    noted: str = ""
    whole: bool = True


class Archives:
    """The archives of a run.

    Args:
        store: says which members it has.
        asked: whether archives are looked into; one that was before, or that is named by itself, is in any case.
        again: read them also if they did not change.
        limits: what the process may cost that reads one, for some members.
    """

    def __init__(self, store: Store, *, asked: bool, again: bool, limits: ItemLimits) -> None:
        self._store, self._asked, self._again, self._limits = store, asked, again, limits
        self._read: dict[str, _Archive] = {}  # by path

    def of(self, source: FileSource, *, named: bool) -> Iterator[FileSource | Skipped | Record] | None:
        """What is in a file: members to be read, and documents that are there as they were; None: it stays closed.

        Args:
            source: the file, with the id and the root that it has in the store.
            named: whether it was named by itself.
        """
        if source.data is not None or not is_archive(source.path.name):
            return None
        state = f"{source.size} {source.mtime_ns}"
        archive = _Archive(source.id, state)
        is_done = False
        has_some = self._store.beginning(f"{source.id}!", 1)  # one question, as there may be thousands of archives
        for record in self._members_of(source.id, source.root) if has_some else ():
            archive.stored += 1
            if record.origin and record.origin.archive:
                archive.noted = record.id
                is_done = is_done or record.origin.archive == state
        if not (self._asked or archive.stored or named):
            return None
        self._read[absolute(source.path)] = archive
        if is_done and not self._again:
            return self._members_of(source.id, source.root)
        return self._opened(source, archive)

    def met(self, id: str, path: str) -> None:
        """Be told that a member came by of which the store has a document."""
        if archive := self._around(path):
            archive.met += id.startswith(f"{archive.id}!")

    def skipped(self, skipped: Skipped) -> None:
        """Be told what of all gave no document."""
        kind = kind_of(skipped.reason)[0]
        if (archive := self._around(skipped.path)) and not (kind.expected or (kind.text_gone and not kind.advice)):
            archive.whole = False

    def was_read(self, path: str) -> bool:
        """Whether an archive was read to its end in this run, or is as it was: what did not come by is gone."""
        return path in self._read and self._read[path].whole

    def note(self, writer: Writer, seen: Seen) -> None:
        """Note which of them are stored whole, now that all was written."""
        done = [each for each in self._read.values() if each.whole and each.met == each.stored]
        if done:
            writer.commit()
        for each in done:
            record = self._to_note(each, seen)
            if record and record.origin and record.origin.archive != each.state:
                writer.put([replace(record, origin=replace(record.origin, archive=each.state))])

    def _to_note(self, archive: _Archive, seen: Seen) -> Record | None:
        """The document that gets the note: the one that has it already, if it is there still."""
        id = archive.noted
        if not id or id not in seen or not seen.is_stored(id):
            some = (each.id for each in self._members_of(archive.id, None))
            id = next((each for each in some if each in seen and seen.is_stored(each)), "")
        return self._store.get(id, text=True, passages=True, sketches=True) if id else None

    def _members_of(self, id: str, root: str | None) -> Iterator[Record]:
        """The documents that the store has of an archive's members."""
        for record in self._store.scan(filters=[{"path": f"{id}!"}]):
            if record.origin and record.origin.content and root in (None, record.origin.root):
                yield record

    def _around(self, path: str) -> _Archive | None:
        found = archive_of(absolute(path)) if self._read else None
        return self._read.get(found) if found else None

    def _opened(self, source: FileSource, archive: _Archive) -> Iterator[FileSource | Skipped]:
        try:
            for some in iterate_in_subprocess(members, source, limits=self._limits, at_once=1):
                for member in some:
                    yield self._member(source, archive, member)
        except DocumentError as error:
            yield self._member(source, archive, Member("", reason=str(error)))

    def _member(self, source: FileSource, archive: _Archive, member: Member) -> FileSource | Skipped:
        path = f"{source.path}!{member.name}" if member.name else str(source.path)
        if member.reason:
            archive.whole = archive.whole and bool(member.name)
            return Skipped(path, member.reason)
        return replace(
            source,
            id=f"{source.id}!{member.name}",
            path=type(source.path)(path),
            size=len(member.data),
            mtime_ns=member.mtime_ns or source.mtime_ns,
            data=member.data,
        )
