"""FINGERPRINT as one clause among others, in Lucene's query syntax: `FINGERPRINT:doc123_20 AND team:legal`.

Engines have no such clause. `expanded` rewrites a `query_string` as a `bool` query wherever it contains a
FINGERPRINT, and passes everything else to the engine unchanged. `with_filters` reads simple queries of this kind for
stores that have no query syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.lucene import (
    FIELD,
    QUOTED,
    Occur,
    Part,
    fingerprint_in,
    has_fingerprint,
    parsed,
    parts_of,
    value_of,
)

Clause = dict[str, Any]

_CLAUSES = re.compile(rf"{QUOTED}|(?P<operator>(?<!\S)(?:AND|OR|NOT|&&|\|\|)(?!\S))", re.DOTALL)
_MENTIONED = re.compile(rf"{QUOTED}|(?P<field>\b{FIELD}\s*:)", re.DOTALL)


class ClauseFilters(NamedTuple):
    """A FINGERPRINT, and what its hits must and must not have: pairs of a field and its values."""

    fingerprint: str
    wanted: list[tuple[str, list[str]]]
    excluded: list[tuple[str, list[str]]]


def has_clauses(text: str) -> bool:
    """Whether a text is a FINGERPRINT among other clauses, and not only an id, which may contain spaces."""
    named = any(each["field"] for each in _MENTIONED.finditer(text))
    return named and any(each["operator"] for each in _CLAUSES.finditer(text))


def expanded(query: str | Mapping[str, Any], clause_of: Callable[[str], Clause]) -> Clause:
    """Return a query with an engine's clauses in place of its FINGERPRINT clauses.

    Args:
        query: a string in `query_string` syntax; or a request body, or part of one, in which every `query_string` is
            searched. It is not changed.
        clause_of: returns the clause for a FINGERPRINT such as `doc123_20_80` or `"an id"_20`.

    Returns:
        A clause; for a body, the same body. Clauses without a FINGERPRINT are unchanged.

    Raises:
        QuerySyntaxError: a `query_string` with a FINGERPRINT is malformed, or the FINGERPRINT has no meaning there.
        MissingExtraError: luqum is not installed.
    """
    if isinstance(query, str):
        return _query_string({"query": query}, clause_of)
    return dict(_walked(query, clause_of))


def with_filters(query: str) -> ClauseFilters:
    """Return a FINGERPRINT and its filters: clauses FIELD:VALUE that are required or excluded.

    Raises:
        QuerySyntaxError: the query does not have this form.
        MissingExtraError: luqum is not installed.
    """
    tree, values = parsed(query)
    found = ClauseFilters("", [], [])
    for part in parts_of(tree, is_and=False):
        fingerprint, (field, some) = fingerprint_in(part.node, values), _field_values(part.node)
        if fingerprint and part.occur == "must" and not found.fingerprint:
            found = found._replace(fingerprint=fingerprint)
        elif fingerprint or not field or part.occur == "should":
            raise QuerySyntaxError(_FORM.format(query))
        else:
            (found.wanted if part.occur == "must" else found.excluded).append((field, some))
    if not found.fingerprint:
        raise QuerySyntaxError(_FORM.format(query))
    return found


_FORM = (
    "{!r:.200} cannot be asked; write one FINGERPRINT:ID_20, then AND FIELD:VALUE, AND FIELD:(VALUE OR VALUE) or "
    "AND NOT FIELD:VALUE"
)


def _walked(value: Any, clause_of: Callable[[str], Clause]) -> Any:
    if isinstance(value, Mapping):
        asked = value.get("query_string")
        if isinstance(asked, Mapping) and _mentions(asked.get("query")):
            if len(value) > 1:
                raise QuerySyntaxError("a query_string stands alone in its clause")
            return _query_string(asked, clause_of)
        return {key: _walked(each, clause_of) for key, each in value.items()}
    return [_walked(each, clause_of) for each in value] if isinstance(value, list) else value


def _mentions(text: object) -> bool:
    return isinstance(text, str) and any(each["field"] for each in _MENTIONED.finditer(text))


def _query_string(asked: Mapping[str, Any], clause_of: Callable[[str], Clause]) -> Clause:
    """Expand the FINGERPRINTs of a `query_string`."""
    if not _mentions(asked["query"]):
        return {"query_string": dict(asked)}
    tree, values = parsed(asked["query"])
    least, boost = asked.get("minimum_should_match"), asked.get("boost")
    options = {key: each for key, each in asked.items() if key not in {"query", "boost", "minimum_should_match"}}
    is_and = str(options.get("default_operator", "or")).lower() == "and"
    made = _Expanding(options, values, clause_of, is_and=is_and, least=least).expanded(tree)
    return made if boost is None else {"bool": {"must": [made], "boost": boost}}


class _Expanding:
    """Rewrites a tree of clauses as `bool` queries, as far as it contains FINGERPRINTs."""

    def __init__(
        self,
        options: dict[str, Any],
        values: list[str],
        clause_of: Callable[[str], Clause],
        *,
        is_and: bool,
        least: object,
    ) -> None:
        self._options, self._values, self._clause_of = options, values, clause_of
        self._is_and, self._least = is_and, least  # `minimum_should_match`, which counts clauses one by one

    def expanded(self, node: Any) -> Clause:
        """Expand one clause, or all clauses of a level."""
        from luqum import tree  # noqa: PLC0415 - of an extra

        if not has_fingerprint(node):
            return {"query_string": {**self._options, "query": str(node).strip()}}
        if fingerprint := fingerprint_in(node, self._values):
            return self._clause_of(fingerprint)
        if isinstance(node, tree.Boost):
            return {"bool": {"must": [self.expanded(node.expr)], "boost": float(node.force)}}
        if isinstance(node, tree.Group):
            return self.expanded(node.expr)
        if isinstance(node, tree.SearchField):
            return self._of_field(node)
        if isinstance(node, tree.BaseOperation | tree.Unary):
            return self._level(list(parts_of(node, is_and=self._is_and)))
        raise QuerySyntaxError(
            f"{str(node).strip()!r} is no FINGERPRINT; write FINGERPRINT:ID_20 or FINGERPRINT:ID_20_80"
        )

    def _of_field(self, node: Any) -> Clause:
        """Expand `FINGERPRINT:(a_20 OR b_20)`."""
        from luqum import tree  # noqa: PLC0415 - of an extra

        if node.name != FIELD or not isinstance(node.expr, tree.FieldGroup):
            raise QuerySyntaxError(
                f"{str(node).strip()!r}: a FINGERPRINT stands in no other field, and has no wildcard"
            )
        parts = list(parts_of(node.expr.expr, is_and=self._is_and))
        clauses = [(part.occur, self._clause_of(value_of(part.node, self._values))) for part in parts]
        return _bool(clauses)

    def _level(self, parts: list[Part]) -> Clause:
        """Expand the clauses of a level; adjacent ones without a FINGERPRINT that occur alike are kept together."""
        least, self._least = self._least, None  # of the first level alone
        clauses: list[tuple[Occur, Clause]] = []
        run: list[str] = []
        for number, part in enumerate(parts):
            if not has_fingerprint(part.node):
                run.append(str(part.node))
                following = parts[number + 1] if number + 1 < len(parts) else None
                goes_on = following and part.is_bare and following.is_bare and not has_fingerprint(following.node)
                if goes_on and least is None and part.occur == following.occur != "must_not":  # type: ignore[union-attr]
                    continue
                is_usual = (part.occur == "must") == self._is_and
                joint = " " if is_usual else " AND " if part.occur == "must" else " OR "
                text = joint.join(each.strip() for each in run)
                clauses.append((part.occur, {"query_string": {**self._options, "query": text}}))
                run = []
            else:
                clauses.append((part.occur, self.expanded(part.node)))
        return _bool(clauses, least)


def _bool(clauses: list[tuple[Occur, Clause]], least: object = None) -> Clause:
    """Combine the clauses of a level, with the number of optional ones that must match."""
    if len(clauses) == 1 and clauses[0][0] != "must_not" and least is None:
        return clauses[0][1]
    found: dict[str, Any] = {} if least is None else {"minimum_should_match": least}
    for occur, clause in clauses:
        found.setdefault(occur, []).append(clause)
    return {"bool": found}


def _field_values(node: Any) -> tuple[str, list[str]]:
    """Return the field and values of a clause FIELD:VALUE or FIELD:(VALUE OR VALUE); empty for any other clause."""
    from luqum import tree  # noqa: PLC0415 - of an extra

    if not isinstance(node, tree.SearchField):
        return "", []
    each = [node.expr]
    if isinstance(node.expr, tree.FieldGroup):
        parts = list(parts_of(node.expr.expr, is_and=False))
        if any(part.occur != "should" for part in parts):
            return "", []
        each = [part.node for part in parts]
    if not all(isinstance(one, tree.Word | tree.Phrase) for one in each):
        return "", []
    plain = [re.sub(r"\\(.)", r"\1", one.value[1:-1] if isinstance(one, tree.Phrase) else one.value) for one in each]
    return node.name, plain
