"""Describes duplicates: their names, their overlaps, and the columns to add to the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simdoc_search.dedupe.grouping import KEPT, KINDS, RowGroups
from simdoc_search.dedupe.rows import Rows
from simdoc_search.errors import CorpusError

_OVERLAP_DIGITS = 6


@dataclass(frozen=True, slots=True)
class DuplicateDescriptions:
    """Describes duplicates in these columns.

    | Column | Value |
    |---|---|
    | `duplicate_of` | the id or the row number of the kept row; null for the kept row itself |
    | `cluster` | a number that all rows of a group have in common |
    | `overlap` | the overlap with the kept row, 0..1 |
    | `kind` | `same text`, `same words` or `near` for a duplicate; `kept` for the kept row; `evaluation`, see below |
    | `kept_row_is_old` | whether the kept row is in the dataset `against`; only with `against` |
    | `evaluation_text` | the name of an evaluation text; only with `decontaminate` |
    | `evaluation_words` | the consecutive words that the row shares with this text; only with `decontaminate` |

    The kind is `evaluation` if a row shares enough consecutive words with an evaluation text. Such a row is not in a
    group. All columns of other rows without a group are null. Rows are numbered from 0 in the order of the shards.
    """

    rows: Rows  # all rows. Old rows, which are those of the dataset `against`, come first.
    groups: RowGroups  # for each row, the row of its group that is kept
    old_row_count: int  # the number of old rows
    has_ids: bool  # whether there is an id column
    # for each row that shares enough consecutive words with an evaluation text, the name of this text, and the words.
    # None without an evaluation set.
    evaluation_overlaps: Mapping[int, tuple[str, str]] | None = None

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        evaluation = ["evaluation_text", "evaluation_words"] if self.evaluation_overlaps is not None else []
        return [
            "duplicate_of",
            "cluster",
            "overlap",
            "kind",
            *(["kept_row_is_old"] if self.old_row_count else []),
            *evaluation,
        ]

    def check_columns(self, existing_names: Sequence[str], shard: str) -> None:
        """Raise a CorpusError if a shard already has one of the columns to add."""
        if taken := [name for name in self.column_names if name in existing_names]:
            raise CorpusError(f"{shard} already has a column {taken[0]!r}; rename or remove it, then try again")

    def name_of(self, row: int) -> Any:
        """Return the id or the row number of a row."""
        if self.has_ids:
            return self.rows.id(row)
        return row if row < self.old_row_count else row - self.old_row_count

    def overlap_of(self, row: int) -> float:
        """Return the overlap of a duplicate with its kept row, rounded."""
        return round(float(self.groups.overlaps[row]), _OVERLAP_DIGITS)

    def columns(self, begin: int, end: int, has_duplicates: np.ndarray[Any, Any]) -> dict[str, list[Any]]:
        """Return the values of the columns to add, for the rows from `begin` to `end`.

        `has_duplicates` says for each row of the dataset whether it is a kept row with duplicates.
        """
        groups = self.groups
        values: dict[str, list[Any]] = {name: [None] * (end - begin) for name in self.column_names}
        for row in begin + np.flatnonzero((groups.kinds[begin:end] != KEPT) | has_duplicates[begin:end]):
            if self.evaluation_overlaps is not None and int(row) in self.evaluation_overlaps:
                values["kind"][row - begin] = KINDS[int(groups.kinds[row])]
                values["evaluation_text"][row - begin], values["evaluation_words"][row - begin] = (
                    self.evaluation_overlaps[int(row)]
                )
                continue
            place, kept, kind = row - begin, int(groups.kept_rows[row]), int(groups.kinds[row])
            values["cluster"][place] = kept
            values["kind"][place] = "kept" if kind == KEPT else KINDS[kind]
            if kind != KEPT:
                values["duplicate_of"][place] = self.name_of(kept)
                values["overlap"][place] = self.overlap_of(int(row))
                if self.old_row_count:
                    values["kept_row_is_old"][place] = kept < self.old_row_count
        return values

    def arrow_fields(self, schema: Any, id_column: str | None) -> list[Any]:
        """Return the Arrow fields of the columns to add."""
        import pyarrow as pa  # noqa: PLC0415 - an optional dependency

        id_type = schema.field(id_column).type if id_column else pa.int64()
        simple = pa.types.is_integer(id_type) or pa.types.is_string(id_type) or pa.types.is_large_string(id_type)
        types = {
            "duplicate_of": id_type if simple else pa.string(),
            "cluster": pa.int64(),
            "overlap": pa.float64(),
            "kept_row_is_old": pa.bool_(),
        }
        return [pa.field(name, types.get(name, pa.string())) for name in self.column_names]
