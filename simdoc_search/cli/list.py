"""`simdoc-search list`: lists the documents in the store."""

from __future__ import annotations

import sys
from typing import Any

import click

from simdoc_search.cli.columns import (
    ColumnLayout,
    link_id,
    show_option,
    sort_option,
    warn_unknown_columns,
)
from simdoc_search.cli.common import json_text, say
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.query_options import FilterPairs, filter_options, make_filters
from simdoc_search.display import describe_shown_hits, format_more_hits_hint

_DEFAULT_COLUMNS = ("size", "date")


@click.command("list", cls=Command, main_options=["--sort", "--show", "--filter", "--size", "--json"])
@click.argument("prefix_or_pattern", required=False, metavar="[PREFIX|PATTERN]", shell_complete=complete_ids)
@show_option
@sort_option("id", "", " Use `none` to print in storage order, without waiting for a sort.")
@click.option("--size", type=click.IntRange(min=1), help="Maximum number of documents.  [default: all]")
@filter_options
@index_options(reads_texts=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def list_command(
    prefix_or_pattern: str | None,
    show: tuple[str, ...],
    sort: str | None,
    size: int | None,
    filters: FilterPairs,
    excluded: FilterPairs,
    index: ChosenIndex,
    as_json: bool,
) -> None:
    """List the documents in the index.

    PREFIX is the beginning of an id, or an indexed folder; PATTERN is a glob pattern in quotes. '*.pdf' matches file
    names in any folder. 'a/*.pdf' matches paths.

    \b
      simdoc-search list reports/
      simdoc-search list '*.pdf'
      simdoc-search list --sort date --size 20
      simdoc-search list --show size,path,title --filter language=de --json
    """
    from simdoc_search.search.columns import Columns
    from simdoc_search.search.document_list import list_documents

    names = show or (() if as_json else _DEFAULT_COLUMNS)
    hidden_columns = ["path"] if sys.stdout.isatty() and "path" not in names else []
    opened_store = index.open()
    warn_unknown_columns(opened_store, [*show, *([sort] if sort and sort != "none" else [])])
    selection: dict[str, Any] = {"prefix_or_pattern": prefix_or_pattern, "filters": make_filters(filters, excluded)}
    is_sorted = sort != "none"
    columns, order = Columns([*names, *hidden_columns]), (sort or "id") if is_sorted else None
    layout, count = ColumnLayout(names), 0
    for row in list_documents(opened_store, columns, **selection, sort=order, limit=size):
        if as_json:
            click.echo(json_text({name: value for name, value in row.items() if name not in hidden_columns}))
            continue
        if not count:
            say(f"{layout.heading}document")
        count += 1
        click.echo(f"{layout.format_row(row)}{link_id(row['id'], row)}")
    if as_json:
        return
    if not count:
        say("no documents")
    elif count == size:
        # A sorted list has to read all documents anyway, so counting them is affordable. Otherwise, only find out
        # whether the list is incomplete.
        total = sum(
            1 for _ in list_documents(opened_store, Columns([]), **selection, limit=None if is_sorted else size + 1)
        )
        if total > count:
            shown = describe_shown_hits(count, total, singular="document", is_lower_bound=not is_sorted)
            say(f"{shown}.{format_more_hits_hint(count, total)}")
