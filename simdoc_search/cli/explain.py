"""`simdoc-search explain`: shows the plan of a query."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simdoc_search.cli.common import json_option, print_json, say
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.query_options import compat_options, describe_token_shortfall, overlap_options
from simdoc_search.display import format_count, format_percent
from simdoc_search.errors import MissingExtraError, QuerySyntaxError, StoreNotFoundError, UnknownDocumentError
from simdoc_search.query import Plan, parse, plan, to_dsl
from simdoc_search.query.alfresco import parse_alfresco
from simdoc_search.query.clauses import has_other_clauses, parse_fingerprint_and_filters
from simdoc_search.query.dsl import MAX_CLAUSES, FieldKind, can_count_tokens, count_clauses
from simdoc_search.query.planner import Planner
from simdoc_search.query.plans import BandPlan, ThresholdPlan
from simdoc_search.query.sql import to_sql
from simdoc_search.query.syntax import FingerprintQuery, ParsedFingerprint
from simdoc_search.stores.base import MAX_BAND_MATCHES
from simdoc_search.stores.remote.min_hash import MinHashFieldSettings
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdoc_search.stores.base import Store

_ASSUMED_TOKENS = [str(number) for number in range(512)]
_OVERLAPS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


class _ExplainedQuery(NamedTuple):
    """A query and its plan."""

    readings: tuple[FingerprintQuery, ...]  # as an id, or as an id with an overlap and a probability
    query: FingerprintQuery  # the reading that is run
    is_stored: bool  # whether the document of `query` is stored
    plan: Plan
    executed_plan: Plan  # the plan that the store runs; another one than `plan` if that is cheaper
    kind: FieldKind  # how the queried field contains tokens

    @property
    def expected_error(self) -> float | None:
        """The standard error of the estimate at the overlap of the query, 0..1; None without an overlap."""
        overlap, tokens = self.query.overlap, self.plan.tokens
        return math.sqrt(float(overlap * (1 - overlap)) / len(tokens)) if overlap and tokens else None


@click.command(cls=Command)
@click.argument("query_string", required=False, metavar="[QUERY]", shell_complete=complete_ids)
@overlap_options
@compat_options
@click.option(
    "--dsl",
    is_flag=True,
    help="Print only the plan's query for the engine, as JSON. It also finds the document itself.",
)
@click.option(
    "--sql", is_flag=True, help="Print only the SQL statement (SQLite, DuckDB, PostgreSQL) and its parameters, as JSON."
)
@index_options(reads_texts=False)
@json_option
def explain(
    query_string: str | None,
    overlap: Fraction | None,
    probability: Fraction | None,
    planner: Planner,
    compat: str | None,
    id_field: str | None,
    dsl: bool,
    sql: bool,
    index: ChosenIndex,
    as_json: bool,
) -> None:
    """Show how a query is parsed and run, and what it may miss.

    QUERY is the id of a document, or ID_OVERLAP_PROBABILITY such as doc123_20_80.

    The command prints the possible readings of QUERY, the plan of the query, and the probability of finding a
    document at several overlaps. If the document is not in the index, its fingerprint is assumed to have 512 tokens. A
    query with a probability groups tokens into bands. It uses only as many bands as the probability requires
    (--planner enough), or groups all tokens (--planner all).

    \b
      simdoc-search explain doc123_20_80
      simdoc-search explain --overlap 50 --probability 95
      simdoc-search compare doc123 other       why a document is a hit or not
      simdoc-search explain doc123_20_80 --dsl
    """
    from simdoc_search.stores import open_store

    if query_string is None and overlap is None:
        raise click.UsageError("give QUERY or --overlap")
    if query_string is not None and has_other_clauses(query_string):
        query_string = parse_fingerprint_and_filters(query_string).fingerprint  # filters do not change the plan
    if dsl and sql:
        raise click.UsageError("give either --dsl or --sql, not both")
    requested: str | FingerprintQuery | None = query_string
    readings: tuple[FingerprintQuery, ...] = (FingerprintQuery(""),)
    if query_string is not None and compat:
        requested = parse_alfresco(query_string)
        readings = (requested,)
    elif query_string is not None:
        readings = parse(query_string).readings
    # `index.open` also prints notes, which a program that reads the output of --dsl or --sql does not expect.
    opener = partial(open_store, index.location, **index.options) if dsl or sql else index.open
    open_index = partial(opener, id_field=id_field)
    query, tokens, opened, problem = _resolve(requested, overlap, probability, open_index)
    # `similar` compares the texts of its candidates. An application that sends the output of --dsl or --sql may not.
    is_verified = not (dsl or sql) and (opened is None or opened.has_texts)
    planned = plan(
        tokens or _ASSUMED_TOKENS,
        query.overlap,
        query.probability,
        planner="all" if compat else planner,
        is_verified=is_verified,
    )
    kind: FieldKind = "terms" if opened is not None and isinstance(opened.settings, MinHashFieldSettings) else "text"
    if (dsl or sql) and not tokens:
        raise click.ClickException(f"--dsl and --sql need the tokens of a stored document: {problem or 'give its id'}")
    if problem:
        say(f"note: {problem}", err=True)
    if sql:
        print_json(to_sql(planned)._asdict())
        return
    if dsl:
        name = getattr(opened, "field", DEFAULT_FIELD)  # a local store has no `field`
        print_json(to_dsl(planned, name if kind == "terms" else f"{name}.tokens", kind=kind, score="tokens"))
        return
    executed_plan = opened.candidates(planned).plan if opened and tokens and isinstance(planned, BandPlan) else planned
    explained = _ExplainedQuery(readings, query, bool(tokens), planned, executed_plan, kind)
    if as_json:
        print_json(_as_json(explained))
    else:
        _print(explained)


def _resolve(
    requested: str | FingerprintQuery | None,
    overlap: Fraction | None,
    probability: Fraction | None,
    open_index: Callable[[], Store],
) -> tuple[FingerprintQuery, list[str], Store | None, str]:
    """Return the reading that is run, its tokens and the store; or no tokens, and why the document was not found."""
    if requested is None:
        return FingerprintQuery("", overlap, probability), [], None, ""
    from simdoc_search.search.resolver import Resolver

    try:
        store = open_index()
        resolver = Resolver(store)
        query = resolver.resolve(requested, overlap=overlap, probability=probability)
        tokens = resolver.get_record(query.id).query_terms()
        return query, tokens, store, "" if tokens else f"the document {query.id!r} has no fingerprint"
    except (StoreNotFoundError, UnknownDocumentError, MissingExtraError) as error:
        parsed = parse(requested) if isinstance(requested, str) else ParsedFingerprint(requested.id, (requested,))
        if overlap is not None or probability is not None:
            return FingerprintQuery(parsed.readings[0].id, overlap, probability), [], None, str(error)
        if parsed.invalid_readings:
            raise QuerySyntaxError(parsed.invalid_readings[0][1]) from None
        return parsed.readings[-1], [], None, str(error)


def _as_json(explained: _ExplainedQuery) -> dict[str, Any]:
    from simdoc_search.as_json.queries import plan_as_json, query_as_json

    query, plan, executed_plan = explained.query, explained.plan, explained.executed_plan
    return {
        "readings": [str(reading) for reading in explained.readings if reading.id],
        "query": query_as_json(query),
        "is_stored": explained.is_stored,
        "token_count": len(plan.tokens),
        "plan": plan_as_json(plan),
        "executed_plan": plan_as_json(executed_plan),
        "recall": executed_plan.probability_of_finding(float(query.overlap)) if query.overlap else None,
        "expected_error": explained.expected_error,
        "curve": [
            {"overlap": overlap, "probability": executed_plan.probability_of_finding(overlap)} for overlap in _OVERLAPS
        ],
    }


def _print(explained: _ExplainedQuery) -> None:
    readings, query, is_stored, plan, executed_plan, kind = explained
    if readings[0].id:
        say("readings   " + "  or  ".join(map(str, readings)))
    say(f"query      {query if query.id else _describe_overlap(query)}")
    say(f"tokens     {len(plan.tokens)}{'' if is_stored else ' (an assumed number)'}")
    say(f"plan       {_describe_plan(plan)}, {format_count(plan.clause_count, 'clause')}")
    if isinstance(plan, BandPlan) and plan.minimum_match > plan.tokens_per_band:
        minimum = _describe_plan(ThresholdPlan(plan.tokens, plan.minimum_match))
        say(f"filter     {minimum}, and all tokens of at least one band")
    if executed_plan is not plan:
        reason = f"bands that match more than {MAX_BAND_MATCHES} documents are slow"
        say(f"executed   {_describe_plan(executed_plan)}, because {reason}")
    is_ranked = can_count_tokens(executed_plan, 0, MAX_CLAUSES)
    ranking = (
        "the number of matching tokens"
        if is_ranked
        else f"the number of matched bands, because counting matching tokens would need more than {MAX_CLAUSES} clauses"
    )
    clauses = format_count(count_clauses(to_dsl(executed_plan, kind=kind, score="tokens")), "clause")
    say(f"engine     {clauses}, ranked by {ranking}")
    if query.overlap:
        overlap = float(query.overlap)
        probability = (
            f"{format_percent(executed_plan.probability_of_finding(overlap), 2)}"
            f"{describe_token_shortfall(query, executed_plan)}"
        )
        say(
            f"recall     a document with an overlap of {100 * overlap:g} % is found with a probability of at least "
            f"{probability}"
        )
        error = format_percent(explained.expected_error or 0, 2)
        say(f"error      {error} (standard error of an estimated overlap of {100 * overlap:g} %)")
    say()
    say("overlap  probability of being found")
    for overlap in sorted({*_OVERLAPS, *([float(query.overlap)] if query.overlap else [])}):
        say(f"{100 * overlap:>5g} %  {format_percent(executed_plan.probability_of_finding(overlap), 2):>9}")


def _describe_plan(plan: Plan) -> str:
    """Describe a plan in a few words."""
    match plan:
        case ThresholdPlan():
            return f"at least {plan.minimum_match} of {format_count(len(plan.tokens), 'token')} must match"
        case BandPlan():
            return f"{format_count(len(plan.bands), 'band')} of {format_count(plan.tokens_per_band, 'token')}"


def _describe_overlap(query: FingerprintQuery) -> str:
    """Describe the overlap and the probability of a query without a document."""
    numbers = (("overlap", query.overlap), ("probability", query.probability))
    return ", ".join(f"{name} {100 * float(number):g} %" for name, number in numbers if number is not None)
