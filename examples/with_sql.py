"""Finds similar documents in an application that has a database and no search engine.

    python examples/with_sql.py [DATABASE]

The database is SQLite. Without DATABASE, it is in memory. The statements are the same for DuckDB and PostgreSQL. Use
`Tables(placeholder="%s")` for psycopg, and `Tables(placeholder="$1")` for asyncpg.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from simdoc_search import fingerprint
from simdoc_search.query import plan
from simdoc_search.query.sql import Tables, to_sql
from simdoc_search.sketch import overlap_of_tokens

FINGERPRINT_TABLES = Tables()
APPLICATION_TABLES = (
    "CREATE TABLE IF NOT EXISTS manuals (id TEXT PRIMARY KEY, title TEXT, body TEXT)",
    "CREATE TABLE IF NOT EXISTS readers (id TEXT, reader TEXT, PRIMARY KEY (id, reader))",
)
MAY_READ = "id IN (SELECT id FROM readers WHERE reader IN (?, 'everyone'))"


def save(database: sqlite3.Connection, manual: dict[str, Any]) -> None:
    """Write a new or changed manual and its tokens, in one transaction."""
    with database:
        database.execute("INSERT OR REPLACE INTO manuals VALUES (:id, :title, :body)", manual)
        database.execute("DELETE FROM readers WHERE id = :id", manual)
        database.executemany(
            "INSERT INTO readers VALUES (?, ?)", [(manual["id"], reader) for reader in manual["readers"]]
        )
        tokens = fingerprint(manual["body"]).tokens()
        for statement in (*FINGERPRINT_TABLES.delete(manual["id"]), *FINGERPRINT_TABLES.put(manual["id"], tokens)):
            database.execute(*statement)


def similar(
    database: sqlite3.Connection, id: str, user: str, *, overlap: float, probability: float | None = None
) -> list[tuple[str, float]]:
    """Return the titles of the manuals that overlap this manual, and their overlaps, highest first.

    Args:
        database: the database of the manuals.
        id: id of the query document. If the user may not read it, the result is empty, as for an unknown id.
        user: only manuals that this user may read are returned.
        overlap: minimum Jaccard similarity, 0..1.
        probability: probability of finding a manual of exactly that overlap. None: 1.
    """
    if not database.execute(f"SELECT 1 FROM manuals WHERE id = ? AND {MAY_READ}", (id, user)).fetchone():  # noqa: S608
        return []
    tokens = read_tokens(database, id)
    candidates, parameters = to_sql(plan(tokens, overlap, probability), FINGERPRINT_TABLES, exclude_id=id)
    statement = f"SELECT id, title FROM ({candidates}) AS found JOIN manuals USING (id) WHERE {MAY_READ}"  # noqa: S608
    rows = database.execute(statement, (*parameters, user))
    hits = [(title, overlap_of_tokens(tokens, read_tokens(database, hit_id))) for hit_id, title in rows]
    return sorted([hit for hit in hits if hit[1] >= overlap], key=lambda hit: (-hit[1], hit[0]))


def read_tokens(database: sqlite3.Connection, id: str) -> list[str]:
    """Return the tokens of a manual, sorted as a plan requires."""
    return sorted(token for (token,) in database.execute(*FINGERPRINT_TABLES.select_tokens(id)))


def main(path: str = ":memory:") -> None:
    """Fill the database, and query it as two users."""
    with closing(sqlite3.connect(path)) as database:
        for statement in (*APPLICATION_TABLES, *FINGERPRINT_TABLES.create()):
            database.execute(statement)
        for line in Path(__file__).with_name("manuals.jsonl").read_text("utf-8").splitlines():
            save(database, json.loads(line))
        for user in ("ann", "eve"):
            for probability in (None, 0.8):
                found = similar(database, "stove-2023", user, overlap=0.2, probability=probability)
                print(f"{user}:", *(f"{title} {share:.0%}" for title, share in found), sep="\n  ")


if __name__ == "__main__":
    main(*sys.argv[1:])
