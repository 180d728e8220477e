"""What the commands that ask share: options for overlap, probability, filters and pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from simdoc_search.cli.common import say
from simdoc_search.documents import spellings
from simdoc_search.errors import SimdocError, StoreError
from simdoc_search.query.planner import PLANNERS
from simdoc_search.query.plans import Bands, Plan
from simdoc_search.query.syntax import FingerprintQuery, fraction_of_percent
from simdoc_search.stores.filters import none_of

if TYPE_CHECKING:
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.search.resolver import Question
    from simdoc_search.stores.base import Store

    ParamType = click.ParamType[Any]  # generic since click 8.4
else:
    ParamType = click.ParamType

Given = tuple[tuple[str, Any], ...]
"""Fields with their values, as a person gave them; a list: one of these."""

Command = TypeVar("Command", bound=Callable[..., Any])


class _Percent(ParamType):
    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return fraction_of_percent(str(value), param.name if param and param.name else "value")
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _Filter(ParamType):
    name = "field=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        field, equals, wanted = str(value).partition("=")
        if not equals or not field:
            self.fail(f"{value!r} is not a filter; write FIELD=VALUE, like language=de", param, ctx)
        return field, wanted


class _Day(click.DateTime):
    def __init__(self) -> None:
        super().__init__(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is not a date; write it like 2026-11-30 or 2026-11-30T18:00:00", param, ctx)


day_type: Final = _Day()

percent_type: Final = _Percent()


def page_options(command: Command) -> Command:
    """`--size` and `--offset`."""
    offset = click.option(
        "--offset", type=click.IntRange(min=0), default=0, help="Leave out so many of the best hits: the next page."
    )
    size = click.option("--size", type=click.IntRange(min=1), default=10, show_default=True, help="Most hits to show.")
    return size(offset(command))


file_option: Final = click.option(
    "--file",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Ask with the text of a file that need not be indexed; - reads stdin.",
)


def filter_options(command: Command) -> Command:
    """`--filter`, `--filter-any`, which adds to it, and `--exclude`."""
    excluded = click.option(
        "--exclude",
        "excluded",
        type=_Filter(),
        multiple=True,
        metavar="FIELD=VALUE",
        help="No documents with this metadata; path=PREFIX for a folder. If repeated, with none of them.",
    )
    wanted = click.option(
        "--filter",
        "filters",
        type=_Filter(),
        multiple=True,
        metavar="FIELD=VALUE",
        help="Only documents with this metadata; path=PREFIX for a folder. If repeated, all must hold.",
        is_eager=True,
    )
    some = click.option(
        "--filter-any",
        type=_Filter(),
        multiple=True,
        metavar="FIELD=VALUE",
        expose_value=False,
        callback=_any_of,
        help="The same; if repeated for a field, one of its values is enough.",
    )
    return wanted(some(excluded(command)))


def _any_of(context: click.Context, _parameter: click.Parameter, given: tuple[tuple[str, str], ...]) -> None:
    """The values of each field are one filter."""
    values: dict[str, list[str]] = {}
    for field, value in given:
        values.setdefault(field, []).append(value)
    context.params["filters"] = (*context.params.get("filters", ()), *values.items())


def filters_of(wanted: Given, excluded: Given) -> Sequence[dict[str, Any]]:
    """What these options ask for, as the library takes it."""
    return [{field: _values(field, value)} for field, value in wanted] + [
        {field: none_of(*_values(field, value))} for field, value in excluded
    ]


def _values(field: str, value: Any) -> list[str]:
    """What a field may be; the beginning of a path in each spelling."""
    given = [value] if isinstance(value, str) else value
    return [each for begin in given for each in spellings(begin)] if field == "path" else given


def say_what_excludes_nothing(store: Store, excluded: Given) -> None:
    """Name a field that no document has, or a path that none begins with: it may be written wrong."""
    from simdoc_search.search.filter_check import unknown_field

    for field, value in excluded:
        if error := unknown_field(store, {field: value}):
            say(f"note: nothing to exclude: {error}", err=True)


def compat_options(command: Command) -> Command:
    """--compat and --id-field: what Alfresco's strings name, and how they are read."""
    for option in (
        click.option("--id-field", metavar="FIELD", help="In an engine: documents are named by this field of theirs."),
        click.option(
            "--compat",
            type=click.Choice(["alfresco"]),
            help="Read FINGERPRINT and answer as Alfresco did: node references, 0.2 for 20 %, the "
            "document itself among the hits, --planner all.",
        ),
    ):
        command = option(command)
    return command


def overlap_options(command: Command) -> Command:
    """`--overlap`, `--probability` and `--planner`, which `--rows` takes the place of."""
    for option in (
        click.option(
            "--rows",
            type=click.IntRange(min=1),
            expose_value=False,
            callback=_rows,
            help="In place of --planner: how many parts must be equal together; see explain.",
        ),
        click.option(
            "--planner",
            type=click.Choice(PLANNERS),
            default="enough",
            show_default=True,
            help="What a query with a probability asks: no more than it needs, or all, as Alfresco; see explain.",
            is_eager=True,
        ),
        click.option(
            "--probability",
            type=percent_type,
            metavar="PERCENT",
            help="Chance of finding a document of just that overlap.",
        ),
        click.option(
            "--overlap", type=percent_type, metavar="PERCENT", help="Least overlap. FINGERPRINT is then an id alone."
        ),
    ):
        command = option(command)
    return command


def _rows(context: click.Context, _parameter: click.Parameter, rows: int | None) -> None:
    """Rows of a band are a planner."""
    if rows is None:
        return
    if context.get_parameter_source("planner") is not ParameterSource.DEFAULT:
        raise click.UsageError("--planner and --rows contradict each other; leave one out")
    context.params["planner"] = rows


def are_defaults(*names: str) -> bool:
    """Whether some options have what `simdoc.toml` says, and none of them was given."""
    sources = {click.get_current_context().get_parameter_source(name) for name in names}
    return ParameterSource.DEFAULT_MAP in sources and sources <= {ParameterSource.DEFAULT_MAP, ParameterSource.DEFAULT}


def completed(
    search: SimilaritySearch, query: Question, overlap: Fraction | None, probability: Fraction | None
) -> Question:
    """A query with these numbers where it says none itself; one that means no document as it is."""
    try:
        meant = search.resolve(query)
    except StoreError:
        raise
    except SimdocError:  # which its answer says
        return query
    return replace(
        meant,
        overlap=overlap if meant.overlap is None else meant.overlap,
        probability=probability if meant.probability is None else meant.probability,
    )


def shortfall(query: FingerprintQuery, plan: Plan) -> str:
    """What to add where the document has too few tokens for the probability asked for."""
    if not isinstance(plan, Bands) or query.overlap is None or query.probability is None:
        return ""
    if plan.probability_of_finding(float(query.overlap)) >= query.probability - Fraction(1, 10**9):
        return ""
    asked = f"{100 * float(query.probability):g} %"
    return f", less than the {asked} asked for: its fingerprint allows no more"
