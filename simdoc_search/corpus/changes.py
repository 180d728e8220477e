"""Files of a folder that are known to have changed, found without looking at all others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePath

from simdoc_search.corpus.exclusion import Excluding
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, files_below, leads_out
from simdoc_search.documents import FileId, FileSource, Skipped

_TEMPORARY = re.compile(
    r".*(~|\.tmp|\.part|\.crdownload|\.swp|\.swx)"  # backups, downloads, Vim
    r"|4913"  # Vim tries whether it can write
    r"|#.*#"  # Emacs
    r"|~\$.*\.(doc|xls|ppt|vsd)[a-z]?"  # Office
    r"|sed[A-Za-z0-9]{6}",  # sed -i
    re.IGNORECASE | re.DOTALL,
)


def is_temporary(path: str) -> bool:
    """Whether an editor or a browser keeps such a file for a moment: `a.txt~`, `4913`, `#a.txt#`, `~$a.docx`."""
    return _TEMPORARY.fullmatch(os.path.basename(path)) is not None  # noqa: PTH119


def changed_files(
    root: str | Path,
    paths: Iterable[str],
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
    follow_links: bool = False,
    exclude: Iterable[str] = (),
) -> Iterator[FileSource | Skipped]:
    """Those of some paths below a folder that are there, as `find_files` gives them; of folders what is in them.

    What is hidden, in a store, or behind a link that leads out, is left out without a word.

    Raises:
        OSError: the folder is not there.
    """
    place = os.path.abspath(root)  # noqa: PTH100 - resolve() would follow links
    info = os.stat(place)  # noqa: PTH116
    within = None if follow_links else (info.st_dev, info.st_ino)
    excluding = Excluding(exclude)
    for path in sorted(set(paths)):
        try:
            below = PurePath(path).relative_to(place)
        except ValueError:
            continue
        if _is_left_out(place, below, within) or _is_excluded(below, excluding):
            continue
        for found in files_below(Path(path), below.as_posix(), place, max_bytes, within, excluding=excluding):
            yield replace(found, root=place) if isinstance(found, Skipped) else found


def _is_excluded(below: PurePath, excluding: Excluding) -> bool:
    folders = (parent.as_posix() for parent in below.parents[:-1])
    is_file = excluding.leaves_out(below.as_posix(), is_folder=False)
    return is_file or any(excluding.leaves_out(each, is_folder=True) for each in folders)


def _is_left_out(place: str, below: PurePath, within: FileId | None) -> bool:
    """Whether a run over the whole folder would not come to this path."""
    if not below.parts or any(part.startswith(".") for part in below.parts):
        return True
    for depth in range(len(below.parts)):
        folder = os.path.join(place, *below.parts[:depth])  # noqa: PTH118
        if all(os.path.exists(os.path.join(folder, name)) for name in ("simdoc.json", "index")):  # noqa: PTH110, PTH118
            return True
    try:
        return within is not None and leads_out(os.path.join(place, below), within)  # noqa: PTH118
    except OSError:  # gone again
        return True
