"""Converts results to JSON-serialisable values, for `--json` and `serve`.

queries.py      keys of documents, queries and plans
similar.py      documents that share text
passages.py     shared passages
comparison.py   comparisons of two texts
versions.py     versions and their order
related.py      related documents, and concepts
groups.py       families and topics of a whole collection
duplicates.py   groups of duplicates, and pairs
store.py        the size and settings of a store
"""

from simdoc_search.as_json.comparison import comparison_as_json
from simdoc_search.as_json.duplicates import (
    duplicates_omissions_as_json,
    duplicates_summary_as_json,
    group_as_json,
    pair_as_json,
)
from simdoc_search.as_json.groups import families_as_json, topics_as_json
from simdoc_search.as_json.passages import passages_as_json
from simdoc_search.as_json.queries import key_as_json, plan_as_json, query_as_json
from simdoc_search.as_json.related import concepts_as_json, related_as_json
from simdoc_search.as_json.similar import similar_as_json
from simdoc_search.as_json.store import info_as_json
from simdoc_search.as_json.versions import versions_as_json

__all__ = [
    "comparison_as_json",
    "concepts_as_json",
    "duplicates_omissions_as_json",
    "duplicates_summary_as_json",
    "families_as_json",
    "group_as_json",
    "info_as_json",
    "key_as_json",
    "pair_as_json",
    "passages_as_json",
    "plan_as_json",
    "query_as_json",
    "related_as_json",
    "similar_as_json",
    "topics_as_json",
    "versions_as_json",
]
