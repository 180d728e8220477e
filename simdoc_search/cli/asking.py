"""What the commands that ask share: options for overlap and probability, and a query and a plan as JSON."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import click

from simdoc_search.query.curve import found
from simdoc_search.query.planner import PLANNERS, Bands, Plan
from simdoc_search.query.syntax import FingerprintQuery, fraction_of_percent

__all__ = ["overlap_options", "plan_as_json", "query_as_json", "shortfall"]

Command = TypeVar("Command", bound=Callable[..., Any])


class _Percent(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.4
    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return fraction_of_percent(str(value), param.name if param and param.name else "value")
        except ValueError as error:
            self.fail(str(error), param, ctx)


def overlap_options(command: Command) -> Command:
    """`--overlap`, `--probability` and `--planner`."""
    for option in (
        click.option(
            "--planner", type=click.Choice(PLANNERS), default="enough", show_default=True, help="How bands are cut."
        ),
        click.option(
            "--probability",
            type=_Percent(),
            metavar="PERCENT",
            help="Chance of finding a document of just that overlap.",
        ),
        click.option(
            "--overlap", type=_Percent(), metavar="PERCENT", help="Least overlap. FINGERPRINT is then an id alone."
        ),
    ):
        command = option(command)
    return command


def shortfall(query: FingerprintQuery, plan: Plan) -> str:
    """What to add where the document has too few tokens for the probability asked for."""
    if not isinstance(plan, Bands) or query.overlap is None or query.probability is None:
        return ""
    if found(plan, float(query.overlap)) >= query.probability - Fraction(1, 10**9):
        return ""
    asked = f"{100 * float(query.probability):g} %"
    return f", less than the {asked} asked for: {len(plan.tokens)} tokens allow no more"


def query_as_json(query: FingerprintQuery) -> dict[str, Any]:
    """A query, fractions as numbers."""
    return {
        "id": query.id or None,
        "overlap": None if query.overlap is None else float(query.overlap),
        "probability": None if query.probability is None else float(query.probability),
        "measure": "jaccard",
    }


def plan_as_json(plan: Plan) -> dict[str, Any]:
    """The shape of a plan, without its tokens."""
    if isinstance(plan, Bands):
        return {"kind": "bands", "clauses": plan.clauses, "rows": plan.rows, "bands": len(plan.bands)}
    return {"kind": "threshold", "clauses": len(plan.tokens), "rows": None, "bands": None}
