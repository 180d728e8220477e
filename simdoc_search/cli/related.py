"""`simdoc-search related`: which documents are about the same?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.all_documents import all_options, check_all, show_topics
from simdoc_search.cli.columns import Shown, cells, linked, show_option, sort_option, sorted_hits
from simdoc_search.cli.common import errors_as_sentences, field_options, json_option, print_json, store_option
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.input_text import read_file
from simdoc_search.cli.limit_options import given_limits, limit_options
from simdoc_search.cli.open_store import open_to_ask
from simdoc_search.cli.query_document import one_source
from simdoc_search.cli.query_options import Given, file_option, filter_options, filters_of, page_options
from simdoc_search.cli.related_explain import explanation_lines
from simdoc_search.cli.sketch_options import synonyms_option
from simdoc_search.display import counted, documents_compared, printable, show_more, showing

if TYPE_CHECKING:
    from simdoc_search.search import RelatedResult
    from simdoc_search.stores.location import EngineKind

_NAMED = 8
"""Concepts that are named of each hit."""


@click.command()
@click.argument("id", required=False, metavar="[ID]", shell_complete=complete_ids)
@all_options("Group the whole collection by topic.")
@file_option
@click.option("--text", help="Ask with this text; - reads it from stdin.")
@page_options
@synonyms_option("The synonyms that the index was made with, if it was: its file is needed for --file.")
@click.option(
    "--explain", is_flag=True, help="List the concepts that both have: what each weighs, and its part of the score."
)
@limit_options
@filter_options
@show_option
@sort_option("the greatest score first")
@field_options
@store_option
@json_option
@errors_as_sentences
def related(
    id: str | None,
    whole: bool,
    edges: Path | None,
    file: Path | None,
    text: str | None,
    size: int,
    offset: int,
    synonyms: Path | None,
    explain: bool,
    filters: Given,
    excluded: Given,
    show: tuple[str, ...],
    sort: str | None,
    text_fields: tuple[str, ...],
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
    **limits: Any,
) -> None:
    """Find the documents on the same topic as a document, a file or a text, in whatever words.

    They share names and key phrases; rare ones count more. Related documents score 0.5 to 0.75. Versions score 0.75 and
    more, if the index has sentences too. Add what this command needs once, with: simdoc-search index --with relations

    \b
      simdoc-search related doc123                         which documents, and what both are about
      simdoc-search related doc123 --explain               which concepts make the score
      simdoc-search related --file essay.pdf --json
      simdoc-search related --all --edges graph.graphml    the topics of the whole collection
      simdoc-search related --file note.txt --synonyms synonyms.txt
    """
    from simdoc_search.as_json import related_as_json
    from simdoc_search.concepts import read_synonyms
    from simdoc_search.search import SimilaritySearch

    of_one = {"ID": id, "--file": file, "--text": text, "--explain": explain, "--show": show, "--sort": sort}
    check_all(whole, edges, of_one)
    if not whole and sum(each is not None for each in (id, file, text)) != 1:
        raise click.UsageError("give one of ID, --file, --text or --all")
    search = SimilaritySearch(open_to_ask(store, engine=engine, text_field=text_fields, field=field))
    read = None if synonyms is None else read_synonyms(synonyms)
    options: dict[str, Any] = {"filters": filters_of(filters, excluded), **given_limits(limits)}
    if whole:
        show_topics(search, options, (size, offset), edges, synonyms=read, as_json=as_json)
        return
    options |= {"size": size, "offset": offset, "explain": explain, "synonyms": read}
    given, own = one_source(
        search, id, file, lambda _: {"name": str(file)}, read_file(Path("-")) if text == "-" else text
    )
    result = search.related(**given, **options)
    shown = Shown(search.store, show, sort)
    if as_json:
        found = related_as_json(result, own, None if file is None else str(file))
        print_json(shown.completed(found, result.hits))
        return
    for line in _lines(result, shown, own if file is not None else None):
        click.echo(line)


def _lines(result: RelatedResult, shown: Shown, own: str | None) -> list[str]:
    """The answer for people."""
    lines = []
    values = shown.at(hit.place for hit in result.hits)
    for hit in sorted_hits(result.hits, shown, values):
        more = f" and {len(hit.concepts) - _NAMED} more" if len(hit.concepts) > _NAMED else ""
        named = ", ".join(hit.concepts[:_NAMED]) + more or f"{counted(hit.shared, 'telling word')} in common"
        said = cells(shown.names, values.get(hit.place)) + linked(hit.id, values.get(hit.place))
        lines.append(f"{hit.score:.2f}  {hit.kind:<7}  {said}")
        lines.append(f"      {printable(named)}")
        lines += [f"      {printable(each)}" for each in explanation_lines(hit)]
    if not lines:
        lines.append("nothing is related to it")
    if own is not None:
        lines.append(printable(f"without the document {own!r}, which is this file"))
    lines.append(documents_compared(result.compared, result.candidates))
    if more := show_more(len(result.hits), result.total, result.offset):
        is_least = result.compared < result.candidates
        counts = showing(len(result.hits), result.total, result.offset, "related document", at_least=is_least)
        lines.append(f"{counts}.{more}")
    if result.hits and result.unnamed:
        lines.append(printable(f"concepts are not named: {result.unnamed}"))
    return lines
