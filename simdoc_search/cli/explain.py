"""`simdoc-search explain`: what will a query do?"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import (
    errors_as_sentences,
    field_option,
    json_option,
    print_json,
    say,
    store_option,
)
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.open_store import open_to_ask
from simdoc_search.cli.query_options import compat_options, overlap_options, shortfall
from simdoc_search.display import counted, percent
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query import Plan, parse, plan, to_dsl
from simdoc_search.query.alfresco import parse_alfresco
from simdoc_search.query.dsl import MAX_CLAUSES, FieldKind, can_count_tokens, clause_count
from simdoc_search.query.planner import Planner
from simdoc_search.query.plans import Bands, Threshold
from simdoc_search.query.sql import to_sql
from simdoc_search.query.syntax import FingerprintQuery, Parsed
from simdoc_search.stores.banding import FLOOD
from simdoc_search.stores.remote.min_hash import TermSettings
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdoc_search.stores.base import Store
    from simdoc_search.stores.location import EngineKind

_Question = str | FingerprintQuery | None
_ASSUMED = 512  # tokens of a document that is not there
_OVERLAPS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@click.command()
@click.argument("fingerprint", required=False, metavar="[FINGERPRINT]", shell_complete=complete_ids)
@overlap_options
@compat_options
@click.option("--dsl", is_flag=True, help="Print the engine's query as JSON, and nothing else.")
@click.option("--sql", is_flag=True, help="Print the query over tables of SQL and its parameters, as JSON.")
@field_option
@store_option
@json_option
@errors_as_sentences
def explain(
    fingerprint: str | None,
    overlap: Fraction | None,
    probability: Fraction | None,
    planner: Planner,
    compat: str | None,
    id_field: str | None,
    dsl: bool,
    field: str | None,
    sql: bool,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Show what a query means: its readings, its plan, and how likely which overlap is found.

    If the document is in the store its own tokens are used; otherwise 512 tokens are assumed. With a probability they
    are cut into bands: as few as it needs (--planner enough), all of them (all), or bands of so many tokens (--rows).

    \b
      simdoc-search explain doc123_20_80
      simdoc-search explain --overlap 50 --probability 95
      simdoc-search explain doc123_20_80 --dsl
      simdoc-search explain doc123_20_80 --sql    # for SQLite, DuckDB, PostgreSQL; see simdoc_search.query.sql
    """
    from simdoc_search.stores import open_store

    if fingerprint is None and overlap is None:
        raise click.UsageError("give a FINGERPRINT or --overlap")
    if dsl and sql:
        raise click.UsageError("--dsl and --sql are two queries; ask for one")
    question, readings = _read(fingerprint, compat)
    open_it = open_store if dsl or sql else open_to_ask  # a query has no room for notes
    opened = partial(open_it, store, engine=engine, field=field, id_field=id_field)
    query, tokens, found = _resolved(question, overlap, probability, opened)
    asked = tokens or _assumed()
    made = plan(asked, query.overlap, query.probability, planner="all" if compat else planner)
    terms = found is not None and isinstance(found.settings, TermSettings)
    kind: FieldKind = "terms" if terms else "text"
    sent = found.candidates(made).plan if found and tokens and isinstance(made, Bands) and not (dsl or sql) else made
    if dsl or sql:
        if not tokens:
            option = "--dsl" if dsl else "--sql"
            raise click.ClickException(f"{option} needs a document that is in the store; its tokens are the query")
        above = getattr(found, "field", DEFAULT_FIELD)  # a local store has no object field
        print_json(to_dsl(made, above if terms else f"{above}.tokens", kind=kind) if dsl else to_sql(made)._asdict())
    elif as_json:
        print_json(_as_json(readings, query, made, sent, stored=bool(tokens)))
    else:
        _print(readings, query, made, sent, kind, stored=bool(tokens))


def _read(fingerprint: str | None, compat: str | None) -> tuple[_Question, tuple[FingerprintQuery, ...]]:
    """What is asked, and all that it can mean."""
    if fingerprint is None:
        return None, (FingerprintQuery(""),)
    if compat:
        query = parse_alfresco(fingerprint)
        return query, (query,)
    return fingerprint, parse(fingerprint).readings


