"""Searches a store for similar documents, shared passages, versions, related documents and duplicates.

For each kind of query, one class describes the options, one module finds candidates in the store, one module compares
them, and one class describes the result.
"""

__all__: list[str] = []
