"""Saves the kept rows of a run, so that a later run can remove their duplicates from new data.

A saved folder has the file saved.json, which names a subfolder with the files of rows.py. Saving again writes another
subfolder, and then replaces saved.json atomically.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simdoc_search.dedupe.chunks import Chunk, Columns
from simdoc_search.dedupe.grouping import KEPT, RowGroups
from simdoc_search.dedupe.rows import FORMAT_VERSION, Rows, RowWriter, copy_rows
from simdoc_search.durable import write_atomically
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.settings import Settings

_SAVED_FILE = "saved.json"


class SavedRows:
    """The saved rows of an earlier run. They are the first shard of a later run, which copies them.

    Raises:
        FormatMismatchError: they were saved with other settings, or by a newer version.
        StoreError: the folder is damaged.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path: Path = path
        self.name: str = ""
        self.columns: list[str] = []
        try:
            saved = json.loads((path / _SAVED_FILE).read_bytes())
            self.folder_name: str = saved["folder"]
            version, found = int(saved["format"]), saved["settings"]
            self._rows = int(saved["rows"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{path / _SAVED_FILE} cannot be read ({error}); save the rows again") from None
        if version > FORMAT_VERSION:
            raise FormatMismatchError(
                f"the rows in {path} were saved by a newer version of simdoc-search; update simdoc-search"
            )
        if found != json.loads(json.dumps(settings.to_dict())) or version != FORMAT_VERSION:
            raise FormatMismatchError(
                f"the rows in {path} were saved with settings that differ from those of this run, or by another "
                "version of simdoc-search; save the rows again",
                found,
                settings,
            )

    @property
    def row_count(self) -> int:
        """The number of rows."""
        return self._rows

    def chunks(self, columns: Columns, skip: int) -> Iterator[Chunk]:  # noqa: ARG002 - the rows are copied instead
        """Yield nothing, because the rows are already sketched."""
        return iter(())

    def copy_to(self, folder: Path, inputs: dict[str, Any]) -> None:
        """Copy the rows to the folder of a run."""
        copy_rows(self.path / self.folder_name, folder, inputs, self._rows)


def is_saved_folder(path: Path) -> bool:
    """Return whether a folder has saved rows."""
    return (path / _SAVED_FILE).is_file()


def was_saved_by_run(path: Path, run_id: str) -> bool:
    """Return whether an earlier call of the same run was the last to save rows in a folder.

    If so, the run must not be repeated: all its new rows are duplicates of the saved rows, so it would remove them.
    """
    try:
        return bool(json.loads((path / _SAVED_FILE).read_bytes())["run"] == run_id)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def check_save(path: Path, against: Path | None) -> None:
    """Raise a StoreError if rows cannot be saved in a folder, for example because it has other content."""
    if not path.parent.is_dir():
        raise StoreError(f"cannot save rows in {path}, because its folder does not exist; create the folder")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        if not is_saved_folder(path):
            raise StoreError(f"{path} is not empty, but has no saved rows; choose another folder")
        if against is None or against.resolve() != path.resolve():
            raise StoreError(f"{path} already has saved rows; to add rows, also give --against {path}")


def save_rows(path: Path, rows: Rows, groups: RowGroups, settings: Settings, run_id: str) -> None:
    """Save the old rows and the kept new rows.

    `run_id` identifies the new rows and the output.
    """
    name = f"rows-{secrets.token_hex(8)}"
    folder = path / name
    folder.mkdir(parents=True)
    is_saved = (groups.kinds == KEPT) & (rows.column("tokens") > 0)
    with RowWriter(folder, {}) as writer:
        for part in rows.read_parts(is_saved):
            writer.append(0, part)
        writer.checkpoint(is_complete=True)
    saved = {
        "format": FORMAT_VERSION,
        "settings": settings.to_dict(),
        "folder": name,
        "rows": int(is_saved.sum()),
        "run": run_id,
    }
    write_atomically(path / _SAVED_FILE, json.dumps(saved).encode())
    for other in path.iterdir():
        if other.is_dir() and other.name != name and other.name.startswith("rows-"):
            shutil.rmtree(other)
