"""A plan and filters to the body of a search request."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simdoc_search.analysis.words import without_surrogates
from simdoc_search.documents import Place
from simdoc_search.query.dsl import to_dsl
from simdoc_search.query.plans import Threshold
from simdoc_search.sketch.kinds import KindName
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.fields import fact_term, root_fact
from simdoc_search.stores.filters import Condition, Filters, FilterValue, conditions
from simdoc_search.stores.remote.mappings import WHOLE_NUMBERS, kind_of_ids, mapping_at
from simdoc_search.stores.remote.schema import MAX_PATH_CHARACTERS, labels_of, labels_without

LAST_CHARACTER = "\U0010ffff"
_NUMBER = re.compile(r"-?[0-9]{1,18}")
TERMS_AT_ONCE = 50_000
"""Of a `terms` clause, which takes 65,536 as engines are set."""


def in_random_order(query: Mapping[str, Any]) -> dict[str, Any]:
    """The documents that a query finds, in an order of chance: by that alone, as filters give all the score 0."""
    return {"function_score": {"query": query, "random_score": {}, "boost_mode": "replace"}}


@dataclass(frozen=True, slots=True)
class Ids:
    """How documents are named: by their `_id`, or by a field of theirs."""

    field: str | None = None
    are_numbers: bool = False

    @classmethod
    def by(cls, field: str | None, mappings: Iterable[Mapping[str, Any]]) -> Ids:
        """By a field of theirs, or by their `_id`.

        Raises:
            LocationError: the field can name none.
        """
        return cls() if field is None else cls(field, kind_of_ids(field, mappings) in WHOLE_NUMBERS)

    @property
    def parts(self) -> list[str]:
        """What of a document must be loaded for it."""
        return [] if self.field is None else [self.field]

    def query(self, ids: Sequence[str]) -> dict[str, Any]:
        """The documents with these ids."""
        if self.field is None:
            return {"ids": {"values": ids}}
        # Of `12_20_80` all readings are asked for, and an engine refuses to look for words among numbers.
        return {"terms": {self.field: [each for each in ids if not self.are_numbers or _NUMBER.fullmatch(each)]}}

    def at(self, place: Place) -> dict[str, Any]:
        """The document at a place."""
        clauses = [self.query([place.id])]
        if place.index is not None:
            clauses.append({"term": {"_index": place.index}})
        if place.routing is not None:
            clauses.append({"term": {"_routing": place.routing}})
        return {"bool": {"filter": clauses}} if len(clauses) > 1 else clauses[0]

    def place_of(self, hit: Mapping[str, Any]) -> Place:
        """Where a hit is."""
        return Place(self.of(hit), hit["_index"], hit.get("_routing"))

    def of(self, hit: Mapping[str, Any]) -> str:
        """The id of a hit; its `_id` if it has no such field."""
        if self.field is None:
            return str(hit["_id"])
        value: Any = hit.get("_source", {})
        for part in [self.field] if self.field in value else self.field.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return str(value[0] if isinstance(value, list) and value else value or hit["_id"])


def sharing_query(
    rows: Sequence[list[str]], filters: Sequence[dict[str, Any]], exclude: Place | None, ids: Ids, *, field: str
) -> dict[str, Any]:
    """The documents with a token of at least one of these rows in a field; the score is of how many."""
    kept = [*filters, *_without(exclude, ids)]
    if all(len(row) == 1 for row in rows):
        return to_dsl(Threshold(tuple(row[0] for row in rows), 1), field, filters=kept)
    sets = [{"constant_score": {"filter": {"terms": {field: row}}}} for row in rows]
    return {"bool": {"should": sets, "minimum_should_match": 1, "filter": kept}}


def phrase_query(
    text: str, fields: Sequence[str], filters: Sequence[dict[str, Any]], exclude: Place | None, ids: Ids
) -> dict[str, Any]:
    """The documents that have a phrase in one of these fields, unscored."""
    phrase = _either([{"match_phrase": {name: without_surrogates(text)}} for name in fields])
    return {"bool": {"filter": [phrase, *filters, *_without(exclude, ids)]}}


def any_of(
    tokens: Sequence[str], filters: Sequence[dict[str, Any]], exclude: Place | None, ids: Ids, *, field: str
) -> dict[str, Any]:
    """The same, unscored, for any number of tokens."""
    parts = [tokens[at : at + TERMS_AT_ONCE] for at in range(0, len(tokens), TERMS_AT_ONCE)]
    some = _either([{"terms": {field: part}} for part in parts])
    return {"bool": {"filter": [some, *filters, *_without(exclude, ids)]}}


def _without(exclude: Place | None, ids: Ids) -> list[dict[str, Any]]:
    return [] if exclude is None else [{"bool": {"must_not": [ids.at(exclude)]}}]


def complete_query(settings: Settings, field: str) -> dict[str, Any]:
    """The documents with all that an index of these settings needs."""
    return _one_of(f"{field}.format", labels_of(settings))


def lacking_kinds_query(settings: Settings, field: str, *names: KindName) -> dict[str, Any]:
    """The documents with a fingerprint of these settings that lack tokens of any of these kinds."""
    return _one_of(f"{field}.format", labels_without(settings, *names))


def filter_clauses(
    filters: Filters, mappings: Iterable[Mapping[str, Any]], *, field: str, own: bool
) -> list[dict[str, Any]]:
    """The clauses of filters.

    Args:
        filters: see `Filters`; clauses of the engine's own are kept as they are.
        mappings: those of all indices; they say where a text field has its exact form.
        field: the name of our field.
        own: whether the index was made by `simdoc-search index`, which keeps metadata as exact terms.
    """
    all_mappings = list(mappings)
    clauses: list[dict[str, Any]] = []
    for each in conditions(filters):
        if not isinstance(each, Condition):
            clauses.append(each)
            continue
        has = _having(each, all_mappings, field, own)
        clauses.append({"bool": {"must_not": [has]}} if each.excluded else has)
    return clauses


def _having(condition: Condition, mappings: list[Mapping[str, Any]], field: str, own: bool) -> dict[str, Any]:
    if condition.field == "path" and own:
        return any_path(condition.values, field)
    if own:
        return _one_of(f"{field}.facts", [fact_term(condition.field, value) for value in condition.values])
    forms = sorted({_exact_form(condition.field, mapping) for mapping in mappings})
    return _either([_one_of(form, list(condition.values)) for form in forms])


def of_root(root: str | None, below: bool, *, field: str) -> dict[str, Any]:
    """The documents with this root, or with one of the roots below it; all documents if there is none."""
    if root is None:
        return {"match_all": {}}
    if not below:
        return {"term": {f"{field}.facts": root_fact(root)}}
    begin = root_fact(os.path.join(root, ""))  # noqa: PTH118 - which leaves a separator at its end
    return {"range": {f"{field}.facts": {"gte": begin, "lte": begin + LAST_CHARACTER}}}


def any_path(beginnings: Iterable[FilterValue], field: str) -> dict[str, Any]:
    """The documents of an index of our own whose path begins with one of these."""
    some = [str(each)[:MAX_PATH_CHARACTERS] for each in beginnings]
    # A range, as engines take no prefix of over 1,000 characters.
    return _either([{"range": {f"{field}.path": {"gte": each, "lte": each + LAST_CHARACTER}}} for each in some])


def _one_of(field: str, values: list[Any]) -> dict[str, Any]:
    return {"term": {field: values[0]}} if len(values) == 1 else {"terms": {field: values}}


def _either(clauses: list[dict[str, Any]]) -> dict[str, Any]:
    if not clauses:
        return {"match_none": {}}
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}


def _exact_form(name: str, mappings: Mapping[str, Any]) -> str:
    """The field itself, or the first keyword below it if it is a text."""
    place = mapping_at(mappings, name) or {}
    if place.get("type") != "text":
        return name
    keywords = (below for below, mapping in place.get("fields", {}).items() if mapping.get("type") == "keyword")
    return f"{name}.{next(keywords, '')}".rstrip(".")
