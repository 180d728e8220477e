"""Converts filters to clauses in the query language of the engines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.stores.fields import METADATA_FIELD, ORIGIN_FIELD, metadata_term, parse_origin_value, root_term
from simdoc_search.stores.filters import Condition, Filters, FilterValue, parse_filters
from simdoc_search.stores.remote.mappings import (
    field_or_multi_field,
    leaf_field_paths,
    max_indexed_length,
    nested_path,
    shorten_list,
)
from simdoc_search.stores.remote.queries import any_clause, term_clause
from simdoc_search.stores.remote.schema import MAX_PATH_CHARACTERS

_LAST_CHARACTER = "\U0010ffff"
_TEXT_TYPES = frozenset({"text", "match_only_text", "search_as_you_type"})
_EXACT_TEXT_TYPES = frozenset({"keyword", "wildcard"})


def filter_clauses(
    filters: Filters, mappings: Iterable[Mapping[str, Any]], *, fingerprint_field: str, is_simdoc_index: bool
) -> list[dict[str, Any]]:
    """Convert filters to clauses of the query language.

    Clauses of the query language in the filters are not changed. The mappings of all indices show the keyword
    multi-fields of text fields, and the nested fields. An index that `simdoc-search index` created contains metadata as
    exact terms.

    Raises:
        QuerySyntaxError: the filters are malformed, a field is a text field without a keyword multi-field, or a value
            is longer than those that its field indexes (`ignore_above`).
    """
    all_mappings = list(mappings)
    clauses: list[dict[str, Any]] = []
    for condition in parse_filters(filters):
        if not isinstance(condition, Condition):
            clauses.append(condition)
            continue
        clause = _condition_clause(condition, all_mappings, fingerprint_field, is_simdoc_index)
        clauses.append({"bool": {"must_not": [clause]}} if condition.is_negated else clause)
    return clauses


def root_clause(root_folder: str | None, only_roots_inside_folder: bool, *, fingerprint_field: str) -> dict[str, Any]:
    """Return the clause for documents that were indexed from `root_folder`.

    If `only_roots_inside_folder`, return the clause for documents that were indexed from a folder or file inside
    `root_folder`. If `root_folder` is None, the clause matches all documents.
    """
    if root_folder is None:
        return {"match_all": {}}
    if not only_roots_inside_folder:
        return {"term": {f"{fingerprint_field}.{METADATA_FIELD}": root_term(root_folder)}}
    first_term = root_term(os.path.join(root_folder, ""))  # noqa: PTH118 - a Path would drop the final separator
    return {
        "range": {f"{fingerprint_field}.{METADATA_FIELD}": {"gte": first_term, "lte": first_term + _LAST_CHARACTER}}
    }


def path_clause(prefixes: Iterable[FilterValue], fingerprint_field: str) -> dict[str, Any]:
    """Return the clause for documents whose path begins with one of these prefixes, in an index of simdoc-search."""
    values = [str(prefix)[:MAX_PATH_CHARACTERS] for prefix in prefixes]
    # A range is used instead of a `prefix` query, which allows only 1,000 characters.
    ranges = [{"gte": value, "lte": value + _LAST_CHARACTER} for value in values]
    return any_clause([{"range": {f"{fingerprint_field}.path": bounds}} for bounds in ranges])


def _condition_clause(
    condition: Condition, mappings: list[Mapping[str, Any]], fingerprint_field: str, is_simdoc_index: bool
) -> dict[str, Any]:
    if condition.field == "path" and is_simdoc_index:
        return path_clause(condition.values, fingerprint_field)
    if condition.field == ORIGIN_FIELD and is_simdoc_index:
        return any_clause([_origin_clause(*parse_origin_value(value), fingerprint_field) for value in condition.values])
    if is_simdoc_index:
        return term_clause(
            f"{fingerprint_field}.{METADATA_FIELD}",
            [metadata_term(condition.field, value) for value in condition.values],
        )
    names = {(_exact_field(condition.field, mapping), nested_path(mapping, condition.field)) for mapping in mappings}
    if not all(name for name, _ in names):
        raise _text_field_error(condition.field, mappings, fingerprint_field)
    for name, _ in names:
        _check_lengths(condition, name, mappings)
    terms = [
        nested_clause(term_clause(name, list(condition.values)), path)
        for name, path in sorted(names, key=lambda pair: (pair[0], pair[1] or ""))
    ]
    return any_clause(terms)


def nested_clause(clause: dict[str, Any], path: str | None) -> dict[str, Any]:
    """Wrap a clause on a field of the `nested` objects at a path. Return it unchanged if the path is None."""
    # Another index behind the alias may not have the nested object.
    return clause if path is None else {"nested": {"path": path, "query": clause, "ignore_unmapped": True}}


def _origin_clause(root_folder: str, path: str, fingerprint_field: str) -> dict[str, Any]:
    has_root = root_clause(root_folder, only_roots_inside_folder=False, fingerprint_field=fingerprint_field)
    if not path:
        return has_root
    if path.endswith("/"):
        has_path = path_clause([path], fingerprint_field)
    else:
        is_file = {"term": {f"{fingerprint_field}.path": path[:MAX_PATH_CHARACTERS]}}
        has_path = any_clause([is_file, path_clause([f"{path}/", f"{path}!"], fingerprint_field)])
    return {"bool": {"filter": [has_root, has_path]}}


def _exact_field(name: str, mapping: Mapping[str, Any]) -> str:
    """Return the name of a field for exact matches. It is empty if the field contains only the words of its values.

    For a text field, it is the name of its first keyword multi-field.
    """
    field = field_or_multi_field(mapping, name) or {}
    if field.get("type") not in _TEXT_TYPES:
        return name
    multi_fields = field.get("fields", {}).items()
    return next((f"{name}.{other}" for other, mapped in multi_fields if mapped.get("type") in _EXACT_TEXT_TYPES), "")


def _text_field_error(name: str, mappings: Iterable[Mapping[str, Any]], fingerprint_field: str) -> QuerySyntaxError:
    exact_fields = {
        path
        for mapping in mappings
        for path in leaf_field_paths(mapping)
        if not path.startswith(f"{fingerprint_field}.") and _exact_field(path, mapping)
    }
    return QuerySyntaxError(
        f"a filter compares whole values, but the field {name!r} has the type text and no keyword sub-field; filter by "
        f"one of the fields with whole values ({shorten_list(exact_fields)}), add a keyword sub-field and reindex, or "
        f"in Python, put a query clause of your own, such as {{'match_phrase': {{{name!r}: ...}}}}, in the list of "
        "filters"
    )


def _check_lengths(condition: Condition, name: str, mappings: Iterable[Mapping[str, Any]]) -> None:
    limit = max_indexed_length(name, mappings)
    for value in condition.values:
        if limit is not None and isinstance(value, str) and len(value) > limit:
            raise QuerySyntaxError(
                f"the filter {condition.field!r} cannot match {value!r:.80}, because the field {name} indexes only "
                f"values of at most {limit} characters; increase ignore_above in the mapping, then write the documents "
                "again, or filter by another field"
            )
