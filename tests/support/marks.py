"""Duplicates in an index of an application, and their marks."""

from __future__ import annotations

from typing import Any

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.duplicates.mark_update import MarkReport
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import words
from tests.support.engines import call
from tests.support.http_server import Indices

BASE = words(0, 100)
TEXTS = {"kept": BASE, "loud": BASE.upper(), "near": words(0, 98), "other": words(900, 950)}
MARKED = {"kept": (None, "kept"), "loud": ("kept", "kept"), "near": ("kept", "kept")}
FIELDS = ("duplicate_of", "cluster")


def mapping(**other: Any) -> dict[str, Any]:
    """A mapping with our field, without the fields of marks."""
    fields: dict[str, Any] = component_template()["template"]["mappings"]["properties"]
    for name in ("duplicate_of", "cluster"):
        del fields["simdoc"]["properties"][name]
    return {"properties": {"body": {"type": "text"}, "views": {"type": "integer"}, **fields}, **other}


def put(made: Indices, index: str, texts: dict[str, str], **parameters: str) -> None:
    """Documents with fingerprints, as a loader writes them."""
    for id, text in texts.items():
        made.put(index, id, {"body": text, "simdoc": fingerprint_field(text)}, **parameters)


def articles(made: Indices, **other: Any) -> str:
    """An index of an application with TEXTS."""
    index = made.make(mapping(**other))
    put(made, index, TEXTS)
    return index


def search_in(made: Indices, name: str) -> SimilaritySearch:
    """A search over an index or an alias."""
    return SimilaritySearch(open_store(f"{made.engine}/{name}", text_field="body"))


def mark(made: Indices, name: str, **options: Any) -> MarkReport:
    """Find and mark duplicates."""
    search = search_in(made, name)
    return search.mark_duplicates(search.duplicates(**options))


def counts(report: MarkReport) -> tuple[int, int, int]:
    """Return the numbers of set, removed and unchanged marks. The report must have no problems."""
    assert (0, 0, {}) == (report.passed_over, report.refused, report.reasons)
    return report.set, report.removed, report.unchanged


def hits(made: Indices, name: str, **body: Any) -> list[dict[str, Any]]:
    """The hits of a search."""
    call(made.engine, "POST", f"/{name}/_refresh")
    query = {"size": 100, "seq_no_primary_term": True, **body}
    found: list[dict[str, Any]] = call(made.engine, "POST", f"/{name}/_search", query)["hits"]["hits"]
    return found


def found(made: Indices, name: str, **body: Any) -> list[str]:
    """The ids of the hits, sorted."""
    return sorted(hit["_id"] for hit in hits(made, name, **body))


def marks(made: Indices, name: str) -> dict[str, tuple[str | None, str | None]]:
    """`duplicate_of` and `cluster` of the marked documents."""
    both = {hit["_id"]: [hit["_source"]["simdoc"].get(field) for field in FIELDS] for hit in hits(made, name)}
    return {id: (of, cluster) for id, (of, cluster) in both.items() if of or cluster}
