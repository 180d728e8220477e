"""`simdoc-search similar`: finds documents that share text."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.columns import HitColumns, show_option, sort_option
from simdoc_search.cli.common import json_option
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.index_paths import in_option, open_paths
from simdoc_search.cli.input_text import read_file, read_lines, read_text
from simdoc_search.cli.query_options import (
    FilterPairs,
    apply_defaults,
    are_options_only_in_config,
    compat_options,
    file_option,
    filter_options,
    make_filters,
    measure_option,
    overlap_options,
    page_options,
)
from simdoc_search.cli.similar_output import print_many, print_result
from simdoc_search.errors import QuerySyntaxError, UnknownDocumentError
from simdoc_search.query.alfresco import parse_alfresco
from simdoc_search.query.clauses import has_other_clauses, missing_fingerprint_error, parse_fingerprint_and_filters
from simdoc_search.query.planner import Planner

if TYPE_CHECKING:
    from collections.abc import Callable


@click.command(cls=Command, main_options=["--file", "--in", "--overlap", "--text", "--size"], shows_time=True)
@click.argument("query_string", required=False, metavar="[QUERY]", shell_complete=complete_ids)
@file_option
@in_option
@click.option(
    "--all-from",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Query with each QUERY or path in a file, one per line or separated by NUL (find -print0). Use - for stdin.",
)
@click.option("--text", help="Query with this text. Use - for stdin.")
@overlap_options
@click.option("--estimate", is_flag=True, help="Estimate overlaps from the fingerprints, without reading texts.")
@measure_option("documents", "your document", "the hit", " Only the default can be combined with a probability.")
@page_options
@filter_options
@compat_options
@click.option("--include-self", is_flag=True, help="Also return the query document as a hit.")
@click.option("--fail-if-empty", is_flag=True, help="Exit with status 1 if there are no hits.")
@show_option
@sort_option("highest overlap first")
@index_options()
@json_option
def similar(
    query_string: str | None,
    file: Path | None,
    in_paths: tuple[Path, ...],
    text: str | None,
    all_from: Path | None,
    overlap: Fraction | None,
    probability: Fraction | None,
    planner: Planner,
    estimate: bool,
    measure: Any,
    size: int,
    offset: int,
    filters: FilterPairs,
    excluded: FilterPairs,
    compat: str | None,
    id_field: str | None,
    include_self: bool,
    fail_if_empty: bool,
    show: tuple[str, ...],
    sort: str | None,
    index: ChosenIndex,
    as_json: bool,
) -> None:
    """Find documents that share text with a document, file or text.

    QUERY is the id of a document, or ID_OVERLAP_PROBABILITY such as doc123_20_80.

    \b
      simdoc-search similar doc123             all documents that share text
      simdoc-search similar --file draft.txt --overlap 50
      simdoc-search similar doc123_20_80       overlap of 20 %, probability 80 %

    \b
      simdoc-search similar doc123_20          an overlap of 20 % or more
      simdoc-search similar doc123_20_80       faster: found with a probability of 80 %
      simdoc-search similar doc123 --measure containment --overlap 50

    The overlap and the probability are in percent. Both, or only the probability, can be omitted. ID is a document's
    id, the path of its file, or its file name if only one document has it. The extension may be omitted. Quote an id
    that ends in numbers: '"report_2023"_20'.
    To add filters to QUERY, write FINGERPRINT: before the id: 'FINGERPRINT:doc123_20 AND path:"reports/" AND NOT
    author:me'.
    """
    if sum(source is not None for source in (query_string, file, text, all_from)) != 1:
        raise click.UsageError("give one of QUERY, --file, --text or --all-from")

    indexed, filters_of_paths = open_paths(
        in_paths, index, workers=os.cpu_count() or 1, quiet=as_json, id_field=id_field
    )
    search = indexed.search
    if query_string is not None and has_other_clauses(query_string):
        query_string, required, unwanted = parse_fingerprint_and_filters(query_string)
        filters, excluded = (*filters, *required), (*excluded, *unwanted)
    options: dict[str, Any] = {
        "overlap": overlap,
        "probability": probability,
        "planner": "all" if compat else planner,
        "size": size,
        "offset": offset,
        "filters": [*make_filters(filters, excluded), *filters_of_paths],
        "include_self": include_self or bool(compat),
        "verify": not estimate,
        "measure": measure,
    }
    parse: Callable[[str], Any] = parse_alfresco if compat else str
    query = parse
    # Values in QUERY take precedence over those in simdoc.toml.
    if not (file or text) and are_options_only_in_config("overlap", "probability"):
        options |= {"overlap": None, "probability": None}
        query = lambda name: apply_defaults(search, parse(name), overlap, probability)  # noqa: E731
    columns = HitColumns(search.store, show, sort)
    expects_exact = not estimate or measure != "jaccard"
    if all_from is not None:
        names = read_lines(all_from)
        answers = search.similar_many(map(query, names), **options)
        hit_count = print_many(names, answers, columns, as_json, expects_exact=expects_exact)
    else:
        if query_string is not None:
            try:
                result = search.similar(query(query_string), **options)
            except (QuerySyntaxError, UnknownDocumentError) as error:
                raise missing_fingerprint_error(query_string) or error from None
        else:
            result = search.similar(text=read_file(file) if file else read_text(text or ""), **options)
        print_result(result, columns, as_json, expects_exact=expects_exact)
        hit_count = len(result)
    if indexed.problems or (fail_if_empty and not hit_count):
        raise SystemExit(1)
