"""Texts that share a quote, and results of `simdoc-search passages` over them."""

from __future__ import annotations

from typing import Any

from tests.support.cli import answer
from tests.support.texts import distinct_words


def prose(count: int, seed: int) -> str:
    """Return a text of distinct words."""
    return " ".join(distinct_words(count, seed))


QUOTE = prose(60, 1)
BEGIN = " ".join(QUOTE.split()[:45])
PAPER = f"{prose(200, 2)}\n{QUOTE.upper()}\n{prose(100, 3)}"
BOOK = f"{prose(500, 4)}\n\f{prose(100, 5)}\n{QUOTE} {prose(50, 6)}"
ALL = ["drafts/notes.txt", "papers/mine.txt", "sources/book.txt", "sources/short.txt"]
"""Ids of the documents with the quote."""


def passages(*arguments: object, stdin: str | None = None) -> Any:
    """Run `passages`, and return its JSON."""
    return answer("passages", *arguments, stdin=stdin)


def ids(*arguments: object, stdin: str | None = None) -> list[str]:
    """Return the ids of the hits, sorted."""
    return sorted(hit["id"] for hit in passages(*arguments, stdin=stdin)["hits"])
