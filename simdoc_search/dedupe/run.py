"""Removes the duplicates of a dataset in files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simdoc_search.dedupe.chunks import Columns
from simdoc_search.dedupe.columns import choose_columns, choose_reference_columns
from simdoc_search.dedupe.conversion import Conversion, plan_conversion
from simdoc_search.dedupe.decontamination import EvaluationNgrams, EvaluationReport, write_evaluation_ngrams
from simdoc_search.dedupe.descriptions import DuplicateDescriptions
from simdoc_search.dedupe.formats import import_pyarrow, require_format
from simdoc_search.dedupe.grouping import RowGroups, group_rows
from simdoc_search.dedupe.options import DedupeOptions
from simdoc_search.dedupe.output import Selection, convert_write_errors, copy_other_file, write_shard
from simdoc_search.dedupe.pair_file import check_pair_file, write_pairs
from simdoc_search.dedupe.report import DedupeReport, make_report
from simdoc_search.dedupe.rows import Rows, RowWriter
from simdoc_search.dedupe.saved_rows import SavedRows, check_save, is_saved_folder, save_rows, was_saved_by_run
from simdoc_search.dedupe.shards import Dataset, Shard, open_dataset
from simdoc_search.dedupe.sketching import ShardColumns, shard_begins, sketch_shards
from simdoc_search.dedupe.work_folder import WorkFolder, check_output, check_written_paths, locked_work_folder
from simdoc_search.durable import check_output_folder, write_atomically
from simdoc_search.errors import StoreError
from simdoc_search.workers import ParallelMapper

DedupeProgress = Callable[[str, float, int], None]
"""Called with the current stage, the share of this stage that is done, 0..1, and the number of rows that are done."""

StrPath = str | os.PathLike[str]

_EVALUATION_FILE = "evaluation.npz"


def deduplicate_files(
    source: StrPath,
    output: StrPath,
    options: DedupeOptions | None = None,
    *,
    annotate: bool = False,
    pairs: StrPath | None = None,
    page: StrPath | None = None,
    against: StrPath | None = None,
    save: StrPath | None = None,
    decontaminate: Sequence[StrPath] = (),
    workers: int = 1,
    progress: DedupeProgress = lambda _stage, _share, _rows: None,
    warn: Callable[[str], None] = lambda _: None,
) -> DedupeReport:
    """Remove the duplicate rows of a dataset, and write the kept rows.

    The output has the schema, the columns and the order of the input. Its extension decides the format. If the input is
    a folder, the output is a folder with the same shards.

    If the run is interrupted, call the function again with the same arguments; it resumes. Its progress is in a hidden
    folder next to the output, which needs about twice as much space as the texts.

    Args:
        source: a Parquet, JSONL, CSV or Arrow file, or a folder of them.
        output: the file or the folder to write. A folder must be empty or must not exist.
        options: which rows are duplicates, and which ones are kept.
        annotate: write all rows, with columns that describe duplicates; see `DuplicateDescriptions`.
        pairs: a file for all duplicates, each with the row that is kept instead; see `write_pairs`.
        page: an HTML page to write, with the groups and the differences of near-duplicates.
        against: old rows: a dataset, or a folder that `save` wrote. New rows that duplicate an old row are removed too.
        save: a folder to save the kept rows in, for `against` in a later run. The old rows of this run are saved too.
        decontaminate: evaluation sets. Rows that share a run of words with an evaluation text are removed too.
        workers: number of worker processes. It does not change the output.
        progress: see `DedupeProgress`.
        warn: called before any row is compared, with a sentence about what the format of the output cannot hold.

    Raises:
        CorpusError: the input cannot be read or lacks a column, the output cannot be written, or its format cannot hold
            the values.
        FormatMismatchError: the old rows were saved with other settings or by another version.
        MissingExtraError: pyarrow is not installed.
        QuerySyntaxError: the number of workers is not valid.
        StoreError: the rows cannot be saved.
    """
    options = options or DedupeOptions()
    dataset, target = open_dataset(source), Path(output)
    columns = choose_columns(dataset.shards, options.text, options.id, options.rule.column)
    read = [dataset.path, *map(Path, decontaminate), *([] if against is None else [Path(against)])]
    check_written_paths([target, *(Path(path) for path in (pairs, page) if path is not None)], read)
    check_output(dataset, target)
    if pairs is not None:
        check_pair_file(Path(pairs))
    if page is not None:
        import simdoc_search.dedupe.page  # noqa: F401, PLC0415 - to fail now if the extra `cli` is missing

        check_output_folder(Path(page))
    old = _open_old_data(against, options, columns)
    conversion = None
    if not dataset.is_folder:
        conversion = plan_conversion(dataset.shards[0], target, lambda rows: progress("checking", 0.0, rows))
    if conversion and conversion.note:
        warn(conversion.note)
    with ParallelMapper(workers) as mapper, locked_work_folder(target) as work:
        run = _Run(work, dataset, columns, options, mapper, progress, old, conversion)
        if save is not None and was_saved_by_run(Path(save), run.run_id(target)):
            work.remove()
            raise StoreError(f"an earlier run has already saved these rows in {save}; nothing was changed")
        if save is not None:
            check_save(Path(save), None if against is None else Path(against))
        return run.execute(target, annotate=annotate, pairs=pairs, page=page, save=save, decontaminate=decontaminate)


@dataclass(slots=True)
class _Run:
    work: WorkFolder
    dataset: Dataset
    columns: Columns
    options: DedupeOptions
    workers: ParallelMapper
    progress: DedupeProgress
    old_shards: Sequence[ShardColumns]
    conversion: Conversion | None
    evaluation: EvaluationReport | None = field(default=None, init=False)

    def execute(
        self,
        target: Path,
        *,
        annotate: bool,
        pairs: StrPath | None,
        page: StrPath | None,
        save: StrPath | None,
        decontaminate: Sequence[StrPath],
    ) -> DedupeReport:
        begins = self._sketch(decontaminate)
        old_row_count = begins[0]
        with Rows(self.work.rows_folder) as rows:
            groups = self._group(rows, old_row_count)
            overlaps = rows.read_evaluation_overlaps() if decontaminate else None
            descriptions = DuplicateDescriptions(rows, groups, old_row_count, self.columns.id is not None, overlaps)
            selection = Selection(groups, descriptions if annotate else None, self.columns.id)
            self._write(target, begins, selection)
            if pairs is not None:
                write_pairs(Path(pairs), descriptions)
            report = make_report(
                rows, groups, [shard.name for shard in self.dataset.shards], begins,
                text_column=self.columns.text, is_guessed=self.options.text is None,
                has_keep_column=self.columns.keep is not None,
                copied_files=self.dataset.other_files, evaluation=self.evaluation,
            )  # fmt: skip
            if page is not None:
                from simdoc_search.dedupe.page import write_page  # noqa: PLC0415 - needs the extra `cli`

                write_page(Path(page), report, descriptions, self.options.settings)
            if save is not None:
                save_rows(Path(save), rows, groups, self.options.settings, self.run_id(target))
            return report

    def run_id(self, target: Path) -> str:
        """Return a short hash of the input files and the path of the output, to recognise a repeated run."""
        files = _describe_files(self.dataset.shards)
        content = json.dumps([files, str(target.resolve())])
        return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()

    def _sketch(self, decontaminate: Sequence[StrPath]) -> list[int]:
        """Sketch all rows. Return the row number of the first row of each new shard, and the total number of rows."""
        inputs = self._list_inputs(decontaminate)
        has_progress = self.work.prepare(inputs)
        evaluation = None
        if decontaminate:
            path, settings = self.work.path / _EVALUATION_FILE, self.options.settings
            run_words = self.options.run_words
            self.evaluation = write_evaluation_ngrams(decontaminate, path, run_words, settings.analysis)
            evaluation = EvaluationNgrams(path, run_words, settings.analysis)
        if self.old_shards and isinstance(self.old_shards[0].shard, SavedRows) and not has_progress:
            self.old_shards[0].shard.copy_to(self.work.rows_folder, inputs)
        shards = [*self.old_shards, *(ShardColumns(shard, self.columns) for shard in self.dataset.shards)]
        with RowWriter(self.work.rows_folder, inputs) as writer:
            done, total = sum(writer.shard_rows), _count_rows(shards)
            if not writer.shard_rows:
                writer.checkpoint()

            def report(rows: int) -> None:
                nonlocal done
                done += rows
                self.progress("reading", min(1.0, done / total) if total else 0.0, done)

            sketch_shards(shards, writer, self.options.settings, self.workers, progress=report, evaluation=evaluation)
            self.progress("reading", 1.0, done)
            import_pyarrow().default_memory_pool().release_unused()
            return shard_begins(writer.shard_rows)[len(self.old_shards) :]

    def _group(self, rows: Rows, old_row_count: int) -> RowGroups:
        """Group all rows, or read the groups that an interrupted run stored."""
        options = self.options.grouping_options()
        groups = self.work.read_groups(options)
        if groups is None:
            groups = group_rows(
                rows, self.options.rule, self.options.overlap_measure, self.options.settings, self.workers,
                old_row_count=old_row_count,
                progress=lambda stage, share: self.progress(stage, share, int(share * len(rows))),
            )  # fmt: skip
            self.work.write_groups(groups, options)
        return groups

    def _write(self, target: Path, begins: Sequence[int], selection: Selection) -> None:
        done = 0

        def report(rows: int) -> None:
            nonlocal done
            done += rows
            self.progress("writing", done / max(1, begins[-1] - begins[0]), done)

        if selection.descriptions:
            for shard in self.dataset.shards:
                selection.descriptions.check_columns(shard.columns, str(shard.path))
        folder = (
            self.work.path / f"output-{_hash_groups(selection.groups, 'all' if selection.descriptions else 'kept')}"
        )
        if not self.dataset.is_folder:
            write_shard(
                self.dataset.shards[0], folder, begins[0], selection,
                compression=require_format(target).compression, conversion=self.conversion, progress=report,
            )  # fmt: skip
            with convert_write_errors(target):
                folder.replace(target.resolve())
            return
        if self.work.finished_file.exists() and target.exists() and not folder.exists():
            return
        for shard, begin, end in zip(self.dataset.shards, begins, begins[1:], strict=False):
            path = folder / shard.name
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():  # an interrupted run has written the file
                report(end - begin)
            else:
                compression = shard.file_format.compression
                write_shard(shard, self.work.partial_shard, begin, selection, compression=compression, progress=report)
                self.work.partial_shard.replace(path)
        for name in self.dataset.other_files:
            copy_other_file(self.dataset.path / name, folder / name, folder.name.rpartition("-")[2])
        write_atomically(self.work.finished_file, b"")
        with convert_write_errors(target):
            if target.exists():
                target.rmdir()
            folder.rename(target)

    def _list_inputs(self, decontaminate: Sequence[StrPath]) -> dict[str, Any]:
        """Return the options and input files on which the sketches depend."""
        new = [ShardColumns(shard, self.columns) for shard in self.dataset.shards]
        return {
            "input": str(self.dataset.path.resolve()),
            "shards": [_describe_shard(shard) for shard in new],
            "old": list(map(_describe_shard, self.old_shards)),
            "evaluation": [_describe_files(open_dataset(path).shards) for path in decontaminate],
            "run_words": self.options.run_words if decontaminate else 0,
            "settings": self.options.settings.to_dict(),
        }


def _open_old_data(against: StrPath | None, options: DedupeOptions, columns: Columns) -> list[ShardColumns]:
    if against is None:
        return []
    if is_saved_folder(Path(against)):
        return [ShardColumns(SavedRows(Path(against), options.settings), columns)]
    shards = open_dataset(against).shards
    return [ShardColumns(shard, choose_reference_columns(shard, columns)) for shard in shards]


def _count_rows(shards: Sequence[ShardColumns]) -> int:
    """Return the number of rows, or 0 if it is unknown until all files are read."""
    counts: list[int | None] = [getattr(shard.shard, "row_count", None) for shard in shards]
    return 0 if None in counts else sum(filter(None, counts))


def _describe_shard(shard: ShardColumns) -> Any:
    if isinstance(shard.shard, SavedRows):
        return [str(shard.shard.path.resolve()), shard.shard.folder_name]
    columns = shard.columns
    return [*_describe_files([shard.shard]), columns.text, columns.id, columns.keep]


def _describe_files(shards: Sequence[Any]) -> list[Any]:
    def describe(shard: Shard) -> list[Any]:
        state = shard.path.stat()
        return [shard.name, str(shard.path.resolve()), state.st_size, state.st_mtime_ns]

    return list(map(describe, shards))


def _hash_groups(groups: RowGroups, name: str) -> str:
    content = hashlib.blake2b(digest_size=8)
    for part in (groups.kept_rows.data, groups.kinds.data, name.encode()):
        content.update(part)
    return content.hexdigest()
