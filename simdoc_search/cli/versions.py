"""`simdoc-search versions`: finds the versions of a document, their order, and what changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import json_option, print_json, say, workers_option
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.groups_output import all_documents_options, check_all_documents_options, show_families
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.index_paths import in_option, open_paths
from simdoc_search.cli.input_text import read_query_arguments
from simdoc_search.cli.query_options import FilterPairs, file_option, filter_options, make_filters, page_options
from simdoc_search.cli.threshold_options import convert_thresholds, threshold_options
from simdoc_search.cli.versions_output import (
    find_symbolic_links,
    read_version_texts,
    sentence_lines,
    version_lines,
)
from simdoc_search.cli.versions_page import write_page

if TYPE_CHECKING:
    pass


@click.command(cls=Command, main_options=["--file", "--in", "--all", "--html", "--size"], shows_time=True)
@click.argument("id", required=False, metavar="[ID]", shell_complete=complete_ids)
@all_documents_options("Find all families of versions in the index.", "pairs of versions")
@file_option
@in_option
@page_options
@threshold_options
@filter_options
@click.option("--no-version-control", is_flag=True, help="Do not look up each file's last commit in git.")
@workers_option
@click.option("--sentences", is_flag=True, help="List the pairs of similar sentences.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write an HTML page on which you can open each version side by side with the previous one.",
)
@index_options()
@json_option
def versions(
    id: str | None,
    all_documents: bool,
    edges: Path | None,
    file: Path | None,
    in_paths: tuple[Path, ...],
    size: int,
    offset: int,
    filters: FilterPairs,
    excluded: FilterPairs,
    no_version_control: bool,
    workers: int,
    sentences: bool,
    html: Path | None,
    index: ChosenIndex,
    as_json: bool,
    **thresholds: Any,
) -> None:
    """Find the versions of a document, their order and changes.

    \b
      simdoc-search versions contract.docx   list the versions, oldest first
      simdoc-search versions --file draft.pdf --in ~/Contracts
      simdoc-search versions doc123 --sentences --json
      simdoc-search versions --all           list the families of versions

    The order is based on dates in metadata and names, on versions in names (v2, final), on commits and on modification
    times. The command names the newest version only if this evidence agrees. Otherwise it prints the conflicting
    evidence. Documents whose place in the order is unknown are listed last.

    Two documents are versions of each other if they share at least half of the sentences of one document, and at least
    a tenth of the sentences of the other document. Shared sentences may differ slightly. A shared letterhead does not
    count. You can query any store that has texts. If the index also has sentences (index --with versions), queries are
    faster (0.1 s instead of 1 s with 357 documents).
    """
    from simdoc_search.as_json.versions import versions_as_json

    check_all_documents_options(
        all_documents, edges, {"ID": id, "--file": file, "--sentences": sentences, "--html": html}
    )
    if not all_documents and (id is None) == (file is None):
        raise click.UsageError("give one of ID, --file or --all")

    indexed, filters_of_paths = open_paths(in_paths, index, workers=workers, quiet=as_json)
    search, all_filters = indexed.search, [*make_filters(filters, excluded), *filters_of_paths]
    options: dict[str, Any] = {"filters": all_filters, **convert_thresholds(thresholds)}
    if all_documents:
        options["workers"] = workers
        show_families(search, options, (size, offset), edges, use_git=not no_version_control, as_json=as_json)
    else:
        options |= {"size": size, "offset": offset, "use_git": not no_version_control}
        query, query_id = read_query_arguments(
            search, id, file, lambda document: {"file": file, "metadata": document.metadata}
        )
        result = search.versions(**query, **options)
        texts = read_version_texts(search, result) if sentences or html else {}
        analysis = search.store.settings.analysis
        if html:
            write_page(html, result, texts, search.store.settings)
        if as_json:
            file_name = None if file is None else str(file)
            print_json(versions_as_json(result, query_id, file_name, texts, analysis if sentences else None))
        else:
            links = find_symbolic_links(search, result)
            lines = [*version_lines(result, query_id if file is not None else None, index.location, links)]
            lines += sentence_lines(result, texts, analysis) if sentences else []
            for line in [*lines, *([f"page: {html}"] if html else [])]:
                say(line)
    if indexed.problems:
        raise SystemExit(1)
