"""Output of `simdoc-search similar`, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.columns import ColumnLayout, format_hit_id, link_id, sort_hits
from simdoc_search.cli.common import fail_if_queries_failed, left_out_lines, print_json, renewal_advice, say
from simdoc_search.cli.query_options import describe_token_shortfall
from simdoc_search.display import (
    describe_compared_documents,
    format_count,
    format_estimate,
    format_more_hits_hint,
    format_percent,
)
from simdoc_search.errors import SimdocError
from simdoc_search.query.plans import ThresholdPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simdoc_search.cli.columns import HitColumns
    from simdoc_search.search.similar_result import SearchResult

_HEADINGS = {"jaccard": "overlap", "containment": "share of your text", "reverse_containment": "share of the match"}
"""The heading of the first column, for each measure."""

_MIN_LONG_TEXT_SHINGLES = 100
"""A text with fewer shingles is short. A document that contains it and is ten times as long has an overlap of 10 %."""


def print_many(
    queries: Sequence[str],
    answers: Iterable[SearchResult | SimdocError],
    columns: HitColumns,
    as_json: bool,
    *,
    expects_exact: bool,
) -> int:
    """Print all answers in order, and return the number of hits."""
    from simdoc_search.as_json.similar import similar_as_json

    hit_count, failures = 0, list[tuple[str, str]]()
    results: list[dict[str, Any]] = []
    for query, answer in zip(queries, answers, strict=True):
        if not as_json:
            say(query)
        if isinstance(answer, SimdocError):
            failures.append((query, str(answer)))
            value = {"error": str(answer)}
            if not as_json:
                say(f"Error: {answer}")
        else:
            hit_count += len(answer)
            if as_json:
                value = columns.add_to_json(similar_as_json(answer), answer.hits)
            else:
                _print_table(answer, columns, expects_exact=expects_exact)
        if as_json:
            results.append({"fingerprint": query, **value})
        else:
            say()
    if as_json:
        print_json({"results": results})
    fail_if_queries_failed(failures, len(queries), as_json)
    return hit_count


def print_result(result: SearchResult, columns: HitColumns, as_json: bool, *, expects_exact: bool) -> None:
    """Print one result. `expects_exact` says whether the user expects exact overlaps."""
    from simdoc_search.as_json.similar import similar_as_json

    if as_json:
        print_json(columns.add_to_json(similar_as_json(result), result.hits))
        return
    _print_table(result, columns, expects_exact=expects_exact)
    is_short = result.shingle_count < _MIN_LONG_TEXT_SHINGLES
    if not result.hits and result.measure == "jaccard" and result.query.overlap and is_short:
        say(
            "note: the text is short, so a long document that contains the text may not reach the minimum overlap. "
            "Find such documents with: simdoc-search passages",
            err=True,
        )


def _print_table(result: SearchResult, columns: HitColumns, *, expects_exact: bool) -> None:
    values = columns.read(hit.key for hit in result.hits)
    layout = ColumnLayout(columns.names, values.values())
    heading = _HEADINGS[result.measure]
    ids = [hit.id for hit in result.hits]
    if result.hits:
        say(f"{heading}  {layout.heading}document")
    for hit in sort_hits(result.hits, columns, values):
        overlap = format_estimate(hit.overlap) if hit.kind == "estimated" else format_percent(hit.overlap)
        id = format_hit_id(hit.key, ids, result.query.id)
        name = layout.format_row(values.get(hit.key)) + link_id(id, values.get(hit.key))
        changed = "  (changed after indexing)" if hit.changed else ""
        click.echo(f"{overlap:>{len(heading)}}  {name}{changed}")
    say(_summary(result))
    advice = renewal_advice(columns.store)
    if result.changed:
        say(f"note: the query document changed after indexing; {advice}", err=True)
    if result.text_note:
        say(f"note: {result.text_note}", err=True)
    if expects_exact and (count := sum(hit.kind == "estimated" for hit in result.hits)):
        overlaps_are = format_count(count, "overlap is", "overlaps are")
        say(f"note: {overlaps_are} estimated, because the index does not have both texts", err=True)
    for line in left_out_lines([f"{left_out.id!r} {left_out.reason}; {advice}" for left_out in result.left_out]):
        say(line, err=True)


def _summary(result: SearchResult) -> str:
    plan, overlap = result.plan, float(result.query.overlap or 0)
    total = len(result.hits) if result.total is None else result.total
    more = format_more_hits_hint(len(result.hits), total, result.offset)
    summary = f"{result.page_description}.{more}" if more else result.page_description
    if not result.hits:
        compared = (
            f", {describe_compared_documents(result.compared_count, result.candidate_count)}"
            if result.candidate_count
            else ""
        )
        summary = f"nothing found{compared}"
    if isinstance(plan, ThresholdPlan) and not plan.allows_lower_estimates:
        return summary
    chance = format_percent(plan.probability_of_finding(overlap))
    guarantee = f"document with an overlap of {100 * overlap:g} % is found with a probability of at least {chance}"
    return f"{summary}{' A' if more else '; a'} {guarantee}" + describe_token_shortfall(result.query, plan)
