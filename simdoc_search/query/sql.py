"""Compiles plans to SELECT statements, for applications with documents in SQLite, DuckDB or PostgreSQL.

This module only creates SQL. It does not connect to a database. There are two tables. In `simdoc_documents`, each row
is a document: its row number, its id, and the number of its tokens. In `simdoc_tokens`, each row is a token of a
document's fingerprint. Create the tables, and add each document:

    tables = Tables()
    for statement in tables.create():
        connection.execute(statement)
    for statement in tables.put("doc123", fingerprint(text).tokens()):
        connection.execute(*statement)

Then run a query for a stored document or for any text:

    tokens = sorted(token for (token,) in connection.execute(*tables.select_tokens("doc123")))
    rows = connection.execute(*to_sql(plan(tokens, 0.2, 0.8), exclude_id="doc123"))

Each row is a candidate with the columns `id` and `matched`. The rows are sorted by descending `matched`. Estimate the
overlaps with `sketch.overlap_of_tokens`; see examples/with_sql.py. Add filters and permissions in your application, for
example by using the SELECT as a subquery.

The bands of a plan depend on the tokens of the query document, so they cannot be stored in columns. In the SELECT, the
bands are a table with one row per token. A document has a whole band if the number of its tokens in the band equals
the size of the band. Expressions are not nested, so they cannot exceed the depth limits of SQLite and DuckDB.
SQLite allows 32,766 parameters, and PostgreSQL 65,535. The plan of a document with 512 tokens has up to 1,536
parameters.

Tokens and ids are always passed as parameters. They are never part of the statement. The statement is the same for all
three databases, except for the placeholder, which depends on the driver: `?` for sqlite3 and duckdb, `%s` for psycopg,
`$1` for asyncpg. Text in PostgreSQL cannot contain NUL, so ids with NUL and Lucene terms work only in SQLite and
DuckDB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.plans import BandPlan, Plan, ThresholdPlan

MAX_PARAMETERS = 32_766
"""Default maximum number of parameters of a statement in SQLite."""

Placeholder = Literal["?", "%s", "$1"]
"""The driver's placeholder for a parameter. `$1` means numbered placeholders: `$1`, `$2` and so on."""

_DOCUMENTS_TABLE = "simdoc_documents"
_TOKENS_TABLE = "simdoc_tokens"


class Statement(NamedTuple):
    """A statement. Run it with `connection.execute(*statement)`."""

    text: str
    parameters: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """Creates the statements that create, fill and read the two tables.

    Attributes:
        placeholder: the driver's placeholder.

    Raises:
        QuerySyntaxError: the placeholder is unknown.
    """

    placeholder: Placeholder = "?"

    def __post_init__(self) -> None:
        if self.placeholder not in get_args(Placeholder):
            raise QuerySyntaxError(f"placeholder must be '?', '%s' or '$1', not {self.placeholder!r:.60}")

    def create(self) -> tuple[str, ...]:
        """Return statements that create the tables and an index of the tokens by document, if they do not exist."""
        return (
            f"CREATE TABLE IF NOT EXISTS {_DOCUMENTS_TABLE} "
            "(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, buckets INTEGER NOT NULL)",
            f"CREATE TABLE IF NOT EXISTS {_TOKENS_TABLE} "
            "(token TEXT NOT NULL, document INTEGER NOT NULL, PRIMARY KEY (token, document))",
            f"CREATE INDEX IF NOT EXISTS simdoc_of_document ON {_TOKENS_TABLE} (document)",
        )

    def put(self, id: str, tokens: Sequence[str]) -> tuple[Statement, ...]:
        """Return statements that add a document. Execute them in one transaction.

        If a document with this id exists, `delete` it first. If two writers choose the same row number for different
        documents, the second insert violates the primary key. In this case, retry the transaction.

        Args:
            id: the id of the document; any string.
            tokens: the result of `Fingerprint.tokens`, which is empty for a text without words.
        """
        document = _Parameters(self.placeholder)
        statement = document.make_statement(
            f"INSERT INTO {_DOCUMENTS_TABLE} (number, id, buckets) "
            f"SELECT COALESCE(MAX(number), 0) + 1, CAST({document.add(id)} AS TEXT), "
            f"CAST({document.add(len(tokens))} AS INTEGER) FROM {_DOCUMENTS_TABLE}"
        )
        if not tokens:
            return (statement,)
        rows = _Parameters(self.placeholder)
        return statement, rows.make_statement(
            f"INSERT INTO {_TOKENS_TABLE} (token, document) WITH given(token) AS (VALUES {rows.add_rows(tokens)}) "
            f"SELECT given.token, d.number FROM given CROSS JOIN {_DOCUMENTS_TABLE} AS d WHERE d.id = {rows.add(id)}"
        )

    def delete(self, id: str) -> tuple[Statement, ...]:
        """Return statements that delete a document. Execute them in one transaction.

        The statements do nothing if the document does not exist.
        """
        tokens, document = _Parameters(self.placeholder), _Parameters(self.placeholder)
        numbers = f"SELECT number FROM {_DOCUMENTS_TABLE} WHERE id = {tokens.add(id)}"
        return (
            tokens.make_statement(f"DELETE FROM {_TOKENS_TABLE} WHERE document IN ({numbers})"),
            document.make_statement(f"DELETE FROM {_DOCUMENTS_TABLE} WHERE id = {document.add(id)}"),
        )

    def select_tokens(self, id: str) -> Statement:
        """Return the statement that reads the tokens of a document, one per row. Sort them before you call `plan`."""
        values = _Parameters(self.placeholder)
        return values.make_statement(
            f"SELECT t.token FROM {_DOCUMENTS_TABLE} AS d JOIN {_TOKENS_TABLE} AS t ON t.document = d.number "
            f"WHERE d.id = {values.add(id)}"
        )


