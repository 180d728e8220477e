"""Indexes files again that an undo has restored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from simdoc_search.corpus.changes import changed_files
from simdoc_search.corpus.file_reader import read_sources
from simdoc_search.corpus.folder import find_files
from simdoc_search.corpus.formats import determine_format
from simdoc_search.corpus.links import file_id, leads_out
from simdoc_search.corpus.member_names import find_archive_file
from simdoc_search.documents import SkippedFile
from simdoc_search.errors import SimdocError
from simdoc_search.indexing.input_paths import find_roots
from simdoc_search.indexing.options import IndexOptions
from simdoc_search.indexing.run import index_documents
from simdoc_search.indexing.skip_reasons import classify_reason
from simdoc_search.stores.base import Store

_MAX_FOLDERS = 5


class RestoredFiles(NamedTuple):
    """The result of indexing restored files.

    `document_count` is the number of documents that were added or changed. `not_indexed_paths` also has files whose
    folder is not indexed. If `problem` is not empty, no file was indexed because of it.
    """

    document_count: int
    not_indexed_paths: list[str]
    problem: str = ""


def index_restored_files(
    store: Store, paths: Sequence[str], folders: Mapping[str, str], exclude: Sequence[str] = ()
) -> RestoredFiles:
    """Index files again. A file without text was not in the store, so it does not count as `not_indexed_paths`.

    Archives are read if the store has members of other archives of the folder, such as the archive that was kept. Links
    out of the folder are followed, because an earlier run that followed them has indexed the file.

    Args:
        store: the store that had the documents of the files.
        paths: the absolute paths of the files.
        folders: folders and files that the store had, each with the prefix of its ids. If a plan dropped all documents
            of a folder, the store does not have it any more.
        exclude: patterns of files that are not indexed.
    """
    roots = find_roots(store, paths)
    by_root: dict[Path, list[str]] = {}
    document_count, not_indexed_paths = 0, set(paths)
    for path in paths:
        parents = Path(path).parents
        root = next((parent for parent in parents if parent in roots), None)
        if root := root or next((parent for parent in (Path(path), *parents) if str(parent) in folders), None):
            by_root.setdefault(root, []).append(path)
            not_indexed_paths.remove(path)
    try:
        for _, outcome in read_sources(find_files(sorted(not_indexed_paths))):
            if isinstance(outcome, SkippedFile) and classify_reason(outcome.reason)[0].is_text_outdated:
                not_indexed_paths.discard(outcome.path)
        for root, files in by_root.items():
            has_archives = any(determine_format(file).kind == "archive" for file in files)
            archives = has_archives and _has_archive_members(store, str(root) if root in roots else None)
            if root in map(Path, files):
                sources = list(find_files([root], exclude=exclude))
            else:
                sources = list(changed_files(root, files, follow_links=True, exclude=exclude))
            prefix = None if root in roots else folders[str(root)]
            found = {Path(source.path) for source in sources}
            not_indexed_paths.update(file for file in files if Path(file) not in found)
            report = index_documents(store, sources, IndexOptions(prune=None, archives=archives, prefix=prefix))
            document_count += report.added_count + report.replaced_count
            unread = {file.path for file in report.skipped if not classify_reason(file.reason)[0].is_text_outdated}
            not_indexed_paths |= unread | (set(files) if report.has_failed else set())
    except (SimdocError, OSError) as error:
        return RestoredFiles(document_count, list(paths), str(error))
    return RestoredFiles(document_count, sorted(not_indexed_paths))


def arguments_to_index(paths: Sequence[str], folders: Iterable[str]) -> list[str]:
    """Return the arguments with which `duplicates` indexes these files again.

    `folders` are the folders and files that the index had. Those that contain the files are returned. If they do not
    contain all files, or are more than five, the placeholder `FOLDER` is returned.
    """
    needed: dict[str, None] = {}
    follows_links = False
    folders = set(folders)
    for path in paths:
        folder = next((str(folder) for folder in (Path(path), *Path(path).parents) if str(folder) in folders), None)
        if folder is None:
            return ["FOLDER"]
        needed[folder] = None
        follows_links = follows_links or (folder != path and _is_behind_link(Path(path).parent, Path(folder)))
    if len(needed) > _MAX_FOLDERS:
        return ["FOLDER"]
    return [*sorted(needed), *(["--follow-links"] if follows_links else [])]


def _is_behind_link(folder: Path, root: Path) -> bool:
    try:
        return leads_out(folder, file_id(root))
    except OSError:  # the folder does not exist
        return False


def _has_archive_members(store: Store, root: str | None) -> bool:
    """Return whether the store has members of archives of an indexed folder; None for all folders."""
    return any(find_archive_file(record.id) for record in store.scan(root_folder=root))
