"""Which documents could go, each for one that stays: in parts, as there may be millions of pairs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.queries import place_as_json

if TYPE_CHECKING:
    from simdoc_search.duplicates import Duplicates, Group, GroupedDocument, Pair


def duplicates_head(found: Duplicates, keep: str) -> dict[str, Any]:
    """The counts; `keep` is the rule by which one stays."""
    measure = found.measure
    return {
        "documents": found.documents,
        "fresh": found.fresh,
        "overlap": float(measure.overlap),
        "measure": measure.name,
        "keep": keep,
        "verified": found.verified,
        "groups": found.group_count,
        "duplicates": found.duplicate_count,
        "drop": found.drop,
        "drops": found.drops,
        "bytes": found.frees,
        "unverified": found.unverified,
        "ignored": found.ignored,
    }


def duplicates_tail(found: Duplicates) -> dict[str, Any]:
    """What was not compared."""
    floods = found.floods
    return {
        "floods": floods and {"documents": floods.documents, "limit": floods.limit, "left_over": floods.left_over},
        "left_out": [{**place_as_json(place), "reason": reason} for place, reason in found.left_out.items()],
    }


def cluster_as_json(group: Group, differences: Mapping[int, list[str]] | None = None) -> dict[str, Any]:
    """A group, with what differs by the number of each near one, if that is asked for."""
    kept = group.kept
    evidence = []
    for each in group.duplicates:
        known = {
            **_file(each),
            "overlap": each.overlap,
            "kind": each.kind,
            "exact": each.exact,
            "action": each.action,
            "reason": each.reason,
            "frees": each.frees,
            **place_as_json(each.duplicate_of, "duplicate_of"),
        }
        evidence.append(known if differences is None else {**known, "differences": differences.get(each.number, [])})
    return {
        "representative": kept.id,
        "members": [each.id for each in group.duplicates],
        "kept": _file(kept),
        "duplicates": evidence,
    }


def pair_as_json(pair: Pair) -> dict[str, Any]:
    """Two documents that overlap enough."""
    places = {**place_as_json(pair.a, "a"), **place_as_json(pair.b, "b")}
    return {**places, "overlap": pair.overlap, "kind": pair.kind, "exact": pair.exact}


def _file(each: GroupedDocument) -> dict[str, Any]:
    return {**place_as_json(each.place), "path": each.path, "size": each.size, "changed": _date(each.changed)}


def _date(changed: int | None) -> str | None:
    return None if changed is None else datetime.fromtimestamp(changed / 1e9, timezone.utc).isoformat()
