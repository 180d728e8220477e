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

__all__: list[str] = []
