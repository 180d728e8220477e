"""Removes the duplicate rows of tables, data frames and lists in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from simdoc_search.dedupe.columns import choose_columns
from simdoc_search.dedupe.descriptions import DuplicateDescriptions
from simdoc_search.dedupe.formats import import_pyarrow
from simdoc_search.dedupe.frames import wrap_data
from simdoc_search.dedupe.grouping import group_rows
from simdoc_search.dedupe.options import DedupeOptions
from simdoc_search.dedupe.output import Selection
from simdoc_search.dedupe.report import DedupeReport, make_report
from simdoc_search.dedupe.rows import Rows, RowWriter
from simdoc_search.dedupe.run import DedupeProgress
from simdoc_search.dedupe.sketching import ShardColumns, shard_begins, sketch_shards
from simdoc_search.workers import ParallelMapper


class Deduplicated(NamedTuple):
    """The result of `deduplicate`.

    `data` has the kept rows, or all rows with additional columns. It has the type of the input.
    """

    data: Any
    report: DedupeReport


def deduplicate(
    data: Any,
    options: DedupeOptions | None = None,
    *,
    annotate: bool = False,
    workers: int = 1,
    progress: DedupeProgress = lambda _stage, _share, _rows: None,
) -> Deduplicated:
    """Remove the duplicate rows of a table in memory.

    Args:
        data: a pyarrow Table or RecordBatchReader, a pandas or polars DataFrame, a Hugging Face Dataset, or an iterable
            of dictionaries. For an iterable, the result is a list.
        options: which rows are duplicates, and which ones are kept.
        annotate: return all rows, with columns that describe duplicates; see `DuplicateDescriptions`.
        workers: number of worker processes. It does not change the result.
        progress: see `DedupeProgress`.

    Raises:
        CorpusError: a column does not exist, or the type of the data is not supported.
        MissingExtraError: pyarrow is not installed.
        QuerySyntaxError: the number of workers is not valid.
    """
    import_pyarrow()
    options = options or DedupeOptions()
    with tempfile.TemporaryDirectory(prefix="simdoc-") as folder, ParallelMapper(workers) as mapper:
        frame = wrap_data(data)
        columns = choose_columns([frame], options.text, options.id, options.rule.column)
        with RowWriter(Path(folder), {}) as writer:
            done = 0

            def report_rows(count: int) -> None:
                nonlocal done
                done += count
                progress("reading", 0.0, done)

            sketch_shards([ShardColumns(frame, columns)], writer, options.settings, mapper, progress=report_rows)
            begins = shard_begins(writer.shard_rows)
        with Rows(Path(folder)) as rows:
            groups = group_rows(
                rows, options.rule, options.overlap_measure, options.settings, mapper,
                progress=lambda stage, share: progress(stage, share, int(share * begins[-1])),
            )  # fmt: skip
            descriptions = DuplicateDescriptions(rows, groups, 0, columns.id is not None) if annotate else None
            if descriptions:
                descriptions.check_columns(frame.columns, "the data")
            kept = frame.select(Selection(groups, descriptions, columns.id))
            report = make_report(
                rows, groups, [""], begins, text_column=columns.text, is_guessed=options.text is None,
                has_keep_column=columns.keep is not None,
            )  # fmt: skip
    return Deduplicated(kept, report)
