"""`simdoc-search versions`: which of these is the newest, and what changed?"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.asking import Given, file_option, filter_options, filters_of, page_options, percent_type
from simdoc_search.cli.common import errors_as_sentences, json_option, print_json, say, store_option, text_field_option
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.one_source import one_source
from simdoc_search.cli.versions_output import lines_of, matched_lines, texts_of
from simdoc_search.cli.versions_page import write_page

if TYPE_CHECKING:
    from simdoc_search.stores.location import EngineKind

__all__ = ["versions"]


@click.command()
@click.argument("id", required=False, metavar="[ID]", shell_complete=complete_ids)
@file_option
@page_options
@click.option(
    "--enough",
    type=percent_type,
    metavar="PERCENT",
    help="Versions have so many of the sentences of one in the other.  [default: 50]",
)
@click.option(
    "--least",
    type=percent_type,
    metavar="PERCENT",
    help="And of the sentences of the other at least so many.  [default: 10]",
)
@filter_options
@click.option("--no-version-control", is_flag=True, help="Do not ask git when the files were last committed.")
@click.option("--sentences", is_flag=True, help="List which sentence is like which.")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write one page: each step opens side by side."
)
@text_field_option
@store_option
@json_option
@errors_as_sentences
def versions(
    id: str | None,
    file: Path | None,
    size: int,
    offset: int,
    enough: Fraction | None,
    least: Fraction | None,
    filters: Given,
    excluded: Given,
    no_version_control: bool,
    sentences: bool,
    html: Path | None,
    text_fields: tuple[str, ...],
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Find the versions of a document or a file, and say which is the newest and what changed.

    Documents are versions if half of the sentences of one are in the other, nearly word for word, and a tenth the other
    way round. They are ordered by dates in their metadata or names, by v2 and final in names, by their last commits
    or the times of their files; without any, an order is proposed. The index must have sentences: simdoc-search index
    --with versions.

    \b
      simdoc-search versions contract.docx                  the versions, oldest first, with what changed
      simdoc-search versions --file draft.pdf --html versions.html
      simdoc-search versions doc123 --sentences --json
    """
    from simdoc_search.as_json import versions_as_json
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores import open_store

    if (id is None) == (file is None):
        raise click.UsageError("give one of ID or --file")
    search = SimilaritySearch(open_store(store, engine=engine, text_field=text_fields))
    options: dict[str, Any] = {
        "size": size,
        "offset": offset,
        "filters": filters_of(filters, excluded),
        "version_control": not no_version_control,
        **{name: float(value) for name, value in (("enough", enough), ("least", least)) if value is not None},
    }
    given, own = one_source(search, id, file, lambda read: {"file": file, "metadata": read.metadata})
    result = search.versions(**given, **options)
    texts = texts_of(search, result) if sentences or html else {}
    if html:
        write_page(html, result, texts, search.store.settings)
    if as_json:
        analysis = search.store.settings.analysis if sentences else None
        print_json(versions_as_json(result, own, None if file is None else str(file), texts, analysis))
        return
    for line in lines_of(result, own if file is not None else None, store):
        say(line)
    if sentences:
        for line in matched_lines(result, texts, search.store.settings.analysis):
            say(line)
    if html:
        say(f"page: {html}")
