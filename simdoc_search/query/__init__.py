"""Turns FINGERPRINT queries into queries for an engine or a database. Nothing here sends requests or opens a store.

syntax.py             FINGERPRINT strings: "doc123_20_80" is document doc123, 20 % overlap, 80 % probability
planner.py            creates plans from an overlap and a probability
plans.py              the kinds of plans
s_curve.py            the probability that a plan finds a document
alfresco.py           FINGERPRINT strings in the syntax of Alfresco
clauses.py            FINGERPRINT clauses among the other clauses of a query
lucene.py             splitting of queries in Lucene's query syntax into clauses
dsl.py                plans as JSON for OpenSearch and Elasticsearch
application_query.py  similarity within an application's own request
sql.py                plans as SQL for SQLite, DuckDB and PostgreSQL
"""

from typing import TYPE_CHECKING

from simdoc_search.query.dsl import similar_by_id, similar_query, to_dsl
from simdoc_search.query.planner import plan
from simdoc_search.query.plans import BandPlan, Plan, ThresholdPlan
from simdoc_search.query.syntax import FingerprintQuery, parse

if TYPE_CHECKING:
    from simdoc_search.query.application_query import Similar, SimilarHit

__all__ = [
    "BandPlan",
    "FingerprintQuery",
    "Plan",
    "Similar",
    "SimilarHit",
    "ThresholdPlan",
    "parse",
    "plan",
    "similar_by_id",
    "similar_query",
    "to_dsl",
]


def __getattr__(name: str) -> object:
    if name in ("Similar", "SimilarHit"):  # this module is slow to import, and most callers do not need it
        from simdoc_search.query import application_query  # noqa: PLC0415 - imported on first use

        return getattr(application_query, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