def _resolved(
    question: str | FingerprintQuery | None,
    overlap: Fraction | None,
    probability: Fraction | None,
    opened: Callable[[], Store],
) -> tuple[FingerprintQuery, list[str], Store | None]:
    """The reading to explain, and its document's tokens and its store if it is stored."""
    if question is None:
        return FingerprintQuery("", overlap, probability), [], None
    from simdoc_search.errors import MissingExtraError, StoreNotFoundError, UnknownDocumentError
    from simdoc_search.search import SimilaritySearch

    try:
        search = SimilaritySearch(opened())
        query = search.resolve(question, overlap=overlap, probability=probability)
        return query, search.tokens(query.id), search.store
    except (StoreNotFoundError, UnknownDocumentError, MissingExtraError):
        parsed = parse(question) if isinstance(question, str) else Parsed(question.id, (question,))
        if overlap is not None or probability is not None:
            return FingerprintQuery(parsed.readings[0].id, overlap, probability), [], None
        if parsed.refused:
            raise QuerySyntaxError(parsed.refused[0][1]) from None
        return parsed.readings[-1], [], None


def _assumed() -> list[str]:
    return [str(number) for number in range(_ASSUMED)]


def _as_json(
    readings: tuple[FingerprintQuery, ...], query: FingerprintQuery, made: Plan, sent: Plan, *, stored: bool
) -> dict[str, Any]:
    from simdoc_search.as_json import plan_as_json, query_as_json

    return {
        "readings": [str(reading) for reading in readings if reading.id],
        "query": query_as_json(query),
        "stored": stored,
        "tokens": len(made.tokens),
        "plan": plan_as_json(made),
        "sent": plan_as_json(sent),
        "probability_reached": made.probability_of_finding(float(query.overlap)) if query.overlap else None,
        "expected_error": _expected_error(query, made),
        "curve": [{"overlap": each, "probability": made.probability_of_finding(each)} for each in _OVERLAPS],
    }


def _print(
    readings: tuple[FingerprintQuery, ...],
    query: FingerprintQuery,
    made: Plan,
    sent: Plan,
    kind: FieldKind,
    *,
    stored: bool,
) -> None:
    if readings[0].id:
        say("readings   " + "  or  ".join(map(str, readings)))
    say(f"explained  {query if query.id else _asked(query)}")
    say(f"tokens     {len(made.tokens)}" + ("" if stored else " (assumed; the document is not stored)"))
    say(f"plan       {_described(made)}, {counted(made.clauses, 'clause')}")
    if isinstance(made, Bands) and made.minimum_match > made.rows:
        say(f"cut-off    {_described(Threshold(made.tokens, made.minimum_match))} besides a whole band")
    if sent is not made:
        say(f"sent       {_described(sent)}: the bands let over {FLOOD} documents through and would save nothing")
    say(
        f"engine     {counted(clause_count(to_dsl(sent, kind=kind, score='tokens')), 'clause')} with {_scored_by(sent)}"
    )
    if query.overlap:
        share = float(query.overlap)
        reached = f"{percent(made.probability_of_finding(share), 2)}{shortfall(query, made)}"
        say(f"reached    an overlap of {100 * share:g} % is a candidate with a probability of {reached}")
        error = percent(_expected_error(query, made) or 0, 2)
        say(f"error      of the estimate at that overlap: {error} (standard error)")
    say()
    say("overlap  probability of being found")
    for overlap in sorted({*_OVERLAPS, *([float(query.overlap)] if query.overlap else [])}):
        say(f"{100 * overlap:>5g} %  {percent(made.probability_of_finding(overlap), 2):>9}")


def _described(plan: Plan) -> str:
    """The shape of a plan."""
    match plan:
        case Threshold():
            return f"at least {plan.minimum_match} of {counted(len(plan.tokens), 'token')} equal"
        case Bands():
            return f"{counted(len(plan.bands), 'band')} of {counted(plan.rows, 'token')}"


def _asked(query: FingerprintQuery) -> str:
    parts = (("overlap", query.overlap), ("probability", query.probability))
    return ", ".join(f"{name} {100 * float(part):g} %" for name, part in parts if part is not None)


def _expected_error(query: FingerprintQuery, made: Plan) -> float | None:
    if not query.overlap or not made.tokens:
        return None
    return math.sqrt(float(query.overlap * (1 - query.overlap)) / len(made.tokens))


def _scored_by(made: Plan) -> str:
    fits = can_count_tokens(made, 0, MAX_CLAUSES)
    return "ranking by equal tokens" if fits else f"ranking by matched bands: all would be over {MAX_CLAUSES}"
