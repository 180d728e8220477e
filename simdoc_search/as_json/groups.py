"""Which documents of a whole collection belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.queries import place_as_json
from simdoc_search.as_json.versions import contradiction_as_json, dated_as_json, entry_place_as_json

if TYPE_CHECKING:
    from simdoc_search.documents import Place
    from simdoc_search.groups import Edge, Families, Topic, Topics
    from simdoc_search.search import VersionFamily


def families_as_json(found: Families, shown: Sequence[VersionFamily]) -> dict[str, Any]:
    """The counts, and some of the families."""
    crowded = {"documents": found.crowded, "most": found.most_owners, "compared": found.anchors}
    return {
        "documents": found.documents,
        "families": found.family_count,
        "members": found.member_count,
        "pairs": found.edge_count,
        "compared": found.compared,
        "enough": found.limits.enough,
        "least": found.limits.least,
        "groups": [_family(each) for each in shown],
        "all_near": found.all_near,
        "crowded": crowded if found.crowded else None,
        "left_out": _left_out(found.left_out),
    }


def _family(family: VersionFamily) -> dict[str, Any]:
    return {
        "newest": None if family.newest is None else entry_place_as_json(family.newest),
        "order": {
            "by": family.by,
            "certain": family.certain,
            "conflict": [contradiction_as_json(each) for each in family.conflict],
            "reason": family.reason,
        },
        "timeline": [{**entry_place_as_json(each), **dated_as_json(each)} for each in family.timeline],
        "undated": [{**entry_place_as_json(each), **dated_as_json(each)} for each in family.undated],
        "pairs": family.pairs,
        "least_score": family.least,
    }


def topics_as_json(found: Topics, shown: Sequence[tuple[Topic, Sequence[str]]]) -> dict[str, Any]:
    """The counts, and some of the topics with their concepts."""
    return {
        "documents": found.documents,
        "topics": found.topic_count,
        "members": found.member_count,
        "pairs": found.edge_count,
        "compared": found.compared,
        "groups": [_topic(topic, names) for topic, names in shown],
        "frequent": {"concepts": found.frequent, "most": found.most_met, "found": found.anchors}
        if found.frequent
        else None,
        "cut": {"documents": found.cut, "compared": found.most_compared} if found.cut else None,
        "alone": found.alone,
        "left_out": _left_out(found.left_out),
    }


def _topic(topic: Topic, names: Sequence[str]) -> dict[str, Any]:
    members = [{**place_as_json(each.place), "score": each.score, "kind": each.kind} for each in topic.members]
    return {"centre": place_as_json(topic.centre), "concepts": list(names), "related": members}


def edge_as_json(edge: Edge) -> dict[str, Any]:
    """Two documents that belong together."""
    numbers = {"score": edge.score, "kind": edge.kind}
    return {**place_as_json(edge.a, "a"), **place_as_json(edge.b, "b"), **numbers}


def _left_out(left_out: dict[Place, str]) -> list[dict[str, Any]]:
    return [{**place_as_json(place), "reason": reason} for place, reason in left_out.items()]
