"""Changes below folders as they happen, and what becomes of documents whose files are gone then."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from simdoc_search.errors import CorpusError, MissingExtraError
from simdoc_search.indexing.pruning import SMALL, Pruned
from simdoc_search.indexing.roots import Places, absolute, file_of, is_gone
from simdoc_search.stores.base import Store

_QUIET_MS, _LONGEST_MS = 300, 1500
"""A burst ends when nothing changed for so long, or after so long, so that what never ends is indexed too."""


def changes(folders: Iterable[str | Path]) -> Iterator[set[str]]:
    """The absolute paths that changed, were added or vanished below some folders, a burst at a time.

    From the first set on, which comes at once, nothing is missed. Between changes empty ones come, some a second.

    Raises:
        MissingExtraError: watchfiles is not installed.
        CorpusError: the system cannot watch so many folders, or a folder is gone.
        KeyboardInterrupt: Ctrl-C.
    """
    try:
        from watchfiles import watch  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("--watch", "watch") from error
    watched = watch(
        *map(absolute, folders),  # of `./docs` it would say `/home/./docs/a.txt`
        watch_filter=None,
        debounce=_LONGEST_MS,
        step=_QUIET_MS,
        rust_timeout=200,
        yield_on_timeout=True,
        raise_interrupt=True,
        ignore_permission_denied=True,
    )
    try:
        for some in watched:
            yield {path for _, path in some}
    except OSError as error:
        raise CorpusError(
            f"the folders cannot be watched ({error.strerror or error}); raise fs.inotify.max_user_watches, or set "
            "WATCHFILES_FORCE_POLLING=1"
        ) from error


def gone_of(store: Store, root: str | Path, paths: Iterable[str], *, all_may_go: bool = False) -> Pruned:
    """The documents of paths that vanished below an indexed folder: of files, of folders, of archives.

    None if the folder itself is gone, nor more than 10 that are more than half of its documents.
    """
    place = Places(store, None).of(absolute(root))
    vanished = {path for path in paths if is_gone(path)}
    if not vanished or is_gone(place.path):
        return Pruned()
    ids = {place.id_of(path) for path in vanished if path.startswith(os.path.join(place.path, ""))}  # noqa: PTH118
    found = {each.id: each for each in store.records(sorted(ids))}
    for id in sorted(ids - found.keys()):
        found |= {each.id: each for each in store.scan(filters=[{"path": [f"{id}/", f"{id}!"]}])}
    gone = [
        id
        for id, each in found.items()
        if each.origin and each.origin.root == place.root and is_gone(file_of(each.origin, id))
    ]
    if len(gone) > SMALL and 2 * len(gone) > place.stored and not all_may_go:
        said = f"{len(gone):,} documents of {place.path} stayed although their files are gone"
        return Pruned(
            kept=[f"{said}, as they are more than half of its {place.stored:,}; if that is right: --prune-all"]
        )
    return Pruned(gone)
