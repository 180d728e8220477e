"""Splits a query in Lucene's query syntax into clauses that are required, optional or excluded.

The clauses of one level are combined as in Lucene's classic query parser (`QueryParserBase.addClause`): AND makes the
clauses on both sides required, and no operator takes precedence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from simdoc_search.errors import MissingExtraError, QuerySyntaxError

Occur = Literal["must", "should", "must_not"]

FINGERPRINT_FIELD = "FINGERPRINT"
"""The field name of a FINGERPRINT clause. It is upper-case, because an application may have a field `fingerprint`."""

QUOTED_PATTERN = r'"(?:[^"\\]|\\.)*"'
_QUERY_TOKEN_PATTERN = re.compile(
    rf"(?P<fingerprint>\b{FINGERPRINT_FIELD})\s*:\s*(?P<value>{QUOTED_PATTERN}(?:_[^\s()\"]*)?)"
    rf"|(?P<unchanged>{QUOTED_PATTERN}|\\.|(?<![^\s(:])/(?:[^/\\]|\\.)+/)"
    r"|(?P<and>(?<!\S)&&(?!\S))|(?P<or>(?<!\S)\|\|(?!\S))|(?P<not>(?<![^\s(])!(?=\S))",
    re.DOTALL,
)
"""Matches a FINGERPRINT with a quoted id, the operators &&, || and !, and parts of a query that are not changed.

The operators are replaced with AND, OR and NOT, because luqum reads &&, || and ! as words.
"""


@dataclass(frozen=True, slots=True)
class BooleanClause:
    """A clause of a query.

    `node` is the node in luqum's tree, without the modifier +, - or NOT.
    """

    node: Any
    occur: Occur
    is_unmodified: bool


def parse_query(query: str) -> tuple[Any, list[str]]:
    """Return the tree of a query, and the values of its quoted FINGERPRINTs.

    In the tree, each quoted value is replaced with its index in the list of values.

    Raises:
        QuerySyntaxError: the query is malformed.
        MissingExtraError: luqum is not installed.
    """
    try:
        from luqum.exceptions import ParseError  # noqa: PLC0415 - an optional dependency
        from luqum.parser import parser  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("a query with FINGERPRINT and other clauses", "lucene") from None
    values: list[str] = []

    def replace_token(match: re.Match[str]) -> str:
        if match["fingerprint"]:
            values.append(match["value"])
            return f'{FINGERPRINT_FIELD}:"{len(values) - 1}"'
        operators = {"and": "AND", "or": "OR", "not": "NOT "}
        return next((word for name, word in operators.items() if match[name]), match[0])

    try:
        return parser.parse(_QUERY_TOKEN_PATTERN.sub(replace_token, query)), values
    except ParseError as error:
        raise QuerySyntaxError(
            f"{query!r:.200} is not valid in Lucene's query syntax ({error}); put ids and values with special "
            "characters in quotes"
        ) from None


def boolean_clauses(node: Any, *, default_operator_is_and: bool) -> Iterator[BooleanClause]:
    """Yield the clauses of one level, outside parentheses, as `QueryParserBase.addClause` combines them.

    `default_operator_is_and` says whether AND combines clauses without an operator. Otherwise, OR combines them.
    """
    from luqum import tree  # noqa: PLC0415 - an optional dependency

    occurs: list[Occur] = []
    nodes: list[tuple[Any, bool]] = []
    for conjunction, clause in _flatten(node):
        modifier = type(clause) if isinstance(clause, tree.Not | tree.Prohibit | tree.Plus) else None
        if occurs and occurs[-1] != "must_not":
            if conjunction == "AND":
                occurs[-1] = "must"
            elif default_operator_is_and and conjunction == "OR":
                occurs[-1] = "should"
        is_required = modifier is tree.Plus or conjunction == "AND" or (default_operator_is_and and conjunction != "OR")
        occurs.append("must_not" if modifier in {tree.Not, tree.Prohibit} else "must" if is_required else "should")
        nodes.append((clause.a if modifier else clause, modifier is None))
    for (clause, is_unmodified), occur in zip(nodes, occurs, strict=True):
        yield BooleanClause(clause, occur, is_unmodified)


def _flatten(node: Any, conjunction: str = "") -> Iterator[tuple[str, Any]]:
    """Yield pairs of a conjunction and the clause after it, in order."""
    from luqum import tree  # noqa: PLC0415 - an optional dependency

    operators = {tree.AndOperation: "AND", tree.OrOperation: "OR", tree.UnknownOperation: ""}
    if type(node) not in operators:
        yield conjunction, node
        return
    for index, child in enumerate(node.children):
        yield from _flatten(child, operators[type(node)] if index else conjunction)


def has_fingerprint(node: Any) -> bool:
    """Return whether a clause is a FINGERPRINT or contains one."""
    return _is_fingerprint(node) or any(map(has_fingerprint, node.children))


def _is_fingerprint(node: Any) -> bool:
    return getattr(node, "name", "") == FINGERPRINT_FIELD and hasattr(node, "expr")


def read_fingerprint(node: Any, values: list[str]) -> str:
    """Return the value of a FINGERPRINT clause. For a different clause, return an empty string."""
    from luqum import tree  # noqa: PLC0415 - an optional dependency

    return read_value(node.expr, values) if _is_fingerprint(node) and isinstance(node.expr, tree.Term) else ""


def read_value(node: Any, values: list[str]) -> str:
    """Return the value of a FINGERPRINT, such as `doc123_20`.

    `values` are the quoted values of the query; see `parse_query`.

    Raises:
        QuerySyntaxError: the value is not an id. For example, it is a range or a wildcard.
    """
    from luqum import tree  # noqa: PLC0415 - an optional dependency

    if isinstance(node, tree.Phrase):
        return values[int(node.value[1:-1])]
    if isinstance(node, tree.Word) and not re.search(r"(?<!\\)[*?]", node.value):
        return re.sub(r"\\(.)", r"\1", node.value)
    raise QuerySyntaxError(
        f"{str(node).strip()!r} is not a document id; write ID_OVERLAP or ID_OVERLAP_PROBABILITY, such as doc123_20 or "
        "doc123_20_80"
    )
