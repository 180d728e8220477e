"""`simdoc-search similar`: which documents share text with this one?"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.columns import Shown, cells, heading, linked, show_option, sort_option, sorted_hits
from simdoc_search.cli.common import errors_as_sentences, field_options, json_option, print_json, say, store_option
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.input_text import read_file, read_lines
from simdoc_search.cli.open_store import open_to_ask
from simdoc_search.cli.query_options import (
    Given,
    are_defaults,
    compat_options,
    completed,
    file_option,
    filter_options,
    filters_of,
    overlap_options,
    page_options,
    shortfall,
)
from simdoc_search.display import counted, documents_compared, estimate, percent, printable, show_more
from simdoc_search.errors import SimdocError
from simdoc_search.query.alfresco import parse_alfresco
from simdoc_search.query.clauses import has_clauses, with_filters
from simdoc_search.query.planner import Planner
from simdoc_search.query.plans import Threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simdoc_search.search import Hit, SearchResult
    from simdoc_search.stores.location import EngineKind

_FEW_SHINGLES = 100
"""Of a text of some hundred words. A document of ten times the length that contains it all overlaps it by 10 %."""

_FEW_LEFT_OUT = 3
"""Documents that are named each."""


@click.command()
@click.argument("fingerprint", required=False, metavar="[FINGERPRINT]", shell_complete=complete_ids)
@file_option
@click.option(
    "--all-from",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Ask every FINGERPRINT or path of a file, one a line or between NULs (find -print0); - reads stdin.",
)
@click.option("--text", help="Ask with this text; - reads it from stdin.")
@overlap_options
@click.option("--estimate", is_flag=True, help="Estimate the overlaps from the fingerprints, and read no texts.")
@click.option(
    "--measure",
    type=click.Choice(["jaccard", "containment", "contained"]),
    default="jaccard",
    show_default=True,
    help="What the overlap is: containment is the share of your document that a hit has, contained the share of a hit "
    "that yours has. Both are exact where texts are stored, and take no PROBABILITY.",
)
@page_options
@filter_options
@compat_options
@click.option("--include-self", is_flag=True, help="The document itself may be among the hits.")
@click.option("--fail-if-empty", is_flag=True, help="Exit code 1 if there is no hit, with --all-from in no answer.")
@show_option
@sort_option("the greatest overlap first")
@field_options
@store_option
@json_option
@errors_as_sentences
def similar(
    fingerprint: str | None,
    file: Path | None,
    text: str | None,
    all_from: Path | None,
    overlap: Fraction | None,
    probability: Fraction | None,
    planner: Planner,
    estimate: bool,
    measure: Any,
    size: int,
    offset: int,
    filters: Given,
    excluded: Given,
    compat: str | None,
    id_field: str | None,
    include_self: bool,
    fail_if_empty: bool,
    show: tuple[str, ...],
    sort: str | None,
    text_fields: tuple[str, ...],
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Find the documents that share text with a document, a file or a text.

    FINGERPRINT is ID[_OVERLAP[_PROBABILITY]], in percent. ID is a document's id, the path of its file, or its file
    name with or without the ending, if only one document has it. Quote an id that ends in numbers: '"report_2023"_20'.
    Filters may follow: 'FINGERPRINT:doc123_20 AND path:"reports/" AND NOT author:me'.

    \b
      simdoc-search similar doc123             whatever shares text with doc123
      simdoc-search similar doc123_20          all that overlap by 20 % or more
      simdoc-search similar doc123_20_80       what overlaps by 20 % is found with 80 % probability
      simdoc-search similar --file draft.txt --overlap 50
      simdoc-search similar doc123 --measure containment --overlap 50         who has half of doc123, however long
    """
    from simdoc_search.search import SimilaritySearch

    if sum(each is not None for each in (fingerprint, file, text, all_from)) != 1:
        raise click.UsageError("give one of FINGERPRINT, --file, --text or --all-from")
    search = SimilaritySearch(open_to_ask(store, id_field=id_field, engine=engine, text_field=text_fields, field=field))
    if fingerprint is not None and has_clauses(fingerprint):
        fingerprint, wanted, unwanted = with_filters(fingerprint)
        filters, excluded = (*filters, *wanted), (*excluded, *unwanted)
    options: dict[str, Any] = {
        "overlap": overlap,
        "probability": probability,
        "planner": planner,
        "size": size,
        "offset": offset,
        "filters": filters_of(filters, excluded),
        "verify": not estimate,
        "measure": measure,
    }
    shown = Shown(search.store, show, sort)
    exactly = not estimate or measure != "jaccard"
    read: Callable[[str], Any] = str
    if compat:
        read, include_self, options["planner"] = parse_alfresco, True, "all"
    ask = read
    if not (file or text) and are_defaults("overlap", "probability"):  # what a FINGERPRINT says comes before them
        options |= {"overlap": None, "probability": None}
        ask = lambda query: completed(search, read(query), overlap, probability)  # noqa: E731
    if all_from is not None:
        queries = read_lines(all_from)
        answers = search.similar_many(map(ask, queries), include_self=include_self, **options)
        found = _print_all(queries, answers, shown, as_json, exactly=exactly)
    else:
        if fingerprint is not None:
            result = search.similar(ask(fingerprint), include_self=include_self, **options)
        else:
            result = search.similar_to_text(_text(file, text), **options)
        _print(result, shown, as_json, exactly=exactly)
        found = bool(result.hits)
    if fail_if_empty and not found:
        raise SystemExit(1)


