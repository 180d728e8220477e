"""`simdoc-search similar`: which documents share text with this one?"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.asking import overlap_options, plan_as_json, query_as_json, shortfall
from simdoc_search.cli.common import counted, errors_as_sentences, json_option, print_json, printable, store_option
from simdoc_search.errors import SimdocError
from simdoc_search.query.curve import found
from simdoc_search.query.planner import Threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simdoc_search.search import SearchResult

__all__ = ["similar"]


class _Filter(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.4
    name = "field=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        field, equals, wanted = str(value).partition("=")
        if not equals or not field:
            self.fail(f"{value!r} is not a filter; write FIELD=VALUE, like language=de", param, ctx)
        return field, wanted


@click.command()
@click.argument("fingerprint", required=False, metavar="[FINGERPRINT]")
@click.option("--file", type=click.Path(path_type=Path), help="Ask with the text of a file that need not be indexed.")
@click.option(
    "--all-from",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Ask every FINGERPRINT of a file, one a line; - reads stdin.",
)
@click.option("--text", help="Ask with this text; - reads it from stdin.")
@overlap_options
@click.option("--size", type=click.IntRange(min=1), default=10, show_default=True, help="Most hits to show.")
@click.option(
    "--filter",
    "filters",
    type=_Filter(),
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only documents with this metadata; path=PREFIX for a folder. May be repeated.",
)
@click.option(
    "--compat",
    type=click.Choice(["alfresco"]),
    help="Read FINGERPRINT and answer as Alfresco did: node references, 0.2 for 20 %, all tokens in bands, the "
    "document itself among the hits.",
)
@click.option("--id-field", metavar="FIELD", help="In an engine: documents are named by this keyword field.")
@click.option("--include-self", is_flag=True, help="The document itself may be among the hits.")
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
    planner: str,
    size: int,
    filters: tuple[tuple[str, str], ...],
    compat: str | None,
    id_field: str | None,
    include_self: bool,
    store: str,
    as_json: bool,
) -> None:
    """Find the documents that share text with a document, a file or a text.

    FINGERPRINT is ID[_OVERLAP[_PROBABILITY]], in percent. ID is a document's id, or its file name with or without
    the ending, if only one document has it. Quote an id that ends in numbers: '"report_2023"_20'.

    \b
      simdoc-search similar doc123             whatever shares text with doc123
      simdoc-search similar doc123_20          all whose estimated overlap is 20 % or more
      simdoc-search similar doc123_20_80       fewer terms: 20 % is a candidate with 80 % probability
      simdoc-search similar --file draft.txt --overlap 50
    """
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores import open_store

    if sum(each is not None for each in (fingerprint, file, text, all_from)) != 1:
        raise click.UsageError("give one of FINGERPRINT, --file, --text or --all-from")
    search = SimilaritySearch(open_store(store, id_field=id_field))
    options: dict[str, Any] = {
        "overlap": overlap,
        "probability": probability,
        "planner": planner,
        "size": size,
        "filters": _together(filters),
    }
    read: Callable[[str], Any] = str
    if compat:
        from simdoc_search.query.alfresco import parse_alfresco

        read, include_self, options["planner"] = parse_alfresco, True, "all"
    if all_from is not None:
        queries = _lines(all_from)
        _print_all(queries, search.similar_many(map(read, queries), include_self=include_self, **options), as_json)
        return
    if fingerprint is not None:
        result = search.similar(read(fingerprint), include_self=include_self, **options)
    else:
        result = search.similar_to_text(_read(file, text), **options)
    if as_json:
        print_json(_as_json(result))
    else:
        _print_table(result)


def _together(filters: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    """Values by field; a document must have all of them."""
    values: dict[str, list[str]] = {}
    for field, value in filters:
        values.setdefault(field, []).append(value)
    return values


def _read(file: Path | None, text: str | None) -> str:
    from simdoc_search.corpus import read_text, read_text_stream

    if file is not None:
        return read_text(file)
    if text == "-":
        return read_text_stream(sys.stdin.buffer, "stdin").text
    return text or ""


def _lines(file: Path) -> list[str]:
    """The lines of a file that are not empty."""
    from simdoc_search.corpus import read_text, read_text_stream

    text = read_text_stream(sys.stdin.buffer, "stdin").text if str(file) == "-" else read_text(file)
    return [line.strip() for line in text.splitlines() if line.strip()]


def _print_all(queries: list[str], answers: Iterable[SearchResult | SimdocError], as_json: bool) -> None:
    """All answers in order; those that failed too, and then the exit code is 1."""
    failed = 0
    results: list[dict[str, Any]] = []
    for query, answer in zip(queries, answers, strict=True):
        failed += isinstance(answer, SimdocError)
        if as_json:
            error = {"error": str(answer)} if isinstance(answer, SimdocError) else _as_json(answer)
            results.append({"fingerprint": query, **error})
            continue
        click.echo(printable(query))
        if isinstance(answer, SimdocError):
            click.echo(f"Error: {printable(str(answer))}")
        else:
            _print_table(answer)
        click.echo()
    if as_json:
        print_json({"results": results})
    if failed:
        raise click.ClickException(f"{counted(failed, 'query', 'queries')} of {len(queries)} failed")


def _as_json(result: SearchResult) -> dict[str, Any]:
    return {
        "query": query_as_json(result.query),
        "plan": plan_as_json(result.plan),
        "candidates": result.candidates,
        "hits": [
            {"id": hit.id, "overlap": round(hit.overlap, 6), "matched": hit.matched, "kind": hit.kind}
            for hit in result.hits
        ],
    }


def _print_table(result: SearchResult) -> None:
    if result.hits:
        click.echo("overlap  equal tokens  document")
    for hit in result.hits:
        click.echo(f"{hit.overlap:>7.1%}  {hit.matched:>12}  {printable(hit.id)}")
    click.echo(_summary(result))


def _summary(result: SearchResult) -> str:
    plan, overlap = result.plan, float(result.query.overlap or 0)
    shown = f"{len(result.hits)} of {counted(result.candidates, 'candidate')}" if result.hits else "nothing found"
    if isinstance(plan, Threshold):
        return f"{shown}; at least {plan.minimum_match} of {counted(len(plan.tokens), 'token')} equal"
    return (
        f"{shown}; {counted(len(plan.bands), 'band')} of {counted(plan.rows, 'token')}, "
        f"which find an overlap of {100 * overlap:g} % with a probability of {found(plan, overlap):.1%}"
        + shortfall(result.query, plan)
    )
