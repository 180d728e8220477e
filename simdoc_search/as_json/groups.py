"""Converts the families and topics of a whole collection to JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.queries import key_as_json
from simdoc_search.as_json.versions import date_as_json, entry_key_as_json, order_as_json

if TYPE_CHECKING:
    from simdoc_search.documents import DocumentKey
    from simdoc_search.groups import Families, Topic, Topics
    from simdoc_search.search.version_order import VersionFamily


def families_as_json(families: Families, shown_families: Sequence[VersionFamily]) -> dict[str, Any]:
    """Convert the counts and thresholds of all families, and the shown families."""
    frequent = {
        "document_count": families.frequent_sentence_document_count,
        "threshold": families.frequent_sentence_limit,
        "max_compared_per_sentence": families.max_compared_per_sentence,
    }
    return {
        "document_count": families.document_count,
        "family_count": families.family_count,
        "member_count": families.member_count,
        "copy_group_count": families.copy_group_count,
        "copy_count": families.copy_count,
        "pair_count": families.pair_count,
        "compared_count": families.compared_count,
        "min_share": families.thresholds.min_share,
        "min_smaller_share": families.thresholds.min_smaller_share,
        "families": [_family_as_json(family) for family in shown_families],
        "found_all_similar_sentences": families.found_all_similar_sentences,
        "frequent_sentences": frequent if families.frequent_sentence_document_count else None,
        "left_out": _left_out_as_json(families.left_out),
    }


def _family_as_json(family: VersionFamily) -> dict[str, Any]:
    return {
        **order_as_json(family),
        "timeline": [{**entry_key_as_json(entry), **date_as_json(entry)} for entry in family.timeline],
        "unordered": [{**entry_key_as_json(entry), **date_as_json(entry)} for entry in family.unordered],
        "pair_count": family.pair_count,
        "lowest_score": family.lowest_score,
    }


def topics_as_json(topics: Topics, shown_topics: Sequence[tuple[Topic, Sequence[str]]]) -> dict[str, Any]:
    """Convert the counts and thresholds of all topics, and the shown topics with the names of their concepts."""
    frequent = {
        "concept_count": topics.frequent_concept_count,
        "threshold": topics.frequent_concept_limit,
        "max_documents_per_concept": topics.max_documents_per_concept,
    }
    return {
        "document_count": topics.document_count,
        "topic_count": topics.topic_count,
        "member_count": topics.member_count,
        "pair_count": topics.pair_count,
        "compared_count": topics.compared_count,
        "topics": [_topic_as_json(topic, concepts) for topic, concepts in shown_topics],
        "frequent_concepts": frequent if topics.frequent_concept_count else None,
        "too_many_candidates": {
            "document_count": topics.partly_compared_document_count,
            "max_compared_candidates": topics.max_compared_candidates,
        }
        if topics.partly_compared_document_count
        else None,
        "isolated_document_count": topics.isolated_document_count,
        "left_out": _left_out_as_json(topics.left_out),
    }


def _topic_as_json(topic: Topic, concepts: Sequence[str]) -> dict[str, Any]:
    members = [{**key_as_json(member.key), "score": member.score, "kind": member.kind} for member in topic.members]
    return {"centre": key_as_json(topic.centre), "concepts": list(concepts), "related": members}


def _left_out_as_json(left_out: Mapping[DocumentKey, str]) -> list[dict[str, Any]]:
    return [{**key_as_json(key), "reason": reason} for key, reason in left_out.items()]
