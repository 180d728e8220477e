"""Shell completion of document ids and paths. It is fast, and prints no errors."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Thread

import click
from click.shell_completion import CompletionItem

MAX_IDS = 50
MAX_SECONDS = 1.0


def complete_ids(context: click.Context, _parameter: click.Parameter, prefix: str) -> list[CompletionItem]:
    """Return the stored ids that begin with this prefix. If there are none, let the shell complete paths."""
    ids: list[str] = []
    store = context.params.get("store") or os.environ.get("SIMDOC_STORE") or "./.simdoc"
    thread = Thread(target=_read_ids, args=(store, context.params.get("engine"), prefix, ids), daemon=True)
    thread.start()
    thread.join(MAX_SECONDS)  # an engine may be slow or frozen
    return [CompletionItem(id) for id in ids if id.isprintable()] or [CompletionItem(prefix, type="file")]


def complete_paths(_context: click.Context, _parameter: click.Parameter, prefix: str) -> list[CompletionItem]:
    """Let the shell complete files and folders."""
    return [CompletionItem(prefix, type="file")]


def _read_ids(location: str, engine: str | None, prefix: str, ids: list[str]) -> None:
    """Add ids to the list `ids`, which the caller may read before this function returns."""
    from simdoc_search.stores import open_store

    with suppress(Exception), open_store(location, engine=engine) as store:  # type: ignore[arg-type] # click has checked it
        ids += store.ids_with_prefix(prefix, MAX_IDS)
