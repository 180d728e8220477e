"""Completes ids of the store in a shell, silently and quickly, even if the store cannot be opened."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Thread

import click
from click.shell_completion import CompletionItem

MAX_IDS = 50
MAX_SECONDS = 1.0


def complete_ids(context: click.Context, _parameter: click.Parameter, begin: str) -> list[CompletionItem]:
    """Return stored ids with this prefix. Without any, the shell completes paths, which name documents too."""
    ids: list[str] = []
    store = context.params.get("store") or os.environ.get("SIMDOC_STORE") or "./.simdoc"
    thread = Thread(target=_read_ids, args=(store, context.params.get("engine"), begin, ids), daemon=True)
    thread.start()
    thread.join(MAX_SECONDS)  # nobody waits longer for an engine at a prompt
    return [CompletionItem(id) for id in ids if id.isprintable()] or [CompletionItem(begin, type="file")]


def complete_paths(_context: click.Context, _parameter: click.Parameter, begin: str) -> list[CompletionItem]:
    """Let the shell complete files and folders."""
    return [CompletionItem(begin, type="file")]


def _read_ids(location: str, engine: str | None, begin: str, ids: list[str]) -> None:
    from simdoc_search.stores import open_store

    with suppress(Exception), open_store(location, engine=engine) as store:  # type: ignore[arg-type] # click has checked it
        ids += store.ids_with_prefix(begin, MAX_IDS)
