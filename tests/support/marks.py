"""Duplicates in the index of an application, and their marks."""

from __future__ import annotations

from typing import Any

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.duplicates.mark_update import MarkReport
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import words
from tests.support.engines import call
from tests.support.http_server import TempIndices

BASE = words(0, 100)
TEXTS = {"kept": BASE, "loud": BASE.upper(), "near": words(0, 98), "other": words(900, 950)}
MARKED = {"kept": (None, "kept"), "loud": ("kept", "kept"), "near": ("kept", "kept")}
FIELDS = ("duplicate_of", "cluster")


def mapping(**other: Any) -> dict[str, Any]:
    """Return a mapping with the field of fingerprints, but without the fields of marks."""
    fields: dict[str, Any] = component_template()["template"]["mappings"]["properties"]
    for name in ("duplicate_of", "cluster"):
        del fields["simdoc"]["properties"][name]
    return {"properties": {"body": {"type": "text"}, "views": {"type": "integer"}, **fields}, **other}


def put(temp_indices: TempIndices, index: str, texts: dict[str, str], **parameters: str) -> None:
    """Write documents with fingerprints."""
    for id, text in texts.items():
        temp_indices.put(index, id, {"body": text, "simdoc": fingerprint_field(text)}, **parameters)


def articles(temp_indices: TempIndices, **other: Any) -> str:
    """Create the index of an application with TEXTS, and return its name."""
    index = temp_indices.make(mapping(**other))
    put(temp_indices, index, TEXTS)
    return index


def search_in(temp_indices: TempIndices, name: str) -> SimilaritySearch:
    """Return a search over an index or an alias."""
    return SimilaritySearch(open_store(f"{temp_indices.engine}/{name}", text_field="body"))


def mark(temp_indices: TempIndices, name: str, **options: Any) -> MarkReport:
    """Find and mark duplicates."""
    search = search_in(temp_indices, name)
    return search.mark_duplicates(search.duplicates(**options))


def counts(report: MarkReport) -> tuple[int, int, int]:
    """Return the numbers of set, removed and unchanged marks. The report must have no problems."""
    assert (0, 0, {}) == (report.skipped_count, report.refused_count, report.refusal_reasons)
    return report.marked_count, report.removed_count, report.unchanged_count


def hits(temp_indices: TempIndices, name: str, **body: Any) -> list[dict[str, Any]]:
    """Return the hits of a query in the engine, by default all documents."""
    call(temp_indices.engine, "POST", f"/{name}/_refresh")
    query = {"size": 100, "seq_no_primary_term": True, **body}
    hits: list[dict[str, Any]] = call(temp_indices.engine, "POST", f"/{name}/_search", query)["hits"]["hits"]
    return hits


def hit_ids(temp_indices: TempIndices, name: str, **body: Any) -> list[str]:
    """Return the sorted ids of the hits of a query in the engine."""
    return sorted(hit["_id"] for hit in hits(temp_indices, name, **body))


def marks(temp_indices: TempIndices, name: str) -> dict[str, tuple[str | None, str | None]]:
    """Return `duplicate_of` and `cluster` of the marked documents."""
    both = {hit["_id"]: [hit["_source"]["simdoc"].get(field) for field in FIELDS] for hit in hits(temp_indices, name)}
    return {id: (of, cluster) for id, (of, cluster) in both.items() if of or cluster}
