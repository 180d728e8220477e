"""A corpus that `simdoc-search similar` is asked about, and its answers."""

from __future__ import annotations

from typing import Any

from tests.support.cli import answer

COPY, HALF, OLD = "reports/copy.txt", "reports/half.txt", "notes/old.txt"


def similar(*arguments: str, stdin: str | bytes | None = None) -> Any:
    """The JSON answer."""
    return answer("similar", *arguments, stdin=stdin)


def ids(*arguments: str, stdin: str | bytes | None = None) -> list[str]:
    """The ids of the hits."""
    return [hit["id"] for hit in similar(*arguments, stdin=stdin)["hits"]]
