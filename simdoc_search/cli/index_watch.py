"""`index --watch`: what changes in folders comes into the index as it changes."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import say
from simdoc_search.errors import StoreLockedError, StoreUnavailableError

if TYPE_CHECKING:
    from simdoc_search.indexing.pruning import Pruned
    from simdoc_search.search import SimilaritySearch


class Watching:
    """Notices what changes below some folders, from the moment that it is made.

    Args:
        folders: what is watched.

    Raises:
        UsageError: one of them is no folder.
        SimdocError: they cannot be watched.
    """

    def __init__(self, folders: tuple[str, ...]) -> None:
        from simdoc_search.indexing.watcher import changes

        for path in folders:
            if not os.path.isdir(path):  # noqa: PTH112 - `-` too
                raise click.UsageError(f"--watch is for folders, and {path} is none")
        self._folders = folders
        self._bursts = changes(folders)
        self._waiting = next(self._bursts)

    def go_on(
        self,
        search: SimilaritySearch,
        run: Callable[..., object],
        options: Mapping[str, Any],
        *,
        prune: bool,
        prune_all: bool,
    ) -> None:
        """Index what changes, until Ctrl-C.

        Args:
            search: the store.
            run: indexes some files, and says what it did.
            options: those of `changed_files`.
            prune: remove documents whose files vanish.
            prune_all: the same, also if they are more than half of those of a folder.

        Raises:
            ClickException: a folder is gone.
        """
        from simdoc_search.corpus.changes import changed_files, is_temporary
        from simdoc_search.indexing.watcher import gone_of

        say(f"watching {', '.join(self._folders)}; Ctrl-C ends it", err=True)
        told = ""
        try:
            for burst in self._bursts:
                self._waiting |= {path for path in burst if not is_temporary(path)}
                self._check_are_there()
                try:
                    for folder in self._folders if self._waiting else ():
                        files = changed_files(folder, self._waiting, **options)
                        if (found := next(files, None)) is not None:
                            run(itertools.chain([found], files), prune=None)
                        if prune or prune_all:
                            _remove(search, gone_of(search.store, folder, self._waiting, all_may_go=prune_all))
                except (StoreLockedError, StoreUnavailableError) as error:
                    if str(error) != told:  # some times a second
                        told = str(error)
                        say(f"{told}; it is tried again", err=True)
                else:
                    self._waiting, told = set(), ""
        except KeyboardInterrupt:
            say("no longer watching", err=True)

    def _check_are_there(self) -> None:
        for folder in self._folders:
            if not os.path.isdir(folder):  # noqa: PTH112
                gone = f"the folder {folder} is gone, its documents stay"
                raise click.ClickException(f"{gone}; index it again when it is back")


def _remove(search: SimilaritySearch, found: Pruned) -> None:
    if found.ids:
        with search.store.writer() as writer:
            writer.delete(found.ids)
        say(f"{len(found.ids):,} deleted")
    for each in found.kept:
        say(f"Error: {each}", err=True)
