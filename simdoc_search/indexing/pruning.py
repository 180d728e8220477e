"""Finds the documents whose files no longer exist. If a file might just be unreachable, its document is kept."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from simdoc_search.corpus.folder import find_files
from simdoc_search.corpus.formats import determine_format
from simdoc_search.corpus.links import LINK_OUT_REASON
from simdoc_search.corpus.member_names import find_archive
from simdoc_search.display import command_line, format_count
from simdoc_search.documents import SkippedFile
from simdoc_search.errors import CorpusError
from simdoc_search.indexing.archives import Archives
from simdoc_search.indexing.input_paths import InputPath, InputPaths, absolute_path, find_listed_path, is_missing
from simdoc_search.indexing.seen_ids import SeenIds
from simdoc_search.indexing.skip_reasons import classify_reason
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record

_MAX_LISTED_IDS = 5
_MAX_SMALL_REMOVAL = 10
"""Up to this many documents are removed, even if they are more than half of the documents of an indexed folder."""


@dataclass(slots=True)
class VanishedDocuments:
    """The documents whose files no longer exist."""

    ids: list[str] = field(default_factory=list)  # the documents to remove
    problems: list[str] = field(default_factory=list)  # sentences that say why documents without files are kept


@dataclass(slots=True)
class UnseenDocuments:
    """The documents of a path that a run did not find."""

    stored_count: int = 0  # number of documents of the path that the store had before the run
    missing_ids: list[str] = field(default_factory=list)  # the documents whose files no longer exist
    # number of documents that may still have a file, by the path that the run could not read
    unreadable_counts: Counter[str] = field(default_factory=Counter)
    skipped_ids: dict[str, list[str]] = field(default_factory=dict)  # the documents with skipped files, by reason

    def make_skipped_notes(self, path: str, store: str) -> Iterator[str]:
        """Yield a note for each reason why the run skipped indexed files of this path."""
        for reason, ids in self.skipped_ids.items():
            has_text = f"; the index still has {'its' if len(ids) == 1 else 'their'} text. To"
            if reason == LINK_OUT_REASON:
                files_are = format_count(len(ids), "indexed file is", "indexed files are")
                problem = f"{files_are} behind links out of {path}, which were not followed"
                yield f"{problem}{has_text} update it, run: {command_line(store, 'index', path, '--follow-links')}"
            else:
                files_were = format_count(len(ids), "indexed file was", "indexed files were")
                command = command_line(store, "delete", *(ids if len(ids) <= _MAX_LISTED_IDS else ["ID..."]))
                yield f"{files_were} skipped in {path} ({reason}){has_text} remove it, run: {command}"


def find_unseen_documents(
    store: Store, input_path: InputPath, seen: SeenIds, archives: Archives, skipped: Iterable[SkippedFile]
) -> UnseenDocuments:
    """Return the documents of a path that a run did not find."""
    unseen, reasons = UnseenDocuments(), dict[str, str]()
    for file in skipped:
        if classify_reason(file.reason)[0].may_be_indexed:
            reasons[absolute_path(file.path)] = file.reason
    inside = (os.path.join(input_path.path, ""), f"{input_path.path}!")  # noqa: PTH118 - Path objects are slow here
    for record in store.scan(root_folder=input_path.root):
        path = record.origin.path_of(record.id) if record.origin else ""
        if not path.startswith(inside):
            continue
        unseen.stored_count += not seen.is_new(record.id)
        if record.id in seen:
            continue
        if (folder := input_path.find_unreadable_path(path)) is not None:
            unseen.unreadable_counts[folder] += 1
        elif is_missing(path) and not _may_be_in_archive(path, archives):
            unseen.missing_ids.append(record.id)
        elif (skipped_path := find_listed_path(find_archive(path) or path, reasons, input_path.path)) is not None:
            unseen.skipped_ids.setdefault(reasons[skipped_path], []).append(record.id)
    return unseen


def make_unseen_notes(
    store: Store, input_path: InputPath, seen: SeenIds, archives: Archives, skipped: Iterable[SkippedFile]
) -> Iterator[str]:
    """Yield notes about the documents that `find_unseen_documents` returns, for a run that removes none."""
    missing_count = input_path.unseen_count
    if missing_count <= 0:
        return
    # Otherwise, all of these files are missing. Then the documents need not be read.
    if input_path.skips_indexed_files or input_path.unreadable_paths or not archives.are_complete:
        unseen = find_unseen_documents(store, input_path, seen, archives, skipped)
        yield from unseen.make_skipped_notes(input_path.path, store.location)
        missing_count = len(unseen.missing_ids)
    if missing_count:
        files_are = format_count(missing_count, "indexed file is", "indexed files are")
        their = "its" if missing_count == 1 else "their"
        yield (
            f"{files_are} missing from {input_path.path}, but the index still has {their} text. To remove it, run: "
            f"{command_line(store.location, 'index', input_path.path, '--prune')}"
        )


def has_no_files(path: str) -> bool:
    """Return whether a path does not exist, or is a folder without files. If it cannot be read, return False."""
    if is_missing(path):
        return True
    try:
        files = find_files([path])
    except CorpusError:
        return False
    try:
        next(files)
    except CorpusError:
        return True
    return False


def find_vanished_documents(
    store: Store, input_path: InputPath, unseen: UnseenDocuments, archives: Archives, *, prune_all: bool
) -> VanishedDocuments:
    """Return the unseen documents of a path whose files no longer exist.

    With `prune_all`, they are returned even if the path has no files left, or if more than half of its documents have
    vanished.
    """
    try:
        os.scandir(input_path.path).close()
    except NotADirectoryError:
        if not archives.is_complete(input_path.path):
            return VanishedDocuments()
    except OSError as error:
        is_gone = isinstance(error, FileNotFoundError) and not input_path.file_count  # since before the run
        if not (is_gone and prune_all):
            reason = (error.strerror or str(error)).lower()
            return VanishedDocuments(
                problems=[f"no document of {input_path.path} was removed, because the path is unreadable ({reason})"]
            )
    problems = [
        f"{format_count(count, 'document')} of {path} {'was' if count == 1 else 'were'} kept, because the path is "
        f"unreadable ({input_path.unreadable_paths[path]})"
        for path, count in unseen.unreadable_counts.items()
    ]
    missing = unseen.missing_ids
    if missing and not input_path.file_count and not prune_all:
        problems.append(_make_kept_message(store, input_path, len(missing), "no files were found at this path"))
        missing = []
    return _refuse_large_removal(store, input_path, missing, unseen.stored_count, problems, prune_all=prune_all)


def find_moved_documents_at(store: Store, root_folder: str | Path, paths: Collection[str]) -> list[str]:
    """Return the ids of the documents whose file is missing and whose content equals that of an existing file.

    Each of `paths` is a file, folder or archive in the indexed folder `root_folder`.
    """
    missing = find_vanished_documents_at(store, root_folder, paths, prune_all=True).ids
    if not missing:
        return []
    input_path = InputPaths(store, None).get_or_add(absolute_path(root_folder))
    existing = [path for path in paths if not is_missing(path)]
    digests = {record.digest for record in _find_records_at(store, input_path, existing)}
    return [digest.id for digest in store.digests(missing) if digest.digest in digests]


def find_vanished_documents_at(
    store: Store, root_folder: str | Path, paths: Iterable[str], *, prune_all: bool = False
) -> VanishedDocuments:
    """Return the documents of the given paths, except paths that still exist.

    A path is a file, folder or archive in the indexed folder `root_folder`. If this folder does not exist, no documents
    are returned, because it might just be unreachable.
    """
    input_path = InputPaths(store, None).get_or_add(absolute_path(root_folder))
    missing_paths = [path for path in paths if is_missing(path)]
    if not missing_paths or is_missing(input_path.path):
        return VanishedDocuments()
    missing = [
        record.id
        for record in _find_records_at(store, input_path, missing_paths)
        if record.origin and is_missing(record.origin.path_of(record.id))
    ]
    return _refuse_large_removal(store, input_path, missing, input_path.stored_count, [], prune_all=prune_all)


def _may_be_in_archive(path: str, archives: Archives) -> bool:
    """Return whether the path is in an archive that exists but was not read completely."""
    archive = find_archive(path)
    return not (archive is None or archives.is_complete(archive) or is_missing(archive))


def _refuse_large_removal(
    store: Store, input_path: InputPath, missing_ids: list[str], total: int, problems: list[str], *, prune_all: bool
) -> VanishedDocuments:
    if len(missing_ids) <= _MAX_SMALL_REMOVAL or 2 * len(missing_ids) <= total or prune_all:
        return VanishedDocuments(missing_ids, problems)
    reason = f"the files of more than half of the {total:,} documents no longer exist"
    return VanishedDocuments([], [*problems, _make_kept_message(store, input_path, len(missing_ids), reason)])


def _make_kept_message(store: Store, input_path: InputPath, count: int, reason: str) -> str:
    documents = format_count(count, "document of a missing file", "documents of missing files")
    them = "it" if count == 1 else "them"
    command = command_line(store.location, "index", input_path.path, "--prune-all")
    return f"kept {documents} in {input_path.path}, because {reason}. To remove {them}, run: {command}"


def _find_records_at(store: Store, input_path: InputPath, paths: Iterable[str]) -> list[Record]:
    """Return the documents of files, folders, archives and e-mails in an indexed folder."""
    ids = {input_path.make_id(path) for path in paths if path.startswith(os.path.join(input_path.path, ""))}  # noqa: PTH118
    records = {record.id: record for record in store.records(sorted(ids))}
    for id in sorted(id for id in ids if id not in records or determine_format(id).has_attachments):
        records |= {record.id: record for record in store.scan(filters=[{"path": [f"{id}/", f"{id}!"]}])}
    return [record for record in records.values() if record.origin and record.origin.root == input_path.root]