def _text(file: Path | None, text: str | None) -> str:
    return read_file(file or Path("-")) if file or text == "-" else text or ""


def _print_all(
    queries: list[str], answers: Iterable[SearchResult | SimdocError], shown: Shown, as_json: bool, *, exactly: bool
) -> bool:
    """All answers in order; those that failed too, and then the exit code is 1. Whether there is any hit."""
    from simdoc_search.as_json import similar_as_json

    failed, hits = 0, 0
    results: list[dict[str, Any]] = []
    for query, answer in zip(queries, answers, strict=True):
        failed += isinstance(answer, SimdocError)
        hits += 0 if isinstance(answer, SimdocError) else len(answer.hits)
        if as_json:
            found = {} if isinstance(answer, SimdocError) else shown.completed(similar_as_json(answer), answer.hits)
            error = {"error": str(answer)} if isinstance(answer, SimdocError) else found
            results.append({"fingerprint": query, **error})
            continue
        say(query)
        if isinstance(answer, SimdocError):
            say(f"Error: {answer}")
        else:
            _print_table(answer, shown, exactly=exactly)
        say()
    if as_json:
        print_json({"results": results})
    if failed:
        raise click.ClickException(f"{counted(failed, 'query', 'queries')} of {len(queries)} failed")
    return bool(hits)


def _print(result: SearchResult, shown: Shown, as_json: bool, *, exactly: bool) -> None:
    from simdoc_search.as_json import similar_as_json

    if as_json:
        print_json(shown.completed(similar_as_json(result), result.hits))
        return
    _print_table(result, shown, exactly=exactly)
    if result.measure == "jaccard" and result.query.overlap and result.shingles < _FEW_SHINGLES:
        hidden = "a long document that contains it overlaps less than asked for"
        say(f"note: the text is short; {hidden}: simdoc-search passages finds it", err=True)


def _print_table(result: SearchResult, shown: Shown, *, exactly: bool) -> None:
    values = shown.at(hit.place for hit in result.hits)
    if result.hits:
        say(f"{_column(result)}  {heading(shown.names)}document")
    for hit in sorted_hits(result.hits, shown, values):
        overlap = estimate(hit.overlap) if hit.kind == "estimated" else percent(hit.overlap)
        changed = "  (changed since it was indexed)" if hit.changed else ""
        said = cells(shown.names, values.get(hit.place)) + linked(hit.id, values.get(hit.place))
        tail = printable(_where(hit, result))
        click.echo(f"{overlap:>{len(_column(result))}}  {said}{tail}{changed}")
    say(_summary(result))
    if exactly and (count := sum(hit.kind == "estimated" for hit in result.hits)):
        say(f"note: {counted(count, 'overlap')} estimated, as the store has no text there", err=True)
    for each in result.left_out[:_FEW_LEFT_OUT]:
        say(f"left out: the document {each.id!r} {each.reason}; make its fingerprint again", err=True)
    if more := len(result.left_out[_FEW_LEFT_OUT:]):
        say(f"left out: {more} more like these; --json names them", err=True)


def _column(result: SearchResult) -> str:
    """What the overlap is called."""
    return "overlap" if result.measure == "jaccard" else result.measure


def _where(hit: Hit, result: SearchResult) -> str:
    """The index of a hit, where another one of its id is among the hits."""
    is_twice = any(each.id == hit.id and each.place != hit.place for each in result.hits)
    return f"  in {hit.place.index}" if is_twice else ""


def _summary(result: SearchResult) -> str:
    plan, overlap = result.plan, float(result.query.overlap or 0)
    total = len(result.hits) if result.total is None else result.total
    more = show_more(len(result.hits), total, result.offset)
    shown = f"{result.counts}.{more}" if more else result.counts
    if not result.hits:
        compared = f", {documents_compared(result.compared, result.candidates)}" if result.candidates else ""
        shown = f"nothing found{compared}"
    if isinstance(plan, Threshold) and not plan.is_tolerant:
        return shown
    chance = percent(plan.probability_of_finding(overlap))
    finds = f"an overlap of {100 * overlap:g} % is found with a probability of {chance}"
    return f"{shown}{'' if more else ';'} {finds}" + shortfall(result.query, plan)
