"""What a shell completes: ids of the store. Silent and quick, whatever is wrong with the store."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Thread

import click
from click.shell_completion import CompletionItem

MOST_IDS = 50
MOST_SECONDS = 1.0


def complete_ids(context: click.Context, _parameter: click.Parameter, begin: str) -> list[CompletionItem]:
    """The stored ids that begin so; if there are none, the shell completes paths, which name documents too."""
    found: list[str] = []
    place = context.params.get("store") or os.environ.get("SIMDOC_STORE") or "./.simdoc"
    looking = Thread(target=_look, args=(place, context.params.get("engine"), begin, found), daemon=True)
    looking.start()
    looking.join(MOST_SECONDS)  # an engine may take longer, and nobody waits for it at a prompt
    ids = [each for each in found if each.isprintable()]
    return [CompletionItem(each) for each in ids] or [CompletionItem(begin, type="file")]


def complete_paths(_context: click.Context, _parameter: click.Parameter, begin: str) -> list[CompletionItem]:
    """Files and folders, by the shell's own rules."""
    return [CompletionItem(begin, type="file")]


def _look(place: str, engine: str | None, begin: str, found: list[str]) -> None:
    from simdoc_search.stores import open_store

    with suppress(Exception), open_store(place, engine=engine) as store:  # type: ignore[arg-type] # click has checked it
        found += store.beginning(begin, MOST_IDS)
