"""A plan and filters to the body of a search request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simdoc_search.query.dsl import MAX_CLAUSES, to_dsl
from simdoc_search.query.planner import Bands, Threshold
from simdoc_search.stores.base import Filters
from simdoc_search.stores.fields import fact_term
from simdoc_search.stores.remote_mappings import mapping_at
from simdoc_search.stores.remote_schema import MAX_PATH_CHARACTERS

LAST_CHARACTER = "\U0010ffff"

__all__ = ["Ids", "filter_clauses", "plan_query"]


@dataclass(frozen=True, slots=True)
class Ids:
    """How documents are named: by their `_id`, or by a field of theirs."""

    field: str | None = None

    @property
    def parts(self) -> list[str]:
        """What of a document must be loaded for it."""
        return [] if self.field is None else [self.field]

    def query(self, ids: Sequence[str]) -> dict[str, Any]:
        """The documents with these ids."""
        return {"ids": {"values": ids}} if self.field is None else {"terms": {self.field: ids}}

    def of(self, hit: Mapping[str, Any]) -> str:
        """The id of a hit; its `_id` if it has no such field."""
        if self.field is None:
            return str(hit["_id"])
        value: Any = hit.get("_source", {})
        for part in [self.field] if self.field in value else self.field.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return str(value[0] if isinstance(value, list) and value else value or hit["_id"])


def plan_query(
    plan: Threshold | Bands,
    filters: Sequence[dict[str, Any]],
    exclude: str | None,
    ids: Ids,
    *,
    field: str,
    scored: bool = True,
    max_clauses: int = MAX_CLAUSES,
) -> dict[str, Any]:
    """The query of a plan; its score is the number of equal tokens, or nothing if it need not be `scored`."""
    if exclude is not None and ids.field is not None:
        filters, exclude = [*filters, {"bool": {"must_not": [ids.query([exclude])]}}], None
    return to_dsl(
        plan,
        f"{field}.tokens",
        buckets_field=f"{field}.buckets",
        filters=filters,
        exclude_id=exclude,
        scored=scored,
        max_clauses=max_clauses,
    )


def filter_clauses(
    filters: Filters, mappings: Iterable[Mapping[str, Any]], *, field: str, own: bool
) -> list[dict[str, Any]]:
    """The clauses of filters.

    Args:
        filters: field to value, or clauses of the engine's own, which are kept as they are.
        mappings: those of all indices; they say where a text field has its exact form.
        field: the name of our field.
        own: whether the index was made by `simdoc-search index`, which keeps metadata as exact terms.
    """
    if not isinstance(filters, Mapping):
        return list(filters)
    all_mappings = list(mappings)
    clauses: list[dict[str, Any]] = []
    for name, given in filters.items():
        for value in given if isinstance(given, list) else [given]:
            if name == "path" and own:
                begin = str(value)[:MAX_PATH_CHARACTERS]
                # A range, as engines take no prefix of over 1,000 characters.
                clauses.append({"range": {f"{field}.path": {"gte": begin, "lte": begin + LAST_CHARACTER}}})
            elif own:
                clauses.append({"term": {f"{field}.facts": fact_term(name, value)}})
            else:
                forms = sorted({_exact_form(name, mapping) for mapping in all_mappings})
                clauses.append(_any_of([{"term": {form: value}} for form in forms]))
    return clauses


def _any_of(clauses: list[dict[str, Any]]) -> dict[str, Any]:
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}


def _exact_form(name: str, mappings: Mapping[str, Any]) -> str:
    """The field itself, or the first keyword below it if it is a text."""
    place = mapping_at(mappings, name) or {}
    if place.get("type") != "text":
        return name
    keywords = (below for below, mapping in place.get("fields", {}).items() if mapping.get("type") == "keyword")
    return f"{name}.{next(keywords, '')}".rstrip(".")
