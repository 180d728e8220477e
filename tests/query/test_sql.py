"""In SQLite and DuckDB, plans in SQL find the same documents as in the local store."""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Protocol, get_args

import duckdb
import pytest

from simdoc_search import fingerprint, open_store
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query import BandPlan, ThresholdPlan, plan
from simdoc_search.query.plans import Plan
from simdoc_search.query.sql import MAX_PARAMETERS, Placeholder, Statement, Tables, to_sql
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.base import Store
from tests.support.stores import put, record
from tests.support.stores import ranked_candidates as found_in_store
from tests.support.texts import overlapping, text

TABLES = Tables()
ODD_IDS = ("'; DROP TABLE simdoc_documents; --", '"', "?", "%s", "$1", "a\nb", "a\0b", "漢😀", " ", "\\'")
EMPTY = ("empty", "...")


class Connection(Protocol):
    def execute(self, text: str, parameters: Any = (), /) -> Any: ...


def corpus() -> dict[str, list[str]]:
    """Return the tokens of documents by id. There are pairs that overlap, odd ids, and texts without words."""
    rng = random.Random("sql")
    texts: dict[str, str] = {}
    for number in range(60):
        pair = overlapping(rng, rng.choice([8, 30, 80]), rng.choice([0.1, 0.3, 0.6, 0.9]))
        texts |= {f"{number}/{name}": content for name, content in zip("ab", pair, strict=True)}
    texts |= {id: texts[f"{number}/a"] + text(rng, 9) for number, id in enumerate(ODD_IDS)}
    texts |= dict.fromkeys(EMPTY, "...")
    return {id: fingerprint(content).tokens() for id, content in texts.items()}


CORPUS = corpus()


def fill(connection: Connection, documents: dict[str, list[str]]) -> None:
    connection.execute("BEGIN")
    for statement in TABLES.create():
        connection.execute(statement)
    for id, tokens in documents.items():
        run(connection, *TABLES.put(id, tokens))
    connection.execute("COMMIT")


def run(connection: Connection, *statements: Statement) -> None:
    for statement in statements:
        connection.execute(*statement)


def found(connection: Connection, made: Plan, **options: Any) -> list[tuple[int, str]]:
    """Return the rows of a plan, in the order of `found_in_store`."""
    rows = connection.execute(*to_sql(made, TABLES, **options)).fetchall()
    assert [row[1] for row in rows] == sorted((row[1] for row in rows), reverse=True)
    return sorted(((matched, id) for id, matched in rows), key=lambda row: (-row[0], row[1]))


def sqlite() -> Connection:
    return sqlite3.connect(":memory:")


@pytest.fixture(params=[sqlite, duckdb.connect])
def empty(request: pytest.FixtureRequest) -> Iterator[Connection]:
    with closing(request.param()) as connection:
        yield connection


@pytest.fixture(scope="module", params=[sqlite, duckdb.connect])
def filled(request: pytest.FixtureRequest) -> Iterator[Connection]:
    """A database with the corpus. Tests must not change it."""
    with closing(request.param()) as connection:
        fill(connection, CORPUS)
        yield connection


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with closing(open_store(":memory:")) as opened:
        put(opened, *(record(id, token_ids=decode(tokens).tolist()) for id, tokens in CORPUS.items()))
        yield opened


