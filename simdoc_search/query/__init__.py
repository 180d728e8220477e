"""A question to an engine's query. Pure: values in, values out; needs no engine, no client, no store.

syntax.py   what does "doc123_20_80" mean?
planner.py  which tokens must a document share?
plans.py    what is a plan, and which of its candidates stay?
curve.py    how likely does it find a document?
alfresco.py what did the same string mean in Alfresco?
clauses.py  what does it mean among the other clauses of a query?
lucene.py   which clauses has a query in Lucene's syntax?
dsl.py      how is the plan said to OpenSearch or Elasticsearch?
similar.py  and what becomes of the hits of an application's own request?
sql.py      how is it said to SQLite, DuckDB or PostgreSQL?
"""

from typing import TYPE_CHECKING

from simdoc_search.query.dsl import similar_by_id, similar_query, to_dsl
from simdoc_search.query.planner import plan
from simdoc_search.query.plans import Bands, Plan, Threshold
from simdoc_search.query.syntax import FingerprintQuery, parse

if TYPE_CHECKING:
    from simdoc_search.query.similar import Similar, SimilarHit

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
    if name in ("Similar", "SimilarHit"):  # they need numpy, which who only asks with tokens need not wait for
        from simdoc_search.query import similar  # noqa: PLC0415 - only on this way

        return getattr(similar, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
