"""Builds clauses and queries in the query language of the engines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simdoc_search.analysis.words import without_surrogates
from simdoc_search.documents import DocumentKey
from simdoc_search.query.dsl import to_dsl
from simdoc_search.query.plans import ThresholdPlan
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TokenKindName
from simdoc_search.stores.remote.mappings import (
    INTEGER_TYPES,
    id_field_type,
)
from simdoc_search.stores.remote.schema import labels_missing_kinds, labels_with_all_kinds

_INTEGER_PATTERN = re.compile(r"-?[0-9]{1,18}")

MAX_TERMS = 50_000
"""Maximum number of values in a `terms` clause. Engines allow 65,536 by default."""


@dataclass(frozen=True, slots=True)
class IdField:
    """The part of a document that contains its id. It is `_id` or a field.

    `field` is None for `_id`. If `is_numeric`, the field contains integers.
    """

    field: str | None = None
    is_numeric: bool = False

    @classmethod
    def for_field(cls, field: str | None, mappings: Iterable[Mapping[str, Any]]) -> IdField:
        """Return the `IdField` for a field, or for `_id` if `field` is None.

        Raises:
            LocationError: the field cannot identify documents.
        """
        return cls() if field is None else cls(field, id_field_type(field, mappings) in INTEGER_TYPES)

    @property
    def source_fields(self) -> list[str]:
        """The fields in `_source` that `id_of` reads."""
        return [] if self.field is None else [self.field]

    def query(self, ids: Sequence[str]) -> dict[str, Any]:
        """Return the query for the documents with these ids."""
        if self.field is None:
            return {"ids": {"values": ids}}
        # For an integer field, an engine rejects strings that are not integers. `int` would also accept `12_20_80`.
        return {"terms": {self.field: [id for id in ids if not self.is_numeric or _INTEGER_PATTERN.fullmatch(id)]}}

    def key_query(self, key: DocumentKey) -> dict[str, Any]:
        """Return the query for the document with a key."""
        clauses = [self.query([key.id])]
        if key.index is not None:
            clauses.append({"term": {"_index": key.index}})
        if key.routing is not None:
            clauses.append({"term": {"_routing": key.routing}})
        return {"bool": {"filter": clauses}} if len(clauses) > 1 else clauses[0]

    def key_clauses(self, key: DocumentKey | None) -> list[dict[str, Any]]:
        """Return a list that contains the query of `key_query`, or an empty list for None."""
        return [] if key is None else [self.key_query(key)]

    def key_of(self, hit: Mapping[str, Any]) -> DocumentKey:
        """Return the key of a hit's document."""
        return DocumentKey(self.id_of(hit), hit["_index"], hit.get("_routing"))

    def id_of(self, hit: Mapping[str, Any]) -> str:
        """Return the id of a hit. If the hit does not have the field, return its `_id`."""
        if self.field is None:
            return str(hit["_id"])
        value: Any = hit.get("_source", {})
        for part in [self.field] if self.field in value else self.field.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return str(value[0] if isinstance(value, list) and value else value or hit["_id"])


def shared_tokens_query(
    token_groups: Sequence[list[str]],
    filters: Sequence[dict[str, Any]],
    exclude: DocumentKey | None,
    id_field: IdField,
    *,
    token_field: str,
) -> dict[str, Any]:
    """Return the query for documents that match at least one group of alternative tokens.

    A document matches a group if its field contains at least one token of the group. The score is the number of groups
    that the document matches.
    """
    clauses = [*filters, *_exclusion_clauses(exclude, id_field)]
    if all(len(group) == 1 for group in token_groups):
        return to_dsl(ThresholdPlan(tuple(group[0] for group in token_groups), 1), token_field, filters=clauses)
    matching = [{"constant_score": {"filter": {"terms": {token_field: group}}}} for group in token_groups]
    return {"bool": {"should": matching, "minimum_should_match": 1, "filter": clauses}}


def any_token_query(
    tokens: Sequence[str],
    filters: Sequence[dict[str, Any]],
    exclude: DocumentKey | None,
    id_field: IdField,
    *,
    token_field: str,
) -> dict[str, Any]:
    """Return the query, without scores, for documents that have at least one of the tokens."""
    parts = [tokens[start : start + MAX_TERMS] for start in range(0, len(tokens), MAX_TERMS)]
    shared = any_clause([{"terms": {token_field: part}} for part in parts])
    return {"bool": {"filter": [shared, *filters, *_exclusion_clauses(exclude, id_field)]}}


def phrase_query(
    text: str, fields: Sequence[str], filters: Sequence[dict[str, Any]], exclude: DocumentKey | None, id_field: IdField
) -> dict[str, Any]:
    """Return the query, without scores, for documents with a phrase in one of these fields."""
    phrase = any_clause([{"match_phrase": {name: without_surrogates(text)}} for name in fields])
    return {"bool": {"filter": [phrase, *filters, *_exclusion_clauses(exclude, id_field)]}}


def exists_clause(path: str) -> dict[str, Any]:
    """Return the clause for documents with a value in a field."""
    return {"exists": {"field": path}}


def any_clause(clauses: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the clause for documents that match at least one of the clauses."""
    alternatives = list(clauses)
    if not alternatives:
        return {"match_none": {}}
    return alternatives[0] if len(alternatives) == 1 else {"bool": {"should": alternatives, "minimum_should_match": 1}}


def randomize_order(query: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same query with hits in random order."""
    return {"function_score": {"query": query, "random_score": {}, "boost_mode": "replace"}}


def all_kinds_query(settings: Settings, fingerprint_field: str) -> dict[str, Any]:
    """Return the query for documents whose fingerprints have these settings, with all of their kinds of tokens."""
    return term_clause(f"{fingerprint_field}.format", labels_with_all_kinds(settings))


def missing_kinds_query(settings: Settings, fingerprint_field: str, *names: TokenKindName) -> dict[str, Any]:
    """Return the query for documents whose fingerprints have these settings, but lack a kind of tokens in `names`."""
    return term_clause(f"{fingerprint_field}.format", labels_missing_kinds(settings, *names))


def _exclusion_clauses(exclude: DocumentKey | None, id_field: IdField) -> list[dict[str, Any]]:
    return [] if exclude is None else [{"bool": {"must_not": id_field.key_clauses(exclude)}}]


def term_clause(field: str, values: list[Any]) -> dict[str, Any]:
    """Return the clause for documents with one of these exact values in a field."""
    return {"term": {field: values[0]}} if len(values) == 1 else {"terms": {field: values}}
