"""The hidden folder next to the output, with the progress of a run. It is removed when the run is complete."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from simdoc_search.dedupe.formats import format_of, require_format
from simdoc_search.dedupe.grouping import RowGroups
from simdoc_search.dedupe.output import convert_write_errors
from simdoc_search.dedupe.rows import FORMAT_VERSION, read_checkpoint
from simdoc_search.dedupe.shards import Dataset
from simdoc_search.duplicates.plan.lock import lock_file
from simdoc_search.durable import atomic_file, check_output_folder
from simdoc_search.errors import CorpusError

_ROWS_FOLDER, _GROUPS_FILE, _FINISHED_FILE = "rows", "groups.npz", "finished"


class WorkFolder:
    """The progress of a run.

    `partial_shard` is the output of the current shard, which is not complete. `finished_file` exists if a folder of
    shards was written completely.
    """

    def __init__(self, path: Path) -> None:
        self.path: Path = path
        self.rows_folder: Path = path / _ROWS_FOLDER
        self.finished_file: Path = path / _FINISHED_FILE
        self.partial_shard: Path = path / "shard"

    def prepare(self, inputs: dict[str, Any]) -> bool:
        """Keep the progress if its format, options and input are those of this run. Otherwise, remove it.

        Returns:
            Whether the progress is kept.
        """
        state = read_checkpoint(self.rows_folder) if self.rows_folder.is_dir() else None
        wanted = (FORMAT_VERSION, json.loads(json.dumps(inputs)))
        if state is not None and wanted == (state.get("format"), state["description"]):
            return True
        for path in list(self.path.iterdir()):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return False

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path)

    def read_groups(self, options: dict[str, Any]) -> RowGroups | None:
        """Return the groups that an interrupted run stored; None if there are none for these options."""
        path = self.path / _GROUPS_FILE
        if not path.exists():
            return None
        with np.load(path) as stored:
            if str(stored["description"]) != json.dumps(options, sort_keys=True):
                return None
            return RowGroups(stored["kept_row"], stored["overlap"], stored["kind"], *stored["overflow"].tolist())

    def write_groups(self, groups: RowGroups, options: dict[str, Any]) -> None:
        """Store the groups."""
        with atomic_file(self.path / _GROUPS_FILE) as file:
            np.savez(
                file, kept_row=groups.kept_rows, overlap=groups.overlaps, kind=groups.kinds,
                overflow=np.array([groups.partly_compared_row_count, groups.skipped_comparison_count]),
                description=np.array(json.dumps(options, sort_keys=True)),
            )  # fmt: skip


@contextmanager
def locked_work_folder(target: Path) -> Iterator[WorkFolder]:
    """Create and lock the folder with the progress of a run. It is removed if the block ends without an error.

    Raises:
        CorpusError: another run uses the folder, or the folder cannot be created.
    """
    work = _work_path(target)
    with convert_write_errors(target):
        work.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(work, os.O_RDONLY) if os.name != "nt" else None
    try:
        if descriptor is not None and not lock_file(descriptor):
            raise CorpusError(f"another run is writing {target}; wait until that run ends")
        folder = WorkFolder(work)
        yield folder
        folder.remove()
    finally:
        with suppress(OSError):
            work.rmdir()  # the folder is empty if the run failed before it wrote anything
        if descriptor is not None:
            os.close(descriptor)


def check_written_paths(written: Sequence[Path], read: Sequence[Path]) -> None:
    """Raise a CorpusError if a run writes to a path twice, or to a path that it reads."""
    for number, path in enumerate(written):
        resolved = path.resolve()
        if any(resolved.is_relative_to(other.resolve()) for other in read):
            raise CorpusError(f"the output {path} is the input, or is inside the input; choose another path")
        if resolved in (other.resolve() for other in written[:number]):
            raise CorpusError(f"the output {path} is named twice; choose another path for one of them")


def check_output(dataset: Dataset, target: Path) -> None:
    """Raise a CorpusError if the output already has content, or its extension is not known."""
    check_output_folder(target)
    if dataset.is_folder:
        has_content = target.exists() and (not target.is_dir() or any(target.iterdir()))
        if has_content and not (_work_path(target) / _FINISHED_FILE).exists():
            raise CorpusError(f"{target} already exists, and is not an empty folder; choose another folder")
        if not target.exists() and format_of(target) is not None:
            raise CorpusError(f"the input is a folder, so the output must be a folder too, not {target}")
    elif target.is_dir():
        raise CorpusError(f"the input is a file, so the output must be a file too, not the folder {target}")
    else:
        require_format(target)


def _work_path(target: Path) -> Path:
    return target.resolve().parent / f".{target.name}.dedupe"
