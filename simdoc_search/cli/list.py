"""`simdoc-search list`: which documents are in the store?"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.columns import cells, heading, linked, say_unknown, show_option, sort_option
from simdoc_search.cli.common import errors_as_sentences, field_option, say, store_option
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.open_store import open_to_ask
from simdoc_search.cli.query_options import GivenFilters, filter_options, filters_of
from simdoc_search.display import harmless_json, show_more, showing

if TYPE_CHECKING:
    from simdoc_search.stores.location import EngineKind

_USUAL = ("size", "date")


@click.command("list")
@click.argument("prefix", required=False, metavar="[PREFIX]", shell_complete=complete_ids)
@show_option
@sort_option("path; none is the order of the store, at once")
@click.option("--reverse", is_flag=True, help="The other way round.")
@click.option("--limit", type=click.IntRange(min=1), help="Most documents to show.  [default: all]")
@filter_options
@field_option
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@errors_as_sentences
def list_documents(
    prefix: str | None,
    show: tuple[str, ...],
    sort: str | None,
    reverse: bool,
    limit: int | None,
    filters: GivenFilters,
    excluded: GivenFilters,
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """List the documents of the store, or those whose ids begin with PREFIX.

    PREFIX may also be an indexed folder, or a pattern in quotes: '*.pdf' is a name in any folder, 'a/*.pdf' a path.

    \b
      simdoc-search list reports/
      simdoc-search list '*.pdf'
      simdoc-search list --sort date --limit 20
      simdoc-search list --show size,path,title --filter language=de --json
    """
    from simdoc_search.search.columns import Columns
    from simdoc_search.search.document_list import list_documents

    names = show or (() if as_json else _USUAL)
    links = ["path"] if sys.stdout.isatty() and "path" not in names else []
    opened = open_to_ask(store, engine=engine, field=field)
    say_unknown(opened, [*show, *([sort] if sort and sort != "none" else [])])
    wanted: dict[str, Any] = {"prefix": prefix, "filters": filters_of(filters, excluded)}
    is_ordered = sort != "none"
    rows = list_documents(
        opened,
        Columns([*names, *links]),
        **wanted,
        sort=(sort or "id") if is_ordered else None,
        reverse=reverse,
        limit=limit,
    )
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    count = 0
    for row in rows:
        if as_json:
            kept = {name: value for name, value in row.items() if name not in links}
            click.echo(harmless_json(json.dumps(kept, ensure_ascii=not is_unicode)))
            continue
        if not count:
            say(f"{heading(names)}document")
        count += 1
        click.echo(f"{cells(names, row)}{linked(row['id'], row)}")
    if not count and not as_json:
        say("no documents")
    if count and count == limit and not as_json:
        # Documents in order were all read anyway. In the order of the store, one more is enough to know.
        total = sum(1 for _ in list_documents(opened, Columns([]), **wanted, limit=None if is_ordered else limit + 1))
        if total > count:
            shown = showing(count, total, what="document", at_least=not is_ordered)
            say(f"{shown}.{show_more(count, total, option='--limit')}")
