"""Finds the text column of a dataset, and checks the names of columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from simdoc_search.dedupe.chunks import Columns
from simdoc_search.errors import CorpusError

_TEXT_NAMES = ("text", "content", "contents", "raw_content", "body", "document", "passage", "article", "page_content")
_MAX_SHOWN_COLUMNS = 20


class HasColumns(Protocol):
    """A source of rows with named columns: a shard, or a `Frame` in memory."""

    @property
    def path(self) -> Path:
        """The path, for messages."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    def sample(self) -> list[dict[str, Any]]:
        """Return the first rows."""


def find_text_column(rows: Sequence[dict[str, Any]]) -> str | None:
    """Return the column with the texts: one with a usual name, otherwise the one with the longest strings.

    Return None if no column has strings.
    """
    lengths: dict[str, int] = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, str):
                lengths[name] = lengths.get(name, 0) + len(value)
    by_name = {name.lower(): name for name in reversed(lengths)}
    for usual in _TEXT_NAMES:
        if usual in by_name:
            return by_name[usual]
    return max(lengths, key=lambda name: lengths[name]) if lengths else None


def choose_columns(shards: Sequence[HasColumns], text: str | None, id: str | None, keep: str | None) -> Columns:
    """Return the columns that a run reads.

    If `text` is None, the text column is guessed. The column `keep` decides which row is kept.

    Raises:
        CorpusError: a shard lacks one of the columns or has it twice, or no column has texts.
    """
    first = shards[0]
    if text is None:
        text = next(filter(None, (find_text_column(shard.sample()) for shard in shards)), None)
        if text is None:
            raise CorpusError(
                f"no column has strings in the first rows of {first.path}; give the name of the text column with --text"
            )
    for name, option in ((text, "--text"), (id, "--id"), (keep, "--keep")):
        for shard in shards:
            if name is not None and shard.columns and name not in shard.columns:
                known_names = _format_column_names(shard.columns)
                raise CorpusError(f"{shard.path} has no column {name!r}; choose one of {known_names} with {option}")
            if shard.columns.count(name or "") > 1:
                raise CorpusError(f"{shard.path} has several columns named {name!r}; rename all but one")
    return Columns(text, id, keep)


def choose_reference_columns(shard: HasColumns, columns: Columns) -> Columns:
    """Return the columns to read from an older dataset: those with the same names, or a guessed text column."""
    text = columns.text if columns.text in shard.columns else find_text_column(shard.sample())
    if text is None:
        raise CorpusError(
            f"{shard.path} has no column {columns.text!r}, and no column of strings to use instead; add the column"
        )
    return Columns(text, columns.id if columns.id in shard.columns else None)


def _format_column_names(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - _MAX_SHOWN_COLUMNS:,} more" if len(columns) > _MAX_SHOWN_COLUMNS else ""
    return ", ".join(name[:40] for name in columns[:_MAX_SHOWN_COLUMNS]) + more
