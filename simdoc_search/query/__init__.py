"""FINGERPRINT queries, from a string to an engine's query. Pure: needs no engine, no client, no store.

syntax.py            the FINGERPRINT string "doc123_20_80"
planner.py           overlap and probability to a plan
plans.py             the kinds of plans
curve.py             the probability that a plan finds a document
alfresco.py          FINGERPRINT strings as Alfresco reads them
clauses.py           FINGERPRINT among the other clauses of a query
lucene.py            clauses in Lucene's query syntax
dsl.py               plan to OpenSearch or Elasticsearch JSON
application_query.py similarity within an application's own request
sql.py               plan to SQL for SQLite, DuckDB or PostgreSQL
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
    if name in ("Similar", "SimilarHit"):  # slower to import, and not needed to query with tokens
        from simdoc_search.query import application_query  # noqa: PLC0415 - only on this way

        return getattr(application_query, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
