"""A question to an engine's query. Pure: values in, values out; needs no engine, no client, no store.

syntax.py   what does "doc123_20_80" mean?
planner.py  which tokens must a document share?
plans.py    what is a plan, and which of its candidates stay?
curve.py    how likely does it find a document?
alfresco.py what did the same string mean in Alfresco?
dsl.py      how is the plan said to OpenSearch or Elasticsearch?
sql.py      how is it said to SQLite, DuckDB or PostgreSQL?
"""

from simdoc_search.query.dsl import similar_by_id, similar_query, to_dsl
from simdoc_search.query.planner import plan
from simdoc_search.query.plans import Bands, Plan, Threshold
from simdoc_search.query.syntax import FingerprintQuery, parse

__all__ = [
    "Bands",
    "FingerprintQuery",
    "Plan",
    "Threshold",
    "parse",
    "plan",
    "similar_by_id",
    "similar_query",
    "to_dsl",
]
