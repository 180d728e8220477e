"""Finds the files of the indexed folders that are not in the index, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from starlette.exceptions import HTTPException

from simdoc_search.analysis.words import words
from simdoc_search.corpus import FileSource, find_files, read_sources
from simdoc_search.corpus.member_names import find_archive
from simdoc_search.documents import SkippedFile
from simdoc_search.errors import CorpusError
from simdoc_search.indexing.preparation import NO_WORDS_REASON
from simdoc_search.indexing.skip_reasons import SkipGroup, group_by_reason
from simdoc_search.stores.base import Store
from simdoc_search.web.background_job import Progress
from simdoc_search.web.local_access import LocalAccess
from simdoc_search.web.request import PageRequest
from simdoc_search.web.request_limits import UPLOAD_LIMITS
from simdoc_search.web.response import Page, Redirect

_MAX_READ_FILES = 1_000
_MAX_LISTED_FILES = 200


@dataclass(slots=True)
class UnindexedFiles:
    """The files of the indexed folders that are not in the index."""

    folders: list[str] = field(default_factory=list)  # the indexed folders
    missing_folders: list[str] = field(default_factory=list)  # the indexed folders that no longer exist
    file_count: int = 0  # in the folders
    skipped_files: list[SkippedFile] = field(default_factory=list)  # skipped by name or size
    candidates: list[FileSource] = field(default_factory=list)  # the others, with the ids that they would have
    skip_groups: list[SkipGroup] = field(default_factory=list)  # the files that cannot be read, by reason
    readable_files: list[str] = field(default_factory=list)
    unread_count: int = 0  # files that were not examined, because there are too many


def skipped(request: PageRequest) -> Page:
    """Return the page with the files that are not in the index, or the progress of the search."""
    _require_local(request)
    job = request.served_store.unindexed_files
    values = {"result": job.result, "problem": job.problem, "stage": "", "share": 0.0, "max_listed": _MAX_LISTED_FILES}
    if page := job.make_running_page(request, "skipped.html", values):
        return page
    result = job.result
    found = {
        "file_count": result.file_count,
        "groups": [{"reason": group.label, "files": group.files} for group in result.skip_groups],
        "readable": result.readable_files,
        "unread_count": result.unread_count,
    } if result else {}  # fmt: skip
    return Page(
        "skipped.html", values, {"state": "done" if result else "none", "problem": job.problem or None, **found}
    )


def start_search(request: PageRequest) -> Redirect:
    """Start searching the indexed folders for files that are not in the index."""
    local, store = _require_local(request), request.served_store.search().store
    return request.served_store.unindexed_files.start(lambda report: _find_unindexed_files(store, local, report))


def stop_search(request: PageRequest) -> Redirect:
    """Stop the search."""
    _require_local(request)
    return request.served_store.unindexed_files.stop()


def _require_local(request: PageRequest) -> LocalAccess:
    if request.local is None:
        raise HTTPException(403, "you can only search for skipped files on the computer that runs the server")
    return request.local


def list_skipped_files(store: Store, local: LocalAccess, progress: Progress) -> list[SkippedFile]:
    """Return the files of the indexed folders that are not in the index, with their folders."""
    files = _list_files(store, local, progress)
    return files.skipped_files + [SkippedFile(file.path, "not in the index", file.root) for file in files.candidates]


def _list_files(store: Store, local: LocalAccess, progress: Progress) -> UnindexedFiles:
    found, roots, ids = UnindexedFiles(), dict[str, str](), set[str]()
    for number, record in enumerate(store.scan()):
        if record.origin is not None:
            roots[record.origin.root] = record.origin.prefix
            ids.add(find_archive(record.id) or record.id)
        if number % 1_000 == 0:
            progress("reading", 0.0)
    for root, prefix in sorted(roots.items()):
        if Path(root).is_file():
            continue
        (found.folders if Path(root).is_dir() else found.missing_folders).append(root)
        for source in _files_below(root, local.exclude):
            progress("finding", 0.0)
            found.file_count += isinstance(source, FileSource) or not source.path.endswith("/")
            if isinstance(source, SkippedFile):
                if prefix + _relative_path(source) not in ids:
                    found.skipped_files.append(source)
            elif prefix + source.id not in ids:
                found.candidates.append(replace(source, id=prefix + source.id, prefix=prefix))
    return found


def _find_unindexed_files(store: Store, local: LocalAccess, progress: Progress) -> UnindexedFiles:
    found = _list_files(store, local, progress)
    found.unread_count = max(len(found.candidates) - _MAX_READ_FILES, 0)
    candidates = found.candidates[:_MAX_READ_FILES]
    skipped_files = [replace(file, path=_relative_path(file)) for file in found.skipped_files]
    for number, (candidate, outcome) in enumerate(read_sources(candidates, limits=UPLOAD_LIMITS)):
        progress("examining", number / len(candidates))
        id = candidate.id if isinstance(candidate, FileSource) else ""
        if isinstance(outcome, SkippedFile):
            skipped_files.append(replace(outcome, path=id))
        elif not words(outcome.text, store.settings.analysis):
            skipped_files.append(SkippedFile(id, NO_WORDS_REASON))
        else:
            found.readable_files.append(id)
    found.skip_groups = group_by_reason(skipped_files)
    return found


def _relative_path(file: SkippedFile) -> str:
    """Return the path of a file below its folder, or its whole path if it is elsewhere."""
    path = Path(file.path)
    is_below = file.root is not None and path.is_relative_to(file.root)
    return path.relative_to(file.root or "").as_posix() if is_below else file.path


def _files_below(root: str, exclude: Sequence[str]) -> Iterator[FileSource | SkippedFile]:
    with suppress(CorpusError):  # the folder is empty or missing
        yield from find_files([root], exclude=exclude)
