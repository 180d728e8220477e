"""Converts the families and topics of a whole collection to JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.queries import place_as_json
from simdoc_search.as_json.versions import dated_as_json, entry_place_as_json, order_as_json

if TYPE_CHECKING:
    from simdoc_search.documents import DocumentKey
    from simdoc_search.groups import Edge, Families, Topic, Topics
    from simdoc_search.search import VersionFamily


def families_as_json(families: Families, shown: Sequence[VersionFamily]) -> dict[str, Any]:
    """Convert the counts and limits of the families, and the families in `shown`."""
    crowded = {
        "documents": families.documents_with_frequent_sentences,
        "most": families.frequent_sentence_limit,
        "compared": families.compared_per_sentence,
    }
    return {
        "documents": families.documents,
        "families": families.family_count,
        "members": families.member_count,
        "pairs": families.edge_count,
        "compared": families.compared,
        "min_share": families.limits.min_share,
        "min_smaller_share": families.limits.min_smaller_share,
        "groups": [_family_as_json(family) for family in shown],
        "all_near": families.found_all_similar,
        "crowded": crowded if families.documents_with_frequent_sentences else None,
        "left_out": _left_out_as_json(families.left_out),
    }


def _family_as_json(family: VersionFamily) -> dict[str, Any]:
    return {
        **order_as_json(family),
        "timeline": [{**entry_place_as_json(entry), **dated_as_json(entry)} for entry in family.timeline],
        "undated": [{**entry_place_as_json(entry), **dated_as_json(entry)} for entry in family.undated],
        "pairs": family.pairs,
        "lowest_score": family.lowest_score,
    }


def topics_as_json(topics: Topics, shown: Sequence[tuple[Topic, Sequence[str]]]) -> dict[str, Any]:
    """Convert the counts and limits of the topics, and the topics in `shown` with the names of their concepts."""
    frequent = {
        "concepts": topics.frequent_concept_count,
        "most": topics.frequent_concept_limit,
        "found": topics.found_per_concept,
    }
    return {
        "documents": topics.documents,
        "topics": topics.topic_count,
        "members": topics.member_count,
        "pairs": topics.edge_count,
        "compared": topics.compared,
        "groups": [_topic_as_json(topic, names) for topic, names in shown],
        "frequent": frequent if topics.frequent_concept_count else None,
        "cut": {"documents": topics.documents_with_too_many_candidates, "compared": topics.max_compared}
        if topics.documents_with_too_many_candidates
        else None,
        "alone": topics.documents_without_candidates,
        "left_out": _left_out_as_json(topics.left_out),
    }


def _topic_as_json(topic: Topic, names: Sequence[str]) -> dict[str, Any]:
    members = [{**place_as_json(member.place), "score": member.score, "kind": member.kind} for member in topic.members]
    return {"centre": place_as_json(topic.centre), "concepts": list(names), "related": members}


def edge_as_json(edge: Edge) -> dict[str, Any]:
    """Convert a pair of documents that are versions of each other or related."""
    places = {**place_as_json(edge.a, "a"), **place_as_json(edge.b, "b")}
    return {**places, "score": edge.score, "kind": edge.kind}


def _left_out_as_json(left_out: Mapping[DocumentKey, str]) -> list[dict[str, Any]]:
    return [{**place_as_json(place), "reason": reason} for place, reason in left_out.items()]