QUERIES: dict[str, dict[str, Any]] = {
    "any": {},
    "_20": {"overlap": 0.2},
    "_50 verified": {"overlap": 0.5, "is_verified": True},
    "_20_80": {"overlap": 0.2, "probability": 0.8},
    "_80_95": {"overlap": 0.8, "probability": 0.95},
    "_20_80 all": {"overlap": 0.2, "probability": 0.8, "planner": "all"},
    "_50_99 all": {"overlap": 0.5, "probability": 0.99, "planner": "all"},
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_plan_finds_what_it_finds_in_the_local_store(filled: Connection, store: Store, query: str) -> None:
    """The query documents are long, short and empty. The query document itself may be excluded."""
    hits = 0
    for id in (*random.Random(query).sample(sorted(CORPUS), 2), ODD_IDS[0], EMPTY[0]):
        made = plan(CORPUS[id], **QUERIES[query])
        expected = found_in_store(store, made, exclude=DocumentKey(id))
        hits += len(expected)

        assert expected == found(filled, made, exclude_id=id, score="tokens")
        candidates = {candidate for _, candidate in found(filled, made)}  # their tokens are not counted
        minimum = made.minimum_match if isinstance(made, BandPlan) else 0
        enough = {candidate for candidate in candidates if len({*CORPUS[candidate]} & {*made.tokens}) >= minimum}
        assert {hit for _, hit in expected} | ({id} if CORPUS[id] else set()) == enough

    assert hits


def test_any_plan_finds_what_it_finds_in_the_local_store(filled: Connection, store: Store) -> None:
    """No planner makes such plans: bands of different sizes, empty bands, and impossible minima and ranges."""
    rng = random.Random("plans")
    for id in rng.sample(sorted(CORPUS), 6):
        tokens = tuple(rng.sample(CORPUS[id], min(len(CORPUS[id]), 30)))
        bands = tuple(tuple(rng.sample(tokens, min(len(tokens), rng.randint(0, 3)))) for _ in range(rng.randint(0, 5)))
        low = rng.randint(0, 60)
        for made in (
            BandPlan(tokens, bands),
            ThresholdPlan(tokens, rng.randint(0, 9), (low, low + rng.randint(-5, 90))),
        ):
            assert found_in_store(store, made) == found(filled, made, score="tokens")


def test_matched_counts_whole_bands_by_default(filled: Connection) -> None:
    tokens = CORPUS["7/b"]
    made = plan(tokens, 0.2, 0.8, planner="all")
    assert isinstance(made, BandPlan)
    counts = {id: sum(set(band) <= set(others) for band in made.bands) for id, others in CORPUS.items()}
    expected = {id: count for id, count in counts.items() if count}

    assert 1 < len(expected)
    assert expected == {id: matched for matched, id in found(filled, made)}
    assert expected.keys() == {id for _, id in found(filled, made, score="tokens")}


def test_tokens_of_a_document_are_read_back(filled: Connection) -> None:
    """The id may be any string. Documents without words and missing documents have no tokens."""
    for id in (*ODD_IDS, *EMPTY, "nobody"):
        assert CORPUS.get(id, []) == sorted(token for (token,) in filled.execute(*TABLES.select_tokens(id)).fetchall())


def test_a_document_is_replaced_and_deleted(empty: Connection) -> None:
    """It is not an error to delete a missing document, but it is an error to add a document twice."""
    fill(empty, {"a": ["A", "B"], "b": ["B", "C"]})
    run(empty, *TABLES.delete("a"), *TABLES.delete("nobody"))
    run(empty, *TABLES.put("a", ["C", "D", "E"]))

    assert [(1, "b")] == found(empty, ThresholdPlan(("A", "B"), 1))
    assert [(2, "a"), (1, "b")] == found(empty, ThresholdPlan(("C", "D"), 1))
    assert [(2, "a")] == found(empty, ThresholdPlan(("C", "D"), 1, (3, 9)))
    with pytest.raises((sqlite3.IntegrityError, duckdb.ConstraintException)):
        run(empty, *TABLES.put("a", ["A"]))
    run(empty, *TABLES.delete("a"))
    assert [(1, "b")] == found(empty, ThresholdPlan(("C", "D"), 1))


def test_a_new_document_does_not_inherit_the_tokens_of_a_deleted_one(empty: Connection) -> None:
    fill(empty, {"a": ["A"], "b": ["B"]})
    run(empty, *TABLES.delete("b"), *TABLES.put("c", ["C"]))

    assert [] == found(empty, ThresholdPlan(("B",), 1))
    assert [(1, "c")] == found(empty, ThresholdPlan(("B", "C"), 1))


def test_the_query_can_be_a_subquery_of_the_application(empty: Connection) -> None:
    fill(empty, {id: ["A", "B"] for id in ("a", "b", "c")})
    empty.execute("CREATE TABLE articles (id TEXT PRIMARY KEY, language TEXT)")
    empty.execute("INSERT INTO articles VALUES ('a', 'de'), ('b', 'en'), ('c', 'de')")
    text, parameters = to_sql(BandPlan(("A", "B"), (("A", "B"),)), exclude_id="a", score="tokens")
    whole = f"SELECT a.id, f.matched FROM ({text}) AS f JOIN articles AS a ON a.id = f.id WHERE a.language = ?"

    assert [("c", 2)] == empty.execute(whole, (*parameters, "de")).fetchall()


@pytest.mark.slow
def test_the_longest_fingerprint_is_within_the_limits(empty: Connection) -> None:
    """The fingerprint has 4,096 tokens, and all of them are in bands and counted."""
    tokens = [f"{number:04}" for number in range(4096)]
    fill(empty, {"a": tokens})

    for numbers in ((), (0.05, 0.99)):
        assert [(4096, "a")] == found(empty, plan(tokens, *numbers, planner="all"), score="tokens")


@pytest.mark.parametrize("made", [plan("ABC"), plan("ABCD", 0.5), plan("ABCD", 0.5, 0.8)])
def test_a_value_is_always_a_parameter(made: Plan) -> None:
    """There is one placeholder per value. Otherwise the statements for all drivers are the same."""
    statements: set[tuple[tuple[str, Any], ...]] = set()
    for sign in get_args(Placeholder):
        tables = Tables(sign)
        query = to_sql(made, tables, exclude_id="x'y", score="tokens")
        written = (query, tables.select_tokens("x'y"), *tables.put("x'y", ["A'", "B"]), *tables.delete("x'y"))
        for sql, parameters in written:
            expected = [f"${number}" if sign == "$1" else sign for number in range(1, len(parameters) + 1)]
            assert "'" not in sql
            assert expected == re.findall(r"\?|%s|\$\d+", sql)
        statements.add(tuple((re.sub(r"\?|%s|\$\d+", "", sql), parameters) for sql, parameters in written))

    assert 1 == len(statements)


def test_an_unknown_placeholder_and_too_many_parameters_are_refused() -> None:
    with pytest.raises(QuerySyntaxError, match="placeholder"):
        Tables(placeholder=":id")  # type: ignore[arg-type]
    with pytest.raises(QuerySyntaxError, match="has 32767 parameters, but max_parameters is 32766"):
        to_sql(plan([str(number) for number in range(MAX_PARAMETERS)]))
