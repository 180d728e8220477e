"""Texts that share a quote, and what `simdoc-search passages` says of them."""

from __future__ import annotations

import random
from typing import Any

from tests.support.cli import answer


def prose(count: int, seed: int) -> str:
    """Words of which no run repeats."""
    return " ".join(f"w{number}" for number in random.Random(seed).sample(range(100_000), count))


QUOTE = prose(60, 1)
BEGIN = " ".join(QUOTE.split()[:45])
PAPER = f"{prose(200, 2)}\n{QUOTE.upper()}\n{prose(100, 3)}"
BOOK = f"{prose(500, 4)}\n\f{prose(100, 5)}\n{QUOTE} {prose(50, 6)}"
ALL = ["drafts/notes.txt", "papers/mine.txt", "sources/book.txt", "sources/short.txt"]
"""Those that have the quote."""


def passages(*arguments: object, stdin: str | None = None) -> Any:
    """The JSON answer."""
    return answer("passages", *arguments, stdin=stdin)


def ids(*arguments: object, stdin: str | None = None) -> list[str]:
    """The ids of the hits, sorted."""
    return sorted(hit["id"] for hit in passages(*arguments, stdin=stdin)["hits"])
