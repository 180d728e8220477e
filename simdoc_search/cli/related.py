"""`simdoc-search related`: finds documents on the same topic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from simdoc_search.cli.columns import HitColumns, show_option, sort_option
from simdoc_search.cli.common import json_option, print_json
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.groups_output import all_documents_options, check_all_documents_options, show_topics
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.index_options import synonyms_option
from simdoc_search.cli.input_text import read_query_arguments
from simdoc_search.cli.query_options import FilterPairs, file_option, filter_options, make_filters, page_options
from simdoc_search.cli.related_output import related_lines
from simdoc_search.cli.threshold_options import convert_thresholds, threshold_options


@click.command(cls=Command, main_options=["--file", "--text", "--all", "--explain", "--size"], shows_time=True)
@click.argument("id", required=False, metavar="[ID]", shell_complete=complete_ids)
@all_documents_options("Group all documents in the index by topic.", "pairs of related documents")
@file_option
@click.option("--text", help="Query with this text. Use - for stdin.")
@page_options
@synonyms_option("File with the synonyms that the index was created with, if any. Needed for --file and --text.")
@click.option("--explain", is_flag=True, help="List the shared concepts, with their weights and shares of the score.")
@threshold_options
@filter_options
@show_option
@sort_option("highest score first")
@index_options()
@json_option
def related(
    id: str | None,
    all_documents: bool,
    edges: Path | None,
    file: Path | None,
    text: str | None,
    size: int,
    offset: int,
    synonyms: Path | None,
    explain: bool,
    filters: FilterPairs,
    excluded: FilterPairs,
    show: tuple[str, ...],
    sort: str | None,
    index: ChosenIndex,
    as_json: bool,
    **thresholds: Any,
) -> None:
    """Find documents on the same topic as a document, file or text.

    Related documents share names and keywords, which are called concepts. Rare concepts count more. Related
    documents score 0.5 to 0.75, and versions score 0.75 or more. The index must have concepts. To recognise versions,
    it also needs sentences. To add both to an existing index, run: simdoc-search index --with versions,related

    \b
      simdoc-search related doc123
      simdoc-search related doc123 --explain    show the reasons
      simdoc-search related --file essay.pdf --json
      simdoc-search related --all --edges pairs.csv        list the topics of all documents
      simdoc-search related --file note.txt --synonyms synonyms.txt
    """
    from simdoc_search.as_json.related import related_as_json
    from simdoc_search.concepts import read_synonyms
    from simdoc_search.search.similarity_search import SimilaritySearch

    other_arguments = {"ID": id, "--file": file, "--text": text, "--explain": explain, "--show": show, "--sort": sort}
    check_all_documents_options(all_documents, edges, other_arguments)
    if not all_documents and sum(source is not None for source in (id, file, text)) != 1:
        raise click.UsageError("give one of ID, --file, --text or --all")
    search = SimilaritySearch(index.open())
    synonym_map = None if synonyms is None else read_synonyms(synonyms)
    options: dict[str, Any] = {"filters": make_filters(filters, excluded), **convert_thresholds(thresholds)}
    if all_documents:
        show_topics(search, options, (size, offset), edges, synonyms=synonym_map, as_json=as_json)
        return
    options |= {"size": size, "offset": offset, "explain": explain, "synonyms": synonym_map}
    query, query_id = read_query_arguments(search, id, file, lambda _: {"name": str(file)}, text)
    result = search.related(**query, **options)
    columns = HitColumns(search.store, show, sort)
    if as_json:
        value = related_as_json(result, query_id, None if file is None else str(file))
        print_json(columns.add_to_json(value, result.hits))
        return
    for line in related_lines(result, columns, query_id if file is not None else None):
        click.echo(line)
