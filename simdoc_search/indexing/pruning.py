"""Finds the documents whose files no longer exist. A document is kept if its file may only be unreachable."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from simdoc_search.corpus.member_names import find_archive
from simdoc_search.indexing.archives import Archives
from simdoc_search.indexing.roots import NamedPath, NamedPaths, absolute, is_missing
from simdoc_search.indexing.seen_ids import SeenIds
from simdoc_search.stores.base import Store

_MAX_UNCHECKED = 10  # up to 10 documents are removed even if they are more than half of a root


@dataclass(slots=True)
class VanishedDocuments:
    """The documents whose files no longer exist."""

    ids: list[str] = field(default_factory=list)  # the documents to remove
    problems: list[str] = field(default_factory=list)  # a sentence for each reason why others are kept


def vanished_documents(
    store: Store, named: NamedPath, seen: SeenIds, archives: Archives, *, prune_all: bool
) -> VanishedDocuments:
    """Find the documents of a path that this run did not find and whose files no longer exist.

    Args:
        store: the store.
        named: the folder or file that the user named.
        seen: the ids that the run found.
        archives: the archives of the run.
        prune_all: return the documents even if the path has no files left, or if they are more than half of the root.
    """
    try:
        os.scandir(named.path).close()
    except NotADirectoryError:
        if not archives.is_complete(named.path):
            return VanishedDocuments()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return VanishedDocuments(
            problems=[f"no document of {named.path} was removed, because the path is unreadable ({reason})"]
        )
    total, missing, unreadable = 0, [], Counter[str]()
    inside = (os.path.join(named.path, ""), f"{named.path}!")  # noqa: PTH118 - Path objects are slow here
    for record in store.scan(root=named.root):
        path = record.origin.file(record.id) if record.origin else ""
        if not path.startswith(inside):
            continue
        total += not seen.is_new(record.id)  # documents that are new in this run do not count
        if record.id in seen:
            continue
        if (folder := named.unreadable_above(path)) is not None:
            unreadable[folder] += 1
        elif is_missing(path) and _is_missing_from_archive(path, archives):
            missing.append(record.id)
    problems = [
        f"{count:,} documents of {folder} were kept, because the path is unreadable ({named.unreadable[folder]})"
        for folder, count in unreadable.items()
    ]
    if missing and not named.file_count and not prune_all:
        problems.append(_kept_message(len(missing), named.path, "the path has no files left"))
        missing = []
    return _limit_removals(missing, total, named.path, problems, prune_all=prune_all)


def vanished_documents_at(
    store: Store, root: str | Path, paths: Iterable[str], *, prune_all: bool = False
) -> VanishedDocuments:
    """Find the documents of files, folders and archives below an indexed folder that no longer exist.

    If the indexed folder itself does not exist, no documents are returned, because it may only be unreachable.
    """
    named = NamedPaths(store, None).get_or_add(absolute(root))
    missing_paths = [path for path in paths if is_missing(path)]
    if not missing_paths or is_missing(named.path):
        return VanishedDocuments()
    ids = {named.id_of(path) for path in missing_paths if path.startswith(os.path.join(named.path, ""))}  # noqa: PTH118
    records = {record.id: record for record in store.records(sorted(ids))}
    for id in sorted(ids - records.keys()):
        records |= {record.id: record for record in store.scan(filters=[{"path": [f"{id}/", f"{id}!"]}])}
    missing = [
        id
        for id, record in records.items()
        if record.origin and record.origin.root == named.root and is_missing(record.origin.file(id))
    ]
    return _limit_removals(missing, named.stored_count, named.path, [], prune_all=prune_all)


def _is_missing_from_archive(path: str, archives: Archives) -> bool:
    """Return whether the archive of a member does not exist either, or was read completely without the member."""
    archive = find_archive(path)
    return archive is None or archives.is_complete(archive) or is_missing(archive)


def _limit_removals(
    missing: list[str], total: int, path: str, problems: list[str], *, prune_all: bool
) -> VanishedDocuments:
    if len(missing) <= _MAX_UNCHECKED or 2 * len(missing) <= total or prune_all:
        return VanishedDocuments(missing, problems)
    return VanishedDocuments(
        [], [*problems, _kept_message(len(missing), path, f"they are more than half of its {total:,} documents")]
    )


def _kept_message(count: int, path: str, reason: str) -> str:
    documents = "1 document" if count == 1 else f"{count:,} documents"
    return f"kept {documents} of {path} with missing files, because {reason}; remove them with --prune-all"
