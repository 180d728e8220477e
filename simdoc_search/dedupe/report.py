"""The result of a run: how many rows were kept and removed, and which rows were not compared."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from simdoc_search.dedupe.chunks import PROBLEMS
from simdoc_search.dedupe.decontamination import EvaluationReport
from simdoc_search.dedupe.grouping import KEPT, KINDS, RowGroups
from simdoc_search.dedupe.rows import Rows
from simdoc_search.duplicates.field_values import NO_VALUE, STRING

MAX_LISTED_ROWS = 1000


@dataclass(frozen=True, slots=True)
class LeftOutRow:
    """A row that was not compared.

    `shard` is the name of its file, or empty for data in memory. Rows are numbered from 0.
    """

    shard: str
    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """A row that shares a run of words with an evaluation set.

    `evaluation_text` is the name of the text, as `FILE:ROW`. `shared_words` are consecutive. `shard` and `row` are
    those of `LeftOutRow`.
    """

    shard: str
    row: int
    evaluation_text: str
    shared_words: str


@dataclass(frozen=True, slots=True)
class DedupeReport:
    """The result of a run.

    Attributes:
        row_count: number of rows, without the old rows, which are those of the dataset `against`.
        kept_count: number of kept rows.
        removed_counts: number of removed rows of each kind: `same text`, `same words`, `near`, and `evaluation` for
            rows that share a run of words with an evaluation set.
        group_count: number of kept rows that have duplicates.
        text_column: the column with the texts.
        is_text_column_guessed: whether the column was guessed.
        old_row_count: number of old rows.
        old_duplicate_count: number of duplicates of old rows.
        left_out_counts: number of rows that were not compared, per reason. They are kept.
        left_out_rows: the first 1,000 of these rows.
        partly_compared_row_count: number of kept rows that were compared with only some of the similar rows, because
            too many rows are similar.
        string_count: number of rows with a string, not a number, in the column that decides which row is kept. Strings
            are compared character by character, and any number is preferred to a string.
        valueless_count: number of rows with neither a number nor a string in this column. Any other row is preferred.
        copied_files: other files of the folder, which were copied.
        evaluation: counts of the texts in the evaluation set; None if there is no such set.
        evaluation_rows: the first 1,000 rows that share a run of words with an evaluation set.
    """

    row_count: int
    kept_count: int
    removed_counts: Mapping[str, int]
    group_count: int
    text_column: str
    is_text_column_guessed: bool
    old_row_count: int = 0
    old_duplicate_count: int = 0
    left_out_counts: Mapping[str, int] = field(default_factory=dict)
    left_out_rows: Sequence[LeftOutRow] = ()
    partly_compared_row_count: int = 0
    string_count: int = 0
    valueless_count: int = 0
    copied_files: Sequence[str] = ()
    evaluation: EvaluationReport | None = None
    evaluation_rows: Sequence[EvaluationRow] = ()

    @property
    def removed_count(self) -> int:
        """Number of removed rows."""
        return self.row_count - self.kept_count

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return asdict(self)


def make_report(
    rows: Rows,
    groups: RowGroups,
    shard_names: Sequence[str],
    begins: Sequence[int],
    *,
    text_column: str,
    is_guessed: bool,
    has_keep_column: bool,
    copied_files: Sequence[str] = (),
    evaluation: EvaluationReport | None = None,
) -> DedupeReport:
    """Count the rows.

    `begins` contains the row number of the first row of each shard, and the total number of rows. Rows before the first
    shard are old.
    """
    old = begins[0]
    kinds = np.bincount(groups.kinds[old:], minlength=len(KINDS))
    problems = rows.column("problem")[old:]
    counts = np.bincount(problems, minlength=len(PROBLEMS))
    listed = old + np.flatnonzero(problems)[:MAX_LISTED_ROWS]
    new_overlaps = (
        ((row, overlap) for row, overlap in rows.read_evaluation_overlaps().items() if row >= old) if evaluation else ()
    )

    def locate(row: int) -> tuple[str, int]:
        shard = bisect_right(begins, row) - 1
        return shard_names[shard], row - begins[shard]

    duplicates, keep_kinds = groups.duplicates, rows.column("keep_kind")[old:]
    return DedupeReport(
        row_count=len(rows) - old,
        kept_count=int(kinds[KEPT]),
        removed_counts={name: int(count) for name, count in zip(KINDS[1:], kinds[1:], strict=True)},
        group_count=len(np.unique(groups.kept_rows[duplicates])),
        text_column=text_column,
        is_text_column_guessed=is_guessed,
        old_row_count=old,
        old_duplicate_count=int(np.count_nonzero(groups.kept_rows[duplicates] < old)),
        left_out_counts={reason: int(count) for reason, count in zip(PROBLEMS[1:], counts[1:], strict=True) if count},
        left_out_rows=[LeftOutRow(*locate(row), PROBLEMS[int(problems[row - old])]) for row in listed.tolist()],
        partly_compared_row_count=groups.partly_compared_row_count,
        string_count=int(np.count_nonzero(keep_kinds == STRING)),
        valueless_count=int(np.count_nonzero(keep_kinds == NO_VALUE)) if has_keep_column else 0,
        copied_files=tuple(copied_files),
        evaluation=evaluation,
        evaluation_rows=[EvaluationRow(*locate(row), *run) for row, run in islice(new_overlaps, MAX_LISTED_ROWS)],
    )
