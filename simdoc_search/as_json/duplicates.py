"""Converts duplicates to JSON in several parts, because a result can have millions of pairs."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.queries import key_as_json

if TYPE_CHECKING:
    from simdoc_search.duplicates import Duplicates, Group, GroupedDocument, Pair


def duplicates_summary_as_json(duplicates: Duplicates, keep: str) -> dict[str, Any]:
    """Convert the counts and options. `keep` is the rule that selects the kept document of a group."""
    measure = duplicates.measure
    return {
        "document_count": duplicates.document_count,
        "new_document_count": duplicates.new_document_count,
        "overlap": float(measure.min_overlap),
        "measure": measure.name,
        "keep": keep,
        "verified": duplicates.verified,
        "group_count": duplicates.group_count,
        "duplicate_count": duplicates.duplicate_count,
        "drop": duplicates.drop_scope,
        "drop_count": duplicates.drop_count,
        "bytes_freed": duplicates.freed_bytes,
        "unverified_count": duplicates.unverified_count,
        "ignored_word_count": duplicates.ignored_word_count,
    }


def duplicates_omissions_as_json(duplicates: Duplicates) -> dict[str, Any]:
    """Convert the documents that were left out, and the number of skipped comparisons."""
    return {
        "large_sets": duplicates.large_sets and asdict(duplicates.large_sets),
        "left_out": [{**key_as_json(key), "reason": reason} for key, reason in duplicates.left_out.items()],
    }


def group_as_json(group: Group) -> dict[str, Any]:
    """Convert a group of duplicates."""
    duplicates = []
    for duplicate in group.duplicates:
        values = {
            **_document_as_json(duplicate),
            "overlap": duplicate.overlap,
            "kind": duplicate.kind,
            "exact": duplicate.exact,
            "action": duplicate.action,
            "reason": duplicate.reason,
            "bytes_freed": duplicate.freed_bytes,
            **key_as_json(duplicate.duplicate_of, "duplicate_of"),
        }
        duplicates.append(values)
    return {
        "kept_id": group.kept.id,
        "duplicate_ids": [duplicate.id for duplicate in group.duplicates],
        "kept": _document_as_json(group.kept),
        "duplicates": duplicates,
    }


def pair_as_json(pair: Pair) -> dict[str, Any]:
    """Convert a pair of documents that have at least the minimum overlap."""
    keys = {**key_as_json(pair.a, "a"), **key_as_json(pair.b, "b")}
    return {**keys, "overlap": pair.overlap, "kind": pair.kind, "exact": pair.exact}


def _document_as_json(document: GroupedDocument) -> dict[str, Any]:
    modified = None
    if document.mtime_ns is not None:
        modified = datetime.fromtimestamp(document.mtime_ns / 1e9, timezone.utc).isoformat()
    return {
        **key_as_json(document.key),
        "path": document.path,
        "size": document.size,
        "modified": modified,
        "indexed": document.indexed,
    }
