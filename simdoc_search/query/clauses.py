"""Handles queries in Lucene's syntax with a FINGERPRINT clause, such as `FINGERPRINT:doc123_20 AND team:legal`.

Engines do not support this clause. `expand_fingerprints` rewrites each `query_string` that contains a FINGERPRINT as a
`bool` query. It does not change the rest of the request. `parse_fingerprint_and_filters` returns a FINGERPRINT and its
filters, which any store supports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.lucene import (
    FINGERPRINT_FIELD,
    QUOTED_PATTERN,
    BooleanClause,
    Occur,
    boolean_clauses,
    has_fingerprint,
    parse_query,
    read_fingerprint,
    read_value,
)
from simdoc_search.query.syntax import parse

Clause = dict[str, Any]

_OPERATOR = re.compile(rf"{QUOTED_PATTERN}|(?P<unquoted>(?<!\S)(?:AND|OR|NOT|&&|\|\|)(?!\S))", re.DOTALL)
_FIELD_NAME = re.compile(rf"{QUOTED_PATTERN}|(?P<unquoted>\b{FINGERPRINT_FIELD}\s*:)", re.DOTALL)
_FILTERS_AFTER_ID = re.compile(rf"{QUOTED_PATTERN}|(?P<unquoted>(?<=\s)(?:AND|&&)\s+(?:NOT\s+)?[\w.]+:\S)", re.DOTALL)
_FINGERPRINT_PREFIX = re.compile(rf"\s*(?:{FINGERPRINT_FIELD}\s*:\s*)?", re.IGNORECASE)
_ADVICE = (
    "write `FINGERPRINT:ID_20`, then filters such as `AND FIELD:VALUE`, `AND FIELD:(VALUE OR VALUE)` or "
    "`AND NOT FIELD:VALUE`"
)


class FilteredFingerprint(NamedTuple):
    """A FINGERPRINT and the filters that are combined with it.

    A filter is a field and values. A document must have one of the values of each filter in `required_filters`, and
    none of the values in `excluded_filters`.
    """

    fingerprint: str
    required_filters: list[tuple[str, list[str]]]
    excluded_filters: list[tuple[str, list[str]]]


def has_other_clauses(text: str) -> bool:
    """Return whether a string contains a FINGERPRINT and other clauses.

    Otherwise the string is an id, perhaps with spaces.
    """
    return all(_has_unquoted(pattern, text) for pattern in (_FIELD_NAME, _OPERATOR))


def missing_fingerprint_error(text: str) -> QuerySyntaxError | None:
    """Return an error if a string is an id with filters, but lacks `FINGERPRINT:` before the id; otherwise None.

    The string can also be an id. Call this function only if no document has this id.
    """
    starts = [match.start() for match in _FILTERS_AFTER_ID.finditer(text) if match["unquoted"]]
    if not starts or _has_unquoted(_FIELD_NAME, text):
        return None
    fingerprint = _FINGERPRINT_PREFIX.sub("", text[: starts[0]], count=1).rstrip()
    if " " in fingerprint:
        fingerprint = str(parse(fingerprint).readings[-1])
    return QuerySyntaxError(
        "a query with filters must begin with FINGERPRINT: in capital letters; write "
        f"{FINGERPRINT_FIELD}:{fingerprint} {text[starts[0] :]}"
    )


def _has_unquoted(pattern: re.Pattern[str], text: object) -> bool:
    return isinstance(text, str) and any(match["unquoted"] for match in pattern.finditer(text))


def expand_fingerprints(query: str | Mapping[str, Any], make_clause: Callable[[str], Clause]) -> Clause:
    """Replace the FINGERPRINT clauses of a query with clauses of an engine.

    Args:
        query: a string in `query_string` syntax, or a request body, or a part of a body. Every `query_string` in a body
            is expanded. The body itself is not changed.
        make_clause: a function that returns the clause for a FINGERPRINT such as `doc123_20_80` or `"an id"_20`.

    Returns:
        A clause, or an expanded copy of the body. Clauses without a FINGERPRINT are unchanged.

    Raises:
        QuerySyntaxError: a `query_string` with a FINGERPRINT is malformed, or contains a FINGERPRINT in a place where
            it is not allowed.
        MissingExtraError: luqum is not installed.
    """
    if isinstance(query, str):
        return _expand_query_string({"query": query}, make_clause)
    return dict(_expand_value(query, make_clause))


def parse_fingerprint_and_filters(query: str) -> FilteredFingerprint:
    """Return the FINGERPRINT of a query, and its filters: required or excluded clauses FIELD:VALUE.

    Raises:
        QuerySyntaxError: the query does not have this form, or a filter has a wildcard or a range.
        MissingExtraError: luqum is not installed.
    """
    tree, values = parse_query(query)
    filters = FilteredFingerprint("", [], [])
    parts = list(boolean_clauses(tree, default_operator_is_and=False))
    for part in parts:
        fingerprint, (field, field_values) = read_fingerprint(part.node, values), _read_field_and_values(part.node)
        if fingerprint and part.occur == "must" and not filters.fingerprint:
            filters = filters._replace(fingerprint=fingerprint)
        elif fingerprint or not field or part.occur == "should":
            raise _unsupported_error(query, parts)
        else:
            (filters.required_filters if part.occur == "must" else filters.excluded_filters).append(
                (field, field_values)
            )
    if not filters.fingerprint:
        raise _unsupported_error(query, parts)
    return filters


def _unsupported_error(query: str, parts: list[BooleanClause]) -> QuerySyntaxError:
    from luqum import tree  # noqa: PLC0415 - an optional dependency

    without_field = [part.node for part in parts if not isinstance(part.node, tree.SearchField)]
    if any(isinstance(node, tree.Term) for node in without_field):
        words = " ".join(str(node).strip() for node in without_field)
        return QuerySyntaxError(
            f"{words!r:.200} is not a filter; if it is part of the id, put the id in quotes, as in "
            f'`FINGERPRINT:"my id"_20`; otherwise, {_ADVICE}'
        )
    return QuerySyntaxError(
        f"the query must be one FINGERPRINT clause, alone or with filters, not {query!r:.200}; {_ADVICE}"
    )


def _expand_value(value: Any, make_clause: Callable[[str], Clause]) -> Any:
    if isinstance(value, Mapping):
        options = value.get("query_string")
        if isinstance(options, Mapping) and _has_unquoted(_FIELD_NAME, options.get("query")):
            if others := sorted(key for key in value if key != "query_string"):
                raise QuerySyntaxError(
                    f"the clause with query_string also has the keys {', '.join(map(repr, others))}; remove these keys"
                )
            return _expand_query_string(options, make_clause)
        return {key: _expand_value(part, make_clause) for key, part in value.items()}
    return [_expand_value(part, make_clause) for part in value] if isinstance(value, list) else value


def _expand_query_string(query_string: Mapping[str, Any], make_clause: Callable[[str], Clause]) -> Clause:
    if not _has_unquoted(_FIELD_NAME, query_string["query"]):
        return {"query_string": dict(query_string)}
    tree, values = parse_query(query_string["query"])
    options = dict(query_string)
    del options["query"]
    boost, minimum_should_match = options.pop("boost", None), options.pop("minimum_should_match", None)
    clause = _Expander(options, values, make_clause).expand(tree, minimum_should_match)
    return clause if boost is None else {"bool": {"must": [clause], "boost": boost}}


class _Expander:
    """Rewrites the parts of a query's tree that contain a FINGERPRINT as `bool` queries."""

    def __init__(self, options: dict[str, Any], values: list[str], make_clause: Callable[[str], Clause]) -> None:
        self._options, self._values, self._make_clause = options, values, make_clause
        self._default_operator_is_and = str(options.get("default_operator", "or")).lower() == "and"

    def expand(self, node: Any, minimum_should_match: object = None) -> Clause:
        """Expand a clause and all clauses in it. `minimum_should_match` applies to the outermost level."""
        from luqum import tree  # noqa: PLC0415 - an optional dependency

        if not has_fingerprint(node):
            return self._query_string_clause(str(node).strip())
        if fingerprint := read_fingerprint(node, self._values):
            return self._make_clause(fingerprint)
        if isinstance(node, tree.Boost):
            return {"bool": {"must": [self.expand(node.expr, minimum_should_match)], "boost": float(node.force)}}
        if isinstance(node, tree.Group):
            return self.expand(node.expr, minimum_should_match)
        if isinstance(node, tree.SearchField):
            return self._expand_field(node)
        if isinstance(node, tree.BaseOperation | tree.Unary):
            return self._expand_level(
                list(boolean_clauses(node, default_operator_is_and=self._default_operator_is_and)), minimum_should_match
            )
        raise QuerySyntaxError(
            f"{str(node).strip()!r} is not a FINGERPRINT; write FINGERPRINT:ID_20 or FINGERPRINT:ID_20_80"
        )

    def _query_string_clause(self, query: str) -> Clause:
        return {"query_string": {**self._options, "query": query}}

    def _expand_field(self, node: Any) -> Clause:
        """Expand `FINGERPRINT:(a_20 OR b_20)`."""
        from luqum import tree  # noqa: PLC0415 - an optional dependency

        if node.name != FINGERPRINT_FIELD or not isinstance(node.expr, tree.FieldGroup):
            raise QuerySyntaxError(
                f"{str(node).strip()!r} is not supported; write FINGERPRINT:ID_20, without wildcards, and not in "
                "the parentheses of another field"
            )
        parts = boolean_clauses(node.expr.expr, default_operator_is_and=self._default_operator_is_and)
        return _combine([(part.occur, self._make_clause(read_value(part.node, self._values))) for part in parts])

    def _expand_level(self, parts: list[BooleanClause], minimum_should_match: object) -> Clause:
        """Expand the clauses of a level.

        Adjacent clauses without a FINGERPRINT are joined into one `query_string` if they have the same `occur`. They
        are not joined if `minimum_should_match` is given, because the engine then counts the clauses of the `bool`
        query.
        """
        clauses: list[tuple[Occur, Clause]] = []
        run: list[str] = []
        for part, next_part in zip(parts, [*parts[1:], None], strict=True):
            if has_fingerprint(part.node):
                clauses.append((part.occur, self.expand(part.node)))
                continue
            run.append(str(part.node).strip())
            if next_part and minimum_should_match is None and self._can_be_joined(part, next_part):
                continue
            is_default = (part.occur == "must") == self._default_operator_is_and
            conjunction = " " if is_default else " AND " if part.occur == "must" else " OR "
            clauses.append((part.occur, self._query_string_clause(conjunction.join(run))))
            run = []
        return _combine(clauses, minimum_should_match)

    @staticmethod
    def _can_be_joined(part: BooleanClause, next_part: BooleanClause) -> bool:
        are_unmodified = part.is_unmodified and next_part.is_unmodified and not has_fingerprint(next_part.node)
        return are_unmodified and part.occur == next_part.occur != "must_not"


