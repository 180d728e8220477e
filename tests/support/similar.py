"""Results of `simdoc-search similar` over the corpus of `write_corpus`."""

from __future__ import annotations

from typing import Any

from tests.support.cli import answer

COPY, HALF, OLD = "reports/copy.txt", "reports/half.txt", "notes/old.txt"


def similar(*arguments: object, stdin: str | bytes | None = None) -> Any:
    """Run `similar`, and return its JSON."""
    return answer("similar", *arguments, stdin=stdin)


def ids(*arguments: object, stdin: str | bytes | None = None) -> list[str]:
    """Return the ids of the hits."""
    return [hit["id"] for hit in similar(*arguments, stdin=stdin)["hits"]]
