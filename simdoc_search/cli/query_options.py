"""Options of commands that query a store: overlap and its measure, probability, filters, and pages of hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from simdoc_search.cli.common import Decorator, add_options, say
from simdoc_search.documents import unicode_forms
from simdoc_search.errors import SimdocError, StoreError
from simdoc_search.query.planner import PLANNERS
from simdoc_search.query.plans import BandPlan, Plan
from simdoc_search.query.syntax import FingerprintQuery, parse_percentage
from simdoc_search.stores.filters import none_of

if TYPE_CHECKING:
    from simdoc_search.search.resolver import Query
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.stores.base import Store

    ParamType = click.ParamType[Any]  # the class is generic since click 8.4
else:
    ParamType = click.ParamType

FilterPairs = tuple[tuple[str, Any], ...]
"""Pairs of a field and its value, as the user gave them. A list of values matches any of them."""


class _PercentType(ParamType):
    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return parse_percentage(str(value), param.name if param and param.name else "value")
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _FilterType(ParamType):
    name = "field=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        field, equals, field_value = str(value).partition("=")
        if not equals or not field:
            self.fail(f"{value!r} is not a filter; write FIELD=VALUE, such as language=de", param, ctx)
        return field, field_value


class _DateType(click.DateTime):
    def __init__(self) -> None:
        super().__init__(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is not a date; write it as 2026-11-30 or 2026-11-30T18:00:00", param, ctx)


date_type: Final = _DateType()

percent_type: Final = _PercentType()


page_options: Final = add_options(
    click.option("--size", type=click.IntRange(min=1), default=10, show_default=True, help="Maximum number of hits."),
    click.option("--offset", type=click.IntRange(min=0), default=0, help="Number of hits to skip."),
)

file_option: Final = click.option(
    "--file",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Query with the text of a file, which need not be indexed. Use - for stdin.",
)


def _add_any_filters(context: click.Context, _parameter: click.Parameter, given: tuple[tuple[str, str], ...]) -> None:
    """Add one filter per field. It matches any of the values given for this field."""
    values: dict[str, list[str]] = {}
    for field, value in given:
        values.setdefault(field, []).append(value)
    context.params["filters"] = (*context.params.get("filters", ()), *values.items())


filter_options: Final = add_options(
    click.option(
        "--filter",
        "filters",
        type=_FilterType(),
        multiple=True,
        metavar="FIELD=VALUE",
        help="Only include documents with this metadata value. There are no wildcards. Use path=PREFIX for a folder. "
        "If repeated, all values must match.",
        is_eager=True,
    ),
    click.option(
        "--filter-any",
        type=_FilterType(),
        multiple=True,
        metavar="FIELD=VALUE",
        expose_value=False,
        callback=_add_any_filters,
        help="Like --filter, but a document needs only one of the values given for the same field.",
    ),
    click.option(
        "--exclude",
        "excluded",
        type=_FilterType(),
        multiple=True,
        metavar="FIELD=VALUE",
        help="Exclude documents with this metadata value. Use path=PREFIX for a folder. Repeatable.",
    ),
)
"""The values of `--filter` and `--filter-any` are passed as one argument."""


def make_filters(included: FilterPairs, excluded: FilterPairs) -> Sequence[dict[str, Any]]:
    """Return the values of `--filter` and `--exclude` as filters for the library."""
    return [{field: _list_values(field, value)} for field, value in included] + [
        {field: none_of(*_list_values(field, value))} for field, value in excluded
    ]


def _list_values(field: str, value: Any) -> list[str]:
    """Return the values of a field as a list. Path prefixes are returned in all Unicode normalisation forms."""
    values = [value] if isinstance(value, str) else value
    return [spelling for prefix in values for spelling in unicode_forms(prefix)] if field == "path" else values


def warn_unused_exclusions(store: Store, excluded: FilterPairs) -> None:
    """Print a note for each exclusion that matches no document, because it may be misspelled."""
    from simdoc_search.search.filter_check import find_filter_error

    for field, value in excluded:
        if error := find_filter_error(store, {field: value}):
            say(f"note: --exclude {field}={value} excludes no documents: {error}", err=True)


compat_options: Final = add_options(
    click.option(
        "--compat",
        type=click.Choice(["alfresco"]),
        help="Behave like Alfresco. QUERY can contain a node reference, and 0.2 means 20 %. The query document "
        "is also a hit, and the planner is `all`.",
    ),
    click.option("--id-field", metavar="FIELD", help="Index field with the document ids."),
)
"""The options for FINGERPRINT strings of Alfresco."""

overlap_options: Final = add_options(
    click.option(
        "--overlap",
        type=percent_type,
        metavar="PERCENT",
        help="Minimum overlap. QUERY is then read as an id, even if it ends in numbers.",
    ),
    click.option(
        "--probability",
        type=percent_type,
        metavar="PERCENT",
        help="Minimum probability of finding a document whose overlap equals `--overlap`. "
        "A document with a larger overlap is found with a higher probability.",
    ),
    click.option(
        "--planner",
        type=click.Choice(PLANNERS),
        default="enough",
        show_default=True,
        help="How to run a query with a probability. `enough` does only the work that the probability requires. "
        "`all` works as in Alfresco.",
    ),
)


min_overlap_option: Final = click.option(
    "--overlap", type=percent_type, default="80", show_default=True, metavar="PERCENT", help="Minimum overlap."
)


def measure_option(units: str, first: str, second: str, note: str = "") -> Decorator:
    """Return the option `--measure`. The arguments are the names of the compared texts in its help, and a remark."""
    return click.option(
        "--measure",
        type=click.Choice(["jaccard", "containment", "reverse_containment"]),
        default="jaccard",
        show_default=True,
        help=f"How to measure overlap: the text in both {units} as a share of the combined text (the default); the "
        f"share of {first} that is also in {second} (`containment`); or the reverse (`reverse_containment`).{note}",
    )


def is_any_option_given(*names: str) -> bool:
    """Return whether the command line or `simdoc.toml` sets at least one of these options."""
    return {click.get_current_context().get_parameter_source(name) for name in names} != {ParameterSource.DEFAULT}


def are_options_only_in_config(*names: str) -> bool:
    """Return whether `simdoc.toml` sets at least one of these options, and the command line sets none of them."""
    sources = {click.get_current_context().get_parameter_source(name) for name in names}
    return ParameterSource.DEFAULT_MAP in sources and sources <= {ParameterSource.DEFAULT_MAP, ParameterSource.DEFAULT}


def apply_defaults(
    search: SimilaritySearch, query: Query, overlap: Fraction | None, probability: Fraction | None
) -> Query:
    """Return the query with these values for the overlap and the probability, unless it sets its own."""
    try:
        resolved = search.resolve(query)
    except StoreError:
        raise
    except SimdocError:  # running the query reports the same error
        return query
    return replace(
        resolved,
        overlap=overlap if resolved.overlap is None else resolved.overlap,
        probability=probability if resolved.probability is None else resolved.probability,
    )


def describe_token_shortfall(query: FingerprintQuery, plan: Plan) -> str:
    """Return a remark if the query document has too few tokens for the requested probability, otherwise nothing."""
    if not isinstance(plan, BandPlan) or query.overlap is None or query.probability is None:
        return ""
    if plan.probability_of_finding(float(query.overlap)) >= query.probability - Fraction(1, 10**9):
        return ""
    requested = f"{100 * float(query.probability):g} %"
    return f", less than the requested {requested}, because the fingerprint of the query document is too small"
