"""Watches folders for `simdoc-search index --watch`, and indexes files as they change."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import say
from simdoc_search.display import format_count
from simdoc_search.errors import CorpusError, MissingExtraError, StoreLockedError, StoreUnavailableError

if TYPE_CHECKING:
    from simdoc_search.search.similarity_search import SimilaritySearch

_PAUSE_MS, _MAX_BURST_MS = 300, 1500  # a burst of changes ends after this pause or this maximum duration


class FolderWatch:
    """Collects the changes in folders, starting when the object is created."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        for path in folders:
            if not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir may raise for a long name
                raise click.UsageError(f"--watch needs folders, but {path} is not a folder")
        self._folders = folders
        self._bursts = _watch_bursts(folders)
        self._pending = next(self._bursts)

    def run(
        self,
        search: SimilaritySearch,
        index: Callable[..., object],
        options: Mapping[str, Any],
        *,
        prune: bool,
        prune_all: bool,
    ) -> None:
        """Index files as they change, until Ctrl-C. `options` are those of `changed_files`."""
        from simdoc_search.corpus.changes import changed_files, is_temporary

        say(f"watching {', '.join(self._folders)}; stop with Ctrl-C", err=True)
        last_error = ""
        try:
            for burst in self._bursts:
                self._pending |= {path for path in burst if not is_temporary(path)}
                self._check_folders()
                try:
                    for folder in self._folders if self._pending else ():
                        files = changed_files(folder, self._pending, **options)
                        if (first := next(files, None)) is not None:
                            index(itertools.chain([first], files), prune=None)
                        if prune or prune_all:
                            _remove_vanished_documents(search, folder, self._pending, prune_all)
                        else:
                            _remove_moved_documents(search, folder, self._pending)
                except (StoreLockedError, StoreUnavailableError) as error:
                    if str(error) != last_error:  # the same error may occur several times per second, so show it once
                        last_error = str(error)
                        say(f"{last_error}; retrying", err=True)
                else:
                    self._pending, last_error = set(), ""
        except KeyboardInterrupt:
            say("stopped watching", err=True)

    def _check_folders(self) -> None:
        for folder in self._folders:
            if not os.path.isdir(folder):  # noqa: PTH112
                raise click.ClickException(
                    f"the folder {folder} no longer exists; its documents are kept. Run the command again when the "
                    "folder is available"
                )


def _watch_bursts(folders: Iterable[str]) -> Iterator[set[str]]:
    """Yield the changed, new and deleted paths of each burst of changes.

    While nothing changes, the sets are empty. The first set is yielded as soon as the folders are watched, so no
    change after it is missed.
    """
    try:
        from watchfiles import watch
    except ImportError as error:
        raise MissingExtraError("--watch", "watch") from error
    changes = watch(
        *map(os.path.abspath, folders),  # with `./docs`, watchfiles would return `/home/./docs/a.txt`
        watch_filter=None,
        debounce=_MAX_BURST_MS,
        step=_PAUSE_MS,
        rust_timeout=200,
        yield_on_timeout=True,
        raise_interrupt=True,
        ignore_permission_denied=True,
    )
    try:
        for burst in changes:
            yield {path for _, path in burst}
    except OSError as error:
        raise CorpusError(
            f"cannot watch the folders ({error.strerror or error}); increase fs.inotify.max_user_watches, or set "
            "WATCHFILES_FORCE_POLLING=1"
        ) from error


def _remove_moved_documents(search: SimilaritySearch, folder: str, paths: set[str]) -> None:
    """Remove the documents at the old paths of moved and renamed files."""
    from simdoc_search.indexing.pruning import find_moved_documents_at

    if moved := find_moved_documents_at(search.store, Path(folder), paths):
        search.delete(moved)
        files_were = format_count(len(moved), "moved or renamed file was", "moved or renamed files were")
        say(f"{files_were} recognised by content")


def _remove_vanished_documents(search: SimilaritySearch, folder: str, paths: set[str], prune_all: bool) -> None:
    from simdoc_search.indexing.pruning import find_vanished_documents_at

    vanished = find_vanished_documents_at(search.store, Path(folder), paths, prune_all=prune_all)
    if vanished.ids:
        with search.store.writer() as writer:
            writer.delete(vanished.ids)
        say(f"{format_count(len(vanished.ids), 'document')} deleted")
    for problem in vanished.problems:
        say(f"Error: {problem}", err=True)
