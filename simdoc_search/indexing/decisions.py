"""Decides which documents an indexing run reads, writes and removes, and counts them."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from simdoc_search.corpus.file_source import FileSource, Source
from simdoc_search.documents import Document, SkippedFile
from simdoc_search.indexing.archives import Archives
from simdoc_search.indexing.document_filter import DocumentFilter
from simdoc_search.indexing.input_paths import (
    InputPath,
    InputPaths,
    absolute_path,
    is_missing,
    is_same_file,
    is_unchanged,
)
from simdoc_search.indexing.jobs import Job, has_same_origin, make_origin
from simdoc_search.indexing.located_source import LocatedSource, take_batch
from simdoc_search.indexing.moved_files import MovedFiles
from simdoc_search.indexing.preparation import Outcome, PreparedDocument
from simdoc_search.indexing.pruning import find_unseen_documents, find_vanished_documents, make_unseen_notes
from simdoc_search.indexing.report import IndexReport
from simdoc_search.indexing.seen_ids import IdStatus, SeenIds
from simdoc_search.indexing.skip_reasons import BROKEN_LINK_REASON, OTHER_KIND, classify_reason
from simdoc_search.indexing.skipped_files import remember_skipped_files
from simdoc_search.stores.base import Store, Writer
from simdoc_search.stores.record import ALL_PARTS, Digest, Origin, Record

_log = logging.getLogger("simdoc_search.indexing.run")


@dataclass
class IndexingRun:
    """Decides what one run reads, writes and removes. Remembers the documents that the run has found so far."""

    _store: Store
    _writer: Writer
    _paths: InputPaths
    _archives: Archives
    _document_filter: DocumentFilter | None
    _reads_all: bool  # whether to read files whose size and modification time are unchanged
    _on_written: Callable[[str], None]
    _seen: SeenIds = field(default_factory=SeenIds)
    _stored_digests: dict[str, Digest] = field(default_factory=dict)  # by id, until the outcome is written
    _moved: MovedFiles = field(init=False)
    _removed_count: int = 0  # number of removed documents whose ids are not in `_seen`
    report: IndexReport = field(default_factory=IndexReport)

    def __post_init__(self) -> None:
        self._moved = MovedFiles(self._store, self._seen)

    def choose_jobs(self, sources: Iterable[Source], progress: Callable[[int], None]) -> Iterator[Job]:
        """Yield the documents that must be read, and count all others."""
        located = chain.from_iterable(map(self._locate_with_members, sources))
        while batch := take_batch(located):
            yield from self._choose_jobs_of_batch(batch, progress)

    def _choose_jobs_of_batch(self, batch: Sequence[LocatedSource], progress: Callable[[int], None]) -> Iterator[Job]:
        new = {id for _, _, id in batch if id is not None and id not in self._seen}
        stored = {digest.id: digest for digest in self._store.digests(sorted(new))}
        for source, input_path, id in batch:
            if isinstance(source, SkippedFile):
                self._skip(source, input_path, stored.get(id or ""))
            elif (job := self._decide(source, input_path, stored.get(source.id))) is not None:
                if isinstance(source, FileSource) and input_path and self._archives.may_have_attachments(source):
                    attachments = self._locate_attachments(source, input_path)
                    yield from self._choose_jobs_of_batch(attachments, progress)
                    are_documents = any(isinstance(attachment.source, FileSource) for attachment in attachments)
                    job = replace(job, source=replace(source, has_attachments=are_documents))
                yield job
                continue
            elif isinstance(source, FileSource) and input_path and (digest := stored.get(source.id)):
                for record in self._archives.stored_attachments(source, digest.origin):
                    self._note_unchanged_member(record, input_path)
            progress(1)

    def _locate_attachments(self, mail: FileSource, input_path: InputPath) -> list[LocatedSource]:
        return [
            self._locate(replace(attachment, root=input_path.path))
            if isinstance(attachment, SkippedFile)
            else LocatedSource(attachment, input_path, attachment.id)
            for attachment in self._archives.open_attachments(mail)
        ]

    def _locate_with_members(self, source: Source) -> Iterator[LocatedSource]:
        """Yield a source, or its members if it is an archive that must be read."""
        located = self._locate(source)
        members = None
        if isinstance(located.source, FileSource) and located.source.format.kind == "archive" and located.input_path:
            is_named_by_user = located.input_path.path == absolute_path(located.source.path)
            members = self._archives.open_members(located.source, is_named_by_user=is_named_by_user)
        if members is None or not located.input_path:
            yield located
            return
        for member in members:
            if isinstance(member, Record):
                self._note_unchanged_member(member, located.input_path)
            elif isinstance(member, SkippedFile):
                yield self._locate(replace(member, root=located.input_path.path))
            else:
                yield LocatedSource(member, located.input_path, member.id)

    def _note_unchanged_member(self, record: Record, input_path: InputPath) -> None:
        if record.id not in self._seen:
            self._seen.add(record.id, input_path.number, record.digest)
            self._seen.note_stored(record.id, record.digest)
            self._archives.note_found(record.id, record.origin.path_of(record.id) if record.origin else "")
            input_path.found_count += 1

    def _locate(self, source: Source) -> LocatedSource:
        if isinstance(source, Document):
            return LocatedSource(source, None, source.id)
        if isinstance(source, FileSource):
            input_path = self._paths.get_or_add(source.root)
            input_path.file_count += 1
            source = input_path.with_stored_id(source)
            return LocatedSource(source, input_path, source.id)
        kind, _ = classify_reason(source.reason)
        root = source.root
        if root is None and kind.is_text_outdated and os.path.isfile(source.path):  # noqa: PTH113 - the path is a string
            root = absolute_path(source.path)
        if root is None:
            return LocatedSource(source, None, None)
        input_path = self._paths.get_or_add(root)
        input_path.skips_indexed_files |= kind.may_be_indexed
        if kind is OTHER_KIND or source.reason == BROKEN_LINK_REASON:
            input_path.unreadable_paths[absolute_path(source.path)] = source.reason
        return LocatedSource(source, input_path, input_path.make_skipped_id(source) if kind.is_text_outdated else None)

    def _skip(self, source: SkippedFile, input_path: InputPath | None, stored: Digest | None) -> None:
        """Report a skipped source. Remove its stored document if the file has changed."""
        self._report_skipped(source)
        if input_path is None or stored is None or stored.origin is None or stored.id in self._seen:
            return
        if is_same_file(stored.origin.path_of(stored.id), source.path):
            self._seen.add(stored.id, input_path.number, stored.digest)
            input_path.found_count += 1
            if not is_unchanged(source.path, stored.origin):
                self._remove(stored.id)

    def _decide(self, source: Document | FileSource, input_path: InputPath | None, stored: Digest | None) -> Job | None:
        if source.id in self._seen:
            return self._decide_repeated_id(source, input_path)
        origin = stored.origin if stored else None
        if isinstance(source, FileSource) and input_path and origin:
            if self._skip_if_id_is_taken(source, input_path, origin):
                return None
            input_path.found_count += origin.root == input_path.root
            self._archives.note_found(source.id, source.path)
        self._seen.add(source.id, input_path.number if input_path else 0, stored.digest if stored else None)
        if stored is None:
            return Job(source, None)
        if not self._reads_all and isinstance(source, FileSource) and has_same_origin(origin, make_origin(source)):
            self._seen.note_stored(source.id, stored.digest)
            return None
        self._stored_digests[source.id] = stored
        return Job(source, stored.digest)

    def _decide_repeated_id(self, source: Document | FileSource, input_path: InputPath | None) -> Job | None:
        """Return the job for a source whose id the run has found before, or None to skip the source.

        The last document with an id is stored. If files of several indexed folders have it, the first one is stored.
        """
        first = self._paths.get_by_number(self._seen.path_number(source.id))
        if input_path and first and isinstance(source, FileSource):
            if not self._skip_if_id_is_taken(source, input_path, Origin(first.root, 0, 0, first.prefix)):
                self.report.repeated_id_count += 1  # the file was already found at another path
            return None
        self.report.repeated_id_count += 1
        return Job(source, None)  # the first document with this id may not be written yet, so it cannot be compared

    def _skip_if_id_is_taken(self, source: FileSource, input_path: InputPath, origin: Origin) -> bool:
        """Skip the source if an existing file of another indexed folder has its id. Return whether it was skipped."""
        if (origin.root, origin.prefix) == (source.root, source.prefix):
            return False
        other = origin.path_of(source.id)
        if is_same_file(other, source.path) or is_missing(other):
            return False
        input_path.id_conflicts[origin.root] += 1
        self._report_skipped(SkippedFile(source.path, f"a file in {origin.root} already has this id"))
        return True

    def write(self, outcomes: list[Outcome]) -> None:
        """Write the changed documents, and count all outcomes."""
        encode = partial(PreparedDocument.from_records, settings=self._store.settings, encode=self._store.encoder)
        if self._document_filter:
            outcomes = self._document_filter.filter_outcomes(outcomes, self._seen.is_stored)
        for id, outcome in outcomes:
            stored = self._stored_digests.pop(id, None)
            input_path = self._paths.get_by_number(self._seen.path_number(id))
            if isinstance(outcome, PreparedDocument | Record):
                prepared = outcome if isinstance(outcome, PreparedDocument) else encode([outcome])[0]
                self._writer.put_encoded([prepared.encoded], are_new=not self._seen.is_stored(id))
                self._on_written(id)
                self.report.note_missing_kinds(id, prepared.missing_kinds)
                self.report.note_unread_attachments(id, prepared.unread_attachments)
                self._moved.note_written(id, outcome.digest, input_path)
                self._seen.note_stored(id, outcome.digest)
                _log.debug("stored %s", id)
            elif isinstance(outcome, SkippedFile):
                self._report_skipped(replace(outcome, root=input_path.path) if input_path else outcome)
                if classify_reason(outcome.reason)[0].is_text_outdated and self._seen.is_stored(id):
                    self._remove(id)
            elif stored is not None:
                self._seen.note_stored(id, stored.digest)
                self._update_origin(stored, outcome.origin)

    def commit(self) -> None:
        """Make all changes visible to readers."""
        self._writer.commit()
        if self._document_filter:
            self._document_filter.note_committed()

    def _report_skipped(self, skipped: SkippedFile) -> None:
        self.report.skipped.append(skipped)
        self._archives.note_skipped(skipped)
        _log.debug("skipped %s: %s", skipped.path, skipped.reason)

    def _remove(self, id: str) -> None:
        self._writer.delete([id])
        if self._document_filter:
            self._document_filter.note_removed([id])
        self._seen.note_removed(id)
        _log.debug("removed %s", id)

    def _update_origin(self, stored: Digest, origin: Origin | None) -> None:
        """Store the new size and modification time of a file whose text did not change."""
        if not has_same_origin(stored.origin, origin) and (record := self._store.get(stored.id, load=ALL_PARTS)):
            self._writer.put([replace(record, origin=origin)])

    def remove_old_documents(self, *, prune: bool | None, prune_all: bool) -> None:
        """Remove documents whose files now have other ids and, with `prune`, documents whose files no longer exist."""
        if prune or self._moved.has_new_documents or len(self._paths) > 1:
            self._writer.commit()  # the new documents must be durable before old ones are removed
        for input_path in self._paths:
            for record in input_path.find_old_documents(self._store, has_new_prefix=self._paths.prefix is not None):
                self._remove_if_renamed(input_path, record)
            if prune is not None:
                for id in self._moved.find_old_ids(input_path):
                    self._seen.add(id, input_path.number, "")
                    self._remove(id)
                    input_path.found_count += 1
            # With None, the run has not looked at all files, so none is reported as missing.
            if prune is None or self._paths.is_inside_another(input_path):
                continue
            arguments = self._store, input_path, self._seen, self._archives, self.report.skipped
            if not prune:
                self.report.notes += make_unseen_notes(*arguments)
                continue
            unseen = find_unseen_documents(*arguments)
            self.report.notes += unseen.make_skipped_notes(input_path.path, self._store.location)
            vanished = find_vanished_documents(self._store, input_path, unseen, self._archives, prune_all=prune_all)
            self._writer.delete(vanished.ids)
            _log.info("%s: %d documents pruned", input_path.path, len(vanished.ids))
            self._removed_count += len(vanished.ids)
            self.report.problems += vanished.problems
        self._archives.mark_complete(self._writer, self._seen)

    def _remove_if_renamed(self, input_path: InputPath, record: Record) -> None:
        """Remove a document if its file was indexed with a new id."""
        id = input_path.make_id(record.origin.path_of(record.id)) if record.origin else record.id
        if id == record.id or id not in self._seen or not self._seen.is_stored(id):
            return
        self._writer.delete([record.id])
        if record.id in self._seen:
            self._seen.note_removed(record.id)
        else:
            self._removed_count += 1
        input_path.renamed_count += 1
        input_path.found_count += record.origin is not None and record.origin.root == input_path.root

    def remember_skipped_files(self, *, read_all: bool) -> None:
        """Let the store remember the skipped files. `read_all` says whether the run got all files of its paths."""
        remember_skipped_files(self._store, self._paths, self._seen, self.report.skipped, read_all=read_all)

    def finish_report(self, refused: Mapping[str, str]) -> IndexReport:
        """Return the report, which counts each id once. `refused` maps each id that the store refused to the reason."""
        report, seen = self.report, self._seen
        for id in refused:
            if id in seen:
                seen.note_refused(id)
            else:
                self._removed_count -= 1
        report.refused = dict(refused)
        report.added_count, report.unchanged_count = seen.count(IdStatus.ADDED), seen.count(IdStatus.UNCHANGED)
        report.replaced_count = seen.count(IdStatus.REPLACED)
        report.deleted_count = seen.count(IdStatus.DELETED) + self._removed_count
        report.notes += self._moved.make_notes()
        for input_path in self._paths:
            report.problems += input_path.make_conflict_messages(self._store.location)
            report.notes += input_path.make_rename_notes()
        return report
