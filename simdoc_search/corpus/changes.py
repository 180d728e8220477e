"""Finds the changed files of a folder without searching all of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePath

from simdoc_search.corpus.file_source import FileSource
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, Exclusions, SearchedFolder, is_office_lock, is_store
from simdoc_search.corpus.links import file_id, leads_out
from simdoc_search.documents import SkippedFile

_TEMPORARY_NAME = re.compile(
    r".*(~|\.tmp|\.part|\.crdownload)"  # backups, and downloads in progress
    r"|#.*#",  # temporary files of Emacs
    re.IGNORECASE | re.DOTALL,
)


def is_temporary(path: str) -> bool:
    """Return whether a file is a temporary file of an editor or a browser: `a.txt~`, `#a.txt#`, `~$a.docx`."""
    name = os.path.basename(path)  # noqa: PTH119
    return is_office_lock(name) or _TEMPORARY_NAME.fullmatch(name) is not None


def changed_files(
    folder: str | Path,
    paths: Iterable[str],
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
    follow_links: bool = False,
    exclude: Iterable[str] = (),
) -> Iterator[FileSource | SkippedFile]:
    """Find the files at changed paths below a folder. Options and results are the same as for `find_files`.

    If a path is a folder, all files below it are found. A path is ignored if it no longer exists, or if it is hidden,
    excluded, in a store, or behind a link out of the folder.

    Raises:
        OSError: the folder does not exist.
    """
    absolute = os.path.abspath(folder)  # noqa: PTH100 - resolve() would follow links
    identity = file_id(absolute)
    root = SearchedFolder(absolute, max_bytes, None if follow_links else identity, Exclusions(exclude))
    for path in map(Path, sorted(set(paths))):
        if not path.is_relative_to(absolute) or _is_ignored(path, path.relative_to(absolute), root):
            continue
        id = path.relative_to(absolute).as_posix()
        if path.is_dir():
            yield from root.files_below(path, f"{id}/")
        elif path.exists():
            source = root.examine_file(str(path), id)
            yield replace(source, root=absolute) if isinstance(source, SkippedFile) else source


def _is_ignored(path: Path, relative: PurePath, root: SearchedFolder) -> bool:
    """Return whether a search of the whole folder would skip this path."""
    if not relative.parts or any(part.startswith(".") for part in relative.parts):
        return True
    folders = [parent.as_posix() for parent in relative.parents]
    if any(is_store(os.path.join(root.path, folder)) for folder in folders):  # noqa: PTH118
        return True
    if root.exclusions.matches(relative.as_posix(), is_folder=False) or any(
        root.exclusions.matches(folder, is_folder=True) for folder in folders[:-1]
    ):
        return True
    try:
        return root.boundary is not None and leads_out(path, root.boundary)
    except OSError:  # the file no longer exists
        return True