def _combine(clauses: list[tuple[Occur, Clause]], minimum_should_match: object = None) -> Clause:
    """Combine the clauses of a level. `minimum_should_match` is the number of optional clauses that must match."""
    if len(clauses) == 1 and clauses[0][0] != "must_not" and minimum_should_match is None:
        return clauses[0][1]
    body: dict[str, Any] = {} if minimum_should_match is None else {"minimum_should_match": minimum_should_match}
    for occur, clause in clauses:
        body.setdefault(occur, []).append(clause)
    return {"bool": body}


def _read_field_and_values(node: Any) -> tuple[str, list[str]]:
    """Return the field and values of a clause FIELD:VALUE or FIELD:(VALUE OR VALUE).

    For other clauses, both are empty.

    Raises:
        QuerySyntaxError: a value has a wildcard, or is a range.
    """
    from luqum import tree  # noqa: PLC0415 - an optional dependency

    if not isinstance(node, tree.SearchField):
        return "", []
    values = [node.expr]
    if isinstance(node.expr, tree.FieldGroup):
        parts = list(boolean_clauses(node.expr.expr, default_operator_is_and=False))
        values = [part.node for part in parts if part.occur == "should"]
        if len(values) < len(parts):
            return "", []
    if any(isinstance(value, tree.Range | tree.OpenRange) for value in values):
        raise QuerySyntaxError(
            f"the filter {str(node).strip()!r} is a range; list the values, as in {node.name}:(VALUE OR VALUE), or in "
            "Python, put a range clause of the engine in the list of filters"
        )
    if not all(isinstance(value, tree.Word | tree.Phrase) for value in values):
        return "", []
    if any(isinstance(value, tree.Word) and _has_wildcard(value.value) for value in values):
        raise QuerySyntaxError(
            f"the filter {str(node).strip()!r} has a wildcard; write the whole value (for `path`, its beginning is "
            "enough), and put a value that contains * or ? in quotes"
        )
    texts = [value.value[1:-1] if isinstance(value, tree.Phrase) else value.value for value in values]
    return node.name, [re.sub(r"\\(.)", r"\1", text) for text in texts]


def _has_wildcard(word: str) -> bool:
    return re.search(r"[*?]", re.sub(r"\\.", "", word)) is not None
