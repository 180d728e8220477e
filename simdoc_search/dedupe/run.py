"""Removes the duplicates of a dataset in files."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from simdoc_search.dedupe.annotation import Annotation
from simdoc_search.dedupe.chunks import Columns
from simdoc_search.dedupe.columns import choose_columns
from simdoc_search.dedupe.formats import format_of, require_format
from simdoc_search.dedupe.grouping import RowGroups, group_rows
from simdoc_search.dedupe.options import DedupeOptions
from simdoc_search.dedupe.output import Selection, copy_other_file, write_errors, write_shard
from simdoc_search.dedupe.report import DedupeReport, make_report
from simdoc_search.dedupe.rows import Rows, RowWriter, read_checkpoint
from simdoc_search.dedupe.shards import Dataset, open_dataset
from simdoc_search.dedupe.sketching import ShardColumns, shard_begins, sketch_shards
from simdoc_search.duplicates.plan.lock import lock_file
from simdoc_search.durable import write_atomically
from simdoc_search.errors import CorpusError
from simdoc_search.workers import WorkerMap

DedupeProgress = Callable[[str, float, int], None]
"""Called with the current stage, the share of this stage that is done, 0..1, and the number of rows that are done."""

_ROWS, _GROUPS, _OUTPUT, _FINISHED = "rows", "groups.npz", "output", "finished"


def deduplicate_files(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    options: DedupeOptions | None = None,
    *,
    annotate: bool = False,
    workers: int = 1,
    progress: DedupeProgress = lambda _stage, _share, _rows: None,
) -> DedupeReport:
    """Remove the duplicate rows of a dataset, and write the kept rows.

    The output has the format, the schema, the columns and the order of the input. A folder gives a folder with the same
    shards. If the run is interrupted, call the function again with the same arguments; it resumes. Its progress is in a
    hidden folder next to the output, which needs about 1.5 times as much space as the texts.

    Args:
        source: a Parquet, JSONL, CSV or Arrow file, or a folder of them.
        output: the file or the folder to write. A folder must be empty or must not exist.
        options: decide which rows are duplicates.
        annotate: write all rows, with columns that describe duplicates; see `Annotation`.
        workers: number of worker processes. It does not change the output.
        progress: see `DedupeProgress`.

    Raises:
        CorpusError: the input cannot be read, lacks a column, or the output cannot be written.
        MissingExtraError: pyarrow is not installed.
        QuerySyntaxError: the number of workers is not valid.
    """
    options = options or DedupeOptions()
    dataset, target = open_dataset(source), Path(output)
    columns = choose_columns(dataset.shards, options.text, options.id, options.rule.column)
    _check_output(dataset, target)
    with _working_folder(target) as work, WorkerMap(workers) as worker_map:
        description = _describe(dataset, columns, options)
        _prepare(work, description)
        begins = _sketch(
            work / _ROWS, dataset, columns=columns, options=options, workers=worker_map, description=description,
            progress=progress,
        )  # fmt: skip
        with Rows(work / _ROWS) as rows:
            groups = _group(work / _GROUPS, rows, options, worker_map, progress)
            annotation = Annotation(rows, groups, 0, columns.id is not None) if annotate else None
            selection = Selection(groups, annotation, columns.id)
            _write(dataset, target, work, begins=begins, selection=selection, progress=progress)
            report = make_report(
                rows, groups, [shard.name for shard in dataset.shards], begins,
                text_column=columns.text, is_guessed=options.text is None, copied_files=dataset.other_files,
            )  # fmt: skip
        shutil.rmtree(work)
    return report


def _check_output(dataset: Dataset, target: Path) -> None:
    if target.resolve() == dataset.path.resolve() or target.resolve().is_relative_to(dataset.path.resolve()):
        raise CorpusError(f"the output {target} is the input or is inside it; choose another path")
    if not target.parent.is_dir():
        raise CorpusError(f"cannot write {target}, because its folder does not exist; create the folder")
    if dataset.is_folder:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            if not (_work_path(target) / _FINISHED).exists():
                raise CorpusError(f"{target} already exists and is not an empty folder; choose another folder")
        elif format_of(target) is not None:
            raise CorpusError(f"the input is a folder, so the output must be a folder too, not {target}")
    elif target.is_dir():
        raise CorpusError(f"the input is a file, so the output must be a file too, not the folder {target}")
    elif require_format(target) != dataset.shards[0].named_format:
        raise CorpusError(f"the output {target} must have the format of the input; change its extension")


def _work_path(target: Path) -> Path:
    return target.resolve().parent / f".{target.name}.dedupe"


@contextmanager
def _working_folder(target: Path) -> Iterator[Path]:
    """Create and lock the folder with the progress of a run."""
    work = _work_path(target)
    with write_errors(target):
        work.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(work, os.O_RDONLY) if os.name != "nt" else None
    try:
        if handle is not None and not lock_file(handle):
            raise CorpusError(f"another run is writing {target}; wait until it ends")
        yield work
    finally:
        if handle is not None:
            os.close(handle)


def _describe(dataset: Dataset, columns: Columns, options: DedupeOptions) -> dict[str, Any]:
    """Return what the sketches depend on."""
    files = [(shard.name, shard.path.stat().st_size, shard.path.stat().st_mtime_ns) for shard in dataset.shards]
    return {
        "input": str(dataset.path.resolve()),
        "files": [list(file) for file in files],
        "columns": [columns.text, columns.id, columns.keep],
        "settings": options.settings.to_dict(),
    }


def _prepare(work: Path, description: dict[str, Any]) -> None:
    """Remove the progress of a run with other options or other input files."""
    state = read_checkpoint(work / _ROWS) if (work / _ROWS).is_dir() else None
    if state is None or state["description"] != json.loads(json.dumps(description)):
        for path in list(work.iterdir()):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _sketch(
    folder: Path,
    dataset: Dataset,
    *,
    columns: Columns,
    options: DedupeOptions,
    workers: WorkerMap,
    description: dict[str, Any],
    progress: DedupeProgress,
) -> list[int]:
    """Sketch all rows, and return the number of the first row of each shard, and the number of all rows."""
    with RowWriter(folder, description) as writer:
        done, total = sum(writer.shard_rows), _count_rows(dataset)
        if not writer.is_complete and not writer.shard_rows:
            writer.checkpoint()

        def report(rows: int) -> None:
            nonlocal done
            done += rows
            progress("reading", min(1.0, done / total) if total else 0.0, done)

        sketch_shards(
            [ShardColumns(shard, columns) for shard in dataset.shards], writer, options.settings, workers, report
        )
        progress("reading", 1.0, done)
        return shard_begins(writer.shard_rows)


def _count_rows(dataset: Dataset) -> int:
    """Return the number of rows, or 0 if only reading all files tells it."""
    counts: list[int | None] = [getattr(shard, "row_count", None) for shard in dataset.shards]
    return 0 if None in counts else sum(filter(None, counts))


def _group(path: Path, rows: Rows, options: DedupeOptions, workers: WorkerMap, progress: DedupeProgress) -> RowGroups:
    """Group all rows, or read the groups that an interrupted run stored."""
    description = json.dumps(options.describe_groups(), sort_keys=True)
    if path.exists():
        with np.load(path) as stored:
            if str(stored["description"]) == description:
                overflow_rows, skipped = stored["overflow"].tolist()
                return RowGroups(stored["kept_row"], stored["overlap"], stored["kind"], overflow_rows, skipped)
    groups = group_rows(
        rows, options.rule, options.threshold, options.settings, workers,
        memory=options.memory, progress=lambda stage, share: progress(stage, share, int(share * len(rows))),
    )  # fmt: skip
    content = io.BytesIO()
    np.savez(
        content, kept_row=groups.kept_row, overlap=groups.overlap, kind=groups.kind,
        overflow=np.array([groups.overflow_rows, groups.skipped_comparisons]), description=np.array(description),
    )  # fmt: skip
    write_atomically(path, content.getvalue())
    return groups


def _write(
    dataset: Dataset,
    target: Path,
    work: Path,
    *,
    begins: Sequence[int],
    selection: Selection,
    progress: DedupeProgress,
) -> None:
    done = 0

    def report(rows: int) -> None:
        nonlocal done
        done += rows
        progress("writing", done / max(1, begins[-1]), done)

    if selection.annotation:
        for shard in dataset.shards:
            selection.annotation.check_columns(shard.columns, str(shard.path))
    if not dataset.is_folder:
        write_shard(dataset.shards[0], work / _OUTPUT, begins[0], selection, report)
        with write_errors(target):
            (work / _OUTPUT).replace(target.resolve())
        return
    content = selection.groups.kept_row.tobytes() + (b"all" if selection.annotation else b"kept")
    fingerprint = hashlib.blake2b(content, digest_size=8).hexdigest()
    folder, marker = work / f"{_OUTPUT}-{fingerprint}", work / _FINISHED
    if marker.exists() and target.exists() and not folder.exists():
        return
    for shard, begin, end in zip(dataset.shards, begins, begins[1:], strict=False):
        path = folder / shard.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():  # an interrupted run wrote it
            report(end - begin)
        else:
            write_shard(shard, path, begin, selection, report)
    for name in dataset.other_files:
        copy_other_file(dataset.path / name, folder / name, fingerprint)
    write_atomically(marker, b"")
    with write_errors(target):
        if target.exists():
            target.rmdir()
        folder.rename(target)
