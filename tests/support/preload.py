"""The imports of the server of forked_commands.py before it forks. No module may start a thread."""

from __future__ import annotations

from importlib import import_module

for _name in (
    "opensearchpy",
    "simdoc_search.attach.backfill",
    "simdoc_search.attach.pipeline",
    "simdoc_search.cli.apply",
    "simdoc_search.cli.backfill",
    "simdoc_search.cli.duplicates",
    "simdoc_search.cli.group",
    "simdoc_search.cli.index",
    "simdoc_search.cli.watch",
    "simdoc_search.duplicates.plan",
    "simdoc_search.indexing.run",
    "simdoc_search.search.similarity_search",
    "simdoc_search.stores.local.store",
    "simdoc_search.stores.remote.store",
):
    import_module(_name)
