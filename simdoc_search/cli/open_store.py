"""Open a store for a command that asks it; what the answer leaves out is said with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import LEFT_OUT, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simdoc_search.stores.base import Store
    from simdoc_search.stores.excluded_indices import LeftOutIndex


def open_to_ask(store: str, **options: Any) -> Store:
    """Open a store, as `open_store`. Indices that cannot be asked are named after the answer, or in its JSON."""
    from simdoc_search.stores import open_store
    from simdoc_search.stores.excluded_indices import left_out_indices

    opened = open_store(store, **options)
    context = click.get_current_context()
    if found := left_out_indices(opened):
        context.meta[LEFT_OUT] = found
        context.call_on_close(lambda: _say(context.meta.get(LEFT_OUT, ())))
    return opened


def _say(found: Sequence[LeftOutIndex]) -> None:
    for each in found:
        say(f"note: {each}", err=True)