def to_sql(
    plan: Plan,
    tables: Tables | None = None,
    *,
    exclude_id: str | None = None,
    score: Literal["bands", "tokens"] = "bands",
    max_parameters: int = MAX_PARAMETERS,
) -> Statement:
    """Compile a plan to a SELECT statement.

    Args:
        plan: the plan.
        tables: the tables. None: tables with placeholder `?`.
        exclude_id: the id of a document to exclude, usually the query document.
        score: what `matched` counts for a plan with bands: `tokens` for matching tokens, or `bands` for whole bands,
            which is faster. `tokens` also excludes documents with fewer matching tokens than the plan's
            `minimum_match`. For a threshold, matching tokens are always counted.
        max_parameters: the maximum number of parameters of the database.

    Returns:
        A SELECT of the columns `id` and `matched`, sorted by descending `matched`. A plan without tokens finds nothing.

    Raises:
        QuerySyntaxError: the statement would have too many parameters.
    """
    values = _Parameters((tables or Tables()).placeholder)
    if not plan.can_match:
        return Statement(f"SELECT id, 0 AS matched FROM {_DOCUMENTS_TABLE} WHERE 1 = 0", ())
    query, candidates = _select_candidates(plan, values, score)
    text = (
        f"WITH {query} SELECT d.id AS id, c.matched AS matched FROM ({candidates}) AS c "
        f"JOIN {_DOCUMENTS_TABLE} AS d ON d.number = c.document{_where_clause(plan, values, exclude_id)} "
        "ORDER BY matched DESC, id"
    )
    if len(values.values) > max_parameters:
        raise QuerySyntaxError(
            f"the statement has {len(values.values)} parameters, but max_parameters is {max_parameters}; "
            "reduce their number with planner='enough' (as few bands as the probability requires) and a probability "
            "below 1, or with a smaller sketch"
        )
    return values.make_statement(text)


def _select_candidates(plan: Plan, values: _Parameters, score: str) -> tuple[str, str]:
    """Return the definitions of the tables of query tokens, and the SELECT that finds a plan's candidates.

    SQLite does not know the sizes of the tables, so it might first read the larger table of a join. A CROSS JOIN with a
    WHERE condition prevents this.
    """
    match plan:
        case ThresholdPlan():
            query = f"query(token) AS (VALUES {values.add_rows(plan.tokens)})"
            return query, (
                "SELECT t.document AS document, COUNT(*) AS matched "
                f"FROM query CROSS JOIN {_TOKENS_TABLE} AS t WHERE t.token = query.token "
                f"GROUP BY t.document HAVING COUNT(*) >= {values.add(plan.minimum_match)}"
            )
        case BandPlan():
            bands = [band for band in plan.bands if band]
            rows = (values.add_rows(band, f"{number}, {len(band)}, ") for number, band in enumerate(bands))
            whole_bands = (
                f"banded(band, size, token) AS (VALUES {', '.join(rows)}), whole(document, band) AS "
                f"(SELECT t.document, b.band FROM banded AS b CROSS JOIN {_TOKENS_TABLE} AS t WHERE t.token = b.token "
                "GROUP BY t.document, b.band HAVING COUNT(*) >= MIN(b.size))"
            )
            if score == "bands":
                return whole_bands, "SELECT document, COUNT(*) AS matched FROM whole GROUP BY document"
            query = f"{whole_bands}, query(token) AS (VALUES {values.add_rows(plan.tokens)})"
            equal_tokens = "COUNT(CASE WHEN t.token IN (SELECT token FROM query) THEN 1 END)"
            return query, (
                f"SELECT t.document AS document, {equal_tokens} AS matched "
                f"FROM (SELECT DISTINCT document FROM whole) AS chosen CROSS JOIN {_TOKENS_TABLE} AS t "
                "WHERE t.document = chosen.document "
                f"GROUP BY t.document HAVING {equal_tokens} >= {values.add(plan.minimum_match)}"
            )


def _where_clause(plan: Plan, values: _Parameters, exclude_id: str | None) -> str:
    """Return the WHERE clause for the row of a document, or an empty string."""
    conditions: list[str] = []
    if isinstance(plan, ThresholdPlan) and plan.token_range:
        minimum, maximum = plan.token_range
        conditions.append(f"d.buckets BETWEEN {values.add(minimum)} AND {values.add(maximum)}")
    if exclude_id is not None:
        conditions.append(f"d.id <> {values.add(exclude_id)}")
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


class _Parameters:
    """Collects the values of a statement, in the order of their placeholders."""

    def __init__(self, placeholder: Placeholder) -> None:
        self.values: list[str | int] = []
        self._placeholder = placeholder

    def add(self, value: str | int) -> str:
        """Add a value, and return its placeholder."""
        self.values.append(value)
        return f"${len(self.values)}" if self._placeholder == "$1" else self._placeholder

    def add_rows(self, tokens: Sequence[str], leading_columns: str = "") -> str:
        """Add tokens, and return a row of VALUES for each. `leading_columns` contains the columns before the token."""
        return ", ".join(f"({leading_columns}{self.add(token)})" for token in tokens)

    def make_statement(self, text: str) -> Statement:
        """Return a statement with all values that were added."""
        return Statement(text, tuple(self.values))
