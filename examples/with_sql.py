"""Similar documents in an application that has a database and no search engine.

    python examples/with_sql.py [DATABASE]

SQLite, for a start; without DATABASE in memory. With DuckDB or PostgreSQL the statements are the same: for psycopg the
tables are `Tables(placeholder="%s")`, for asyncpg `Tables(placeholder="$1")`.
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

OURS = Tables()
THEIRS = (
    "CREATE TABLE IF NOT EXISTS manuals (id TEXT PRIMARY KEY, title TEXT, body TEXT)",
    "CREATE TABLE IF NOT EXISTS readers (id TEXT, reader TEXT, PRIMARY KEY (id, reader))",
)
MAY_READ = "id IN (SELECT id FROM readers WHERE reader IN (?, 'everyone'))"


def save(database: sqlite3.Connection, manual: dict[str, Any]) -> None:
    """Keep a manual, new or changed, with its tokens, in one transaction."""
    with database:
        database.execute("INSERT OR REPLACE INTO manuals VALUES (:id, :title, :body)", manual)
        database.execute("DELETE FROM readers WHERE id = :id", manual)
        database.executemany("INSERT INTO readers VALUES (?, ?)", [(manual["id"], each) for each in manual["readers"]])
        for statement in (*OURS.delete(manual["id"]), *OURS.put(manual["id"], fingerprint(manual["body"]).tokens())):
            database.execute(*statement)


def similar(
    database: sqlite3.Connection, id: str, user: str, *, overlap: float, probability: float | None = None
) -> list[tuple[str, float]]:
    """The titles of the manuals that overlap this one, greatest overlap first.

    Args:
        database: where they are.
        id: the source; who may not read it gets what an unknown id gets.
        user: only what she may read is found.
        overlap: least Jaccard similarity, 0..1.
        probability: chance of finding a manual of exactly that overlap; None: certainly.
    """
    if not database.execute(f"SELECT 1 FROM manuals WHERE id = ? AND {MAY_READ}", (id, user)).fetchone():  # noqa: S608
        return []
    ours = tokens(database, id)
    made = plan(ours, overlap, probability)
    candidates, parameters = to_sql(made, OURS, exclude_id=id)
    asked = f"SELECT id, title FROM ({candidates}) AS found JOIN manuals USING (id) WHERE {MAY_READ}"  # noqa: S608
    rows = database.execute(asked, (*parameters, user))
    hits = [(title, overlap_of_tokens(ours, tokens(database, each))) for each, title in rows]
    return sorted([hit for hit in hits if hit[1] >= overlap], key=lambda hit: (-hit[1], hit[0]))


def tokens(database: sqlite3.Connection, id: str) -> list[str]:
    """The tokens of a manual, in the order in which a plan takes them."""
    return sorted(token for (token,) in database.execute(*OURS.select_tokens(id)))


def main(path: str = ":memory:") -> None:
    """Fill the database, and ask as two users."""
    with closing(sqlite3.connect(path)) as database:
        for statement in (*THEIRS, *OURS.create()):
            database.execute(statement)
        for line in Path(__file__).with_name("manuals.jsonl").read_text("utf-8").splitlines():
            save(database, json.loads(line))
        for user in ("ann", "eve"):
            for probability in (None, 0.8):
                found = similar(database, "stove-2023", user, overlap=0.2, probability=probability)
                print(f"{user}:", *(f"{title} {share:.0%}" for title, share in found), sep="\n  ")


if __name__ == "__main__":
    main(*sys.argv[1:])
