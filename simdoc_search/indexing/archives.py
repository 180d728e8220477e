"""Reads the members of archives and mailboxes, and the attachments of e-mails. Each of them is a document.

An archive is not read again if it has not changed since all of its members were stored. After all members were written,
a run stores the size and modification time of the archive in the record of one of its members. If a run is interrupted
before that, the next run reads the archive again, and indexes only the members whose bytes differ.

The attachments of an e-mail are written before the e-mail. They are read again if the e-mail has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from simdoc_search.corpus.attachments import find_attachments
from simdoc_search.corpus.file_reader import open_source
from simdoc_search.corpus.file_source import FileSource
from simdoc_search.corpus.formats import determine_format
from simdoc_search.corpus.member_names import find_archive
from simdoc_search.corpus.members import Member, read_members
from simdoc_search.documents import SkippedFile
from simdoc_search.errors import DocumentError
from simdoc_search.indexing.input_paths import absolute_path
from simdoc_search.indexing.seen_ids import SeenIds
from simdoc_search.indexing.skip_reasons import classify_reason
from simdoc_search.stores.base import Store, Writer
from simdoc_search.stores.record import ALL_PARTS, ATTACHMENTS_MARKER, Origin, Record
from simdoc_search.workers import ItemLimits, iterate_in_subprocess


@dataclass(slots=True)
class _Archive:
    """An archive, or an e-mail with attachments, that the run has opened."""

    id: str  # id of the archive, and prefix of the ids of its members
    state: str  # size and modification time of the archive; empty for an e-mail
    stored_count: int = 0  # number of members that the store had before the run
    found_count: int = 0  # number of these members that the run found again
    state_member_id: str = ""  # id of the member whose record contains the archive's state
    is_complete: bool = True  # whether all readable members were read


class Archives:
    """The archives of a run.

    If `look_inside` is False, an archive is read only if the user named it, or if the store contains members of it.
    With `reread`, archives that have not changed are read too. `limits` are those of the subprocess that reads an
    archive.
    """

    def __init__(self, store: Store, *, look_inside: bool, reread: bool, limits: ItemLimits) -> None:
        self._store, self._look_inside, self._reread, self._limits = store, look_inside, reread, limits
        self._by_path: dict[str, _Archive] = {}

    def open_members(
        self, source: FileSource, *, is_named_by_user: bool
    ) -> Iterator[FileSource | SkippedFile | Record] | None:
        """Return the members of an archive, or its stored records if the archive is unchanged.

        Returns None if the file is not an archive, or if the run does not read it; see `look_inside`.
        `is_named_by_user` says whether the user named this file, not a folder that contains it.
        """
        if source.format.kind != "archive" or source.data is not None:
            return None
        archive = _Archive(source.id, f"{source.size} {source.mtime_ns}")
        is_unchanged = False
        # There may be thousands of archives, and this query is faster than reading the stored members.
        has_members = self._store.ids_with_prefix(f"{source.id}!", 1)
        for record in self._stored_members(source.id, source.root) if has_members else ():
            archive.stored_count += 1
            if record.origin and record.origin.archive_state:
                archive.state_member_id = record.id
                is_unchanged = is_unchanged or record.origin.archive_state == archive.state
        if not (self._look_inside or archive.stored_count or is_named_by_user):
            return None
        self._by_path[absolute_path(source.path)] = archive
        if is_unchanged and not self._reread:
            return self._stored_members(source.id, source.root)
        return self._read_members(source, archive)

    @staticmethod
    def may_have_attachments(source: FileSource) -> bool:
        """Return whether a file is an e-mail on disk, in a format whose attachments can be read."""
        return source.format.has_attachments and source.data is None

    def open_attachments(self, mail: FileSource) -> Iterator[FileSource | SkippedFile]:
        """Return the attachments of an e-mail on disk. They are read in a subprocess if one of them is an archive."""
        archive = _Archive(mail.id, "")
        self._by_path[absolute_path(mail.path)] = archive
        try:
            with open_source(mail) as file:
                data = file.read((mail.max_bytes or mail.size) + 1)
            if mail.max_bytes is not None and len(data) > mail.max_bytes:
                return
            kinds = {determine_format(attachment.name).kind for attachment in find_attachments(data)}
        except OSError:  # reading the e-mail itself reports the same error
            return
        except ValueError as error:
            yield SkippedFile(f"{mail.path}!attachments", f"damaged: {error}")
            return
        if "archive" in kinds:
            yield from self._read_members(mail, archive)
        elif kinds:
            for batch in read_members(replace(mail, data=data)):
                for member in batch:
                    yield self._make_source(member, mail, archive)

    def stored_attachments(self, mail: FileSource, origin: Origin | None) -> Iterator[Record]:
        """Return the stored attachments of an unchanged e-mail."""
        if origin and origin.archive_state == ATTACHMENTS_MARKER and mail.data is None:
            yield from self._stored_members(mail.id, mail.root)

    def note_found(self, id: str, path: str) -> None:
        """Record that the run found a stored member again."""
        if archive := self._find_archive(path):
            archive.found_count += id.startswith(f"{archive.id}!")

    def note_skipped(self, skipped: SkippedFile) -> None:
        """Record a skipped file. If a later run may be able to read it, its archive is not complete.

        For example, a member over the size limit becomes readable if the limit is raised.
        """
        kind = classify_reason(skipped.reason)[0]
        is_final = kind.is_expected or (kind.is_text_outdated and not kind.advice)
        if not is_final and (archive := self._find_archive(skipped.path)):
            archive.is_complete = False

    def is_complete(self, path: str) -> bool:
        """Return whether an archive is unchanged or was read completely, so that all of its members were found."""
        return path in self._by_path and self._by_path[path].is_complete

    @property
    def are_complete(self) -> bool:
        """Whether all archives that the run opened are unchanged or were read completely."""
        return all(archive.is_complete for archive in self._by_path.values())

    def mark_complete(self, writer: Writer, seen: SeenIds) -> None:
        """Store the states of the archives whose members are all stored. Call this after all members were written."""
        complete = [
            archive
            for archive in self._by_path.values()
            if archive.state and archive.is_complete and archive.found_count == archive.stored_count
        ]
        if complete:
            writer.commit()
        for archive in complete:
            record = self._record_for_state(archive, seen)
            if record and record.origin and record.origin.archive_state != archive.state:
                writer.put([replace(record, origin=replace(record.origin, archive_state=archive.state))])

    def _record_for_state(self, archive: _Archive, seen: SeenIds) -> Record | None:
        ids = [archive.state_member_id] if archive.state_member_id else []
        members = (record.id for record in self._stored_members(archive.id, None))
        for id in (*ids, *members):
            if id in seen and seen.is_stored(id):
                return self._store.get(id, load=ALL_PARTS)
        return None

    def _stored_members(self, id: str, root: str | None) -> Iterator[Record]:
        for record in self._store.scan(filters=[{"path": f"{id}!"}]):
            if record.origin and record.origin.content_hash and root in (None, record.origin.root):
                yield record

    def _find_archive(self, path: str) -> _Archive | None:
        archive = find_archive(absolute_path(path)) if self._by_path else None
        return self._by_path.get(archive) if archive else None

    def _read_members(self, source: FileSource, archive: _Archive) -> Iterator[FileSource | SkippedFile]:
        try:
            for batch in iterate_in_subprocess(read_members, source, limits=self._limits, batch_size=1):
                for member in batch:
                    yield self._make_source(member, source, archive)
        except DocumentError as error:
            yield self._make_source(Member("", reason=str(error)), source, archive)

    def _make_source(self, member: Member, source: FileSource, archive: _Archive) -> FileSource | SkippedFile:
        path = f"{source.path}!{member.name}" if member.name else source.path
        if member.reason:
            archive.is_complete = archive.is_complete and bool(member.name)
            return SkippedFile(path, member.reason)
        return replace(
            source,
            id=f"{source.id}!{member.name}",
            path=path,
            size=len(member.data),
            mtime_ns=member.mtime_ns or source.mtime_ns,
            data=member.data,
            format=determine_format(path),
        )
