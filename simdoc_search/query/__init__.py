"""Turns FINGERPRINT queries into queries for an engine. These are pure functions: they need no engine or store.

syntax.py             the FINGERPRINT string "doc123_20_80"
planner.py            from an overlap and a probability to a plan
plans.py              the kinds of plans
curve.py              the probability that a plan finds a document
alfresco.py           FINGERPRINT strings as Alfresco reads them
clauses.py            FINGERPRINT clauses among the other clauses of a query
lucene.py             clauses in Lucene's query syntax
dsl.py                from a plan to OpenSearch or Elasticsearch JSON
application_query.py  similarity within an application's own request
sql.py                from a plan to SQL for SQLite, DuckDB or PostgreSQL
"""

from typing import TYPE_CHECKING

from simdoc_search.query.dsl import similar_by_id, similar_query, to_dsl
from simdoc_search.query.planner import plan
from simdoc_search.query.plans import Bands, Plan, Threshold
from simdoc_search.query.syntax import FingerprintQuery, parse

if TYPE_CHECKING:
    from simdoc_search.query.application_query import Similar, SimilarHit

__all__ = [
    "Bands",
    "FingerprintQuery",
    "Plan",
    "Similar",
    "SimilarHit",
    "Threshold",
    "parse",
    "plan",
    "similar_by_id",
    "similar_query",
    "to_dsl",
]


def __getattr__(name: str) -> object:
    if name in ("Similar", "SimilarHit"):  # they are slower to import, and queries with tokens do not need them
        from simdoc_search.query import application_query  # noqa: PLC0415 - only if needed

        return getattr(application_query, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
