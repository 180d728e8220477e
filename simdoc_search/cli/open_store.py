"""Opens the store of a command that queries it, and reports indices that the answer leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import LEFT_OUT, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simdoc_search.stores.base import Store


def open_to_ask(store: str, **options: Any) -> Store:
    """Open a store, as `open_store`. Indices that cannot be queried are named after the answer, or in its JSON."""
    from simdoc_search.stores import open_store
    from simdoc_search.stores.excluded_indices import left_out_indices

    opened = open_store(store, **options)
    context = click.get_current_context()
    if indices := left_out_indices(opened):
        context.meta[LEFT_OUT] = indices
        context.call_on_close(lambda: _report(context.meta.get(LEFT_OUT, ())))
    return opened


def _report(indices: Iterable[object]) -> None:
    for index in indices:
        say(f"note: {index}", err=True)
