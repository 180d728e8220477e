"""Reads and writes a plan as a tab-separated table with one row per line, for text editors and spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from pathlib import Path

from simdoc_search.display import printable
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.plan.rows import (
    ACTIONS,
    MAX_PLAN_BYTES,
    DocumentState,
    FileState,
    PlanError,
    PlanRow,
    State,
)
from simdoc_search.durable import DISK_FULL_ADVICE, atomic_file, is_disk_full
from simdoc_search.small_files import read_small_file

_COLUMNS = (
    "action", "group", "percent", "kind", "bytes", "changed", "path", "kept", "id", "index", "routing", "state", "note",
)  # fmt: skip
_REQUIRED_COLUMNS = ("action", "group", "path", "kept", "id", "state")
_FILE_STATE = re.compile(r"file:(\d+):(-?\d+):([0-9a-f]{32})")
_DOCUMENT_PREFIX = "document:"
_COMMENT = "#"
_INTRODUCTION = """\
This plan of simdoc-search lists duplicates. Edit the column `action`, save the file as text or CSV, then run:
  {command}
The command keeps documents with the action `keep`, and drops those with `drop`. It also keeps documents with `decide`;
to drop one of them, write `drop`. The column `note` says why an action is proposed.
Each group begins with its kept document. The column `kept` names the document that is kept instead of a dropped one.
To keep another document, write `keep` in its row, and `drop` in the first row of the group. The command does not drop a
document that has changed since the plan was written, or whose column `state` is empty.
"""
_DROP_NOTES = {
    "same-text": "Because of `--drop same-text`, this plan also drops files with equal text but different bytes.",
    "same-words": "Because of `--drop same-words`, this plan also drops files with equal words but different bytes.",
}


def write_table(path: Path, rows: Iterable[PlanRow], command: str, drop: str | None = None) -> None:
    """Write a plan, completely or not at all.

    The comment at the top contains the command that applies the plan, and says which kinds are dropped besides
    identical documents (`drop`).

    Raises:
        PlanError: the plan or its undo file already exists, or the plan cannot be written.
    """
    check_plan_is_new(path)
    try:
        with atomic_file(path) as file:
            file.writelines(line.encode() for line in table_lines(rows, command, drop))
    except OSError as error:
        advice = f"; {DISK_FULL_ADVICE}" if is_disk_full(error) else ""
        raise PlanError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}{advice}") from None


def table_lines(rows: Iterable[PlanRow], command: str, drop: str | None = None) -> Iterator[str]:
    """Yield the lines of a plan. Arguments are those of `write_table`."""
    for line in (_INTRODUCTION + _DROP_NOTES.get(drop or "", "")).splitlines():
        yield f"{_COMMENT} {printable(line.format(command=command))}\n"
    yield "\t".join(_COLUMNS) + "\n"
    for row in rows:
        yield "\t".join(_format_row(row)) + "\n"


def check_plan_is_new(path: Path) -> None:
    """Raise `PlanError` if a plan or its undo file already exists."""
    for file in (path, Path(undo_path(path))):
        if file.exists() or file.is_symlink():
            raise PlanError(f"{file} already exists and may contain your changes; choose another file")


def undo_path(plan: str | Path) -> str:
    """Return the path of the undo file of a plan."""
    return f"{plan}.undo"


def read_plan(path: str | Path) -> list[PlanRow]:
    """Read the rows of a plan that a person may have edited.

    Rows and columns may be in any order. Columns that are only for information may be missing. Spreadsheets may have
    saved the plan as Unicode text, which is UTF-16, or as CSV with commas or semicolons.

    Raises:
        PlanError: the file cannot be read, is not a plan, or has a row that is not valid.
    """
    try:
        data = read_small_file(path, MAX_PLAN_BYTES)
        text = data.decode("utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise PlanError(f"{path} is not UTF-8; in a spreadsheet, save it as CSV UTF-8 or as Unicode text") from None
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=_find_delimiter(text), strict=True)
    columns: list[str] = []
    rows = []
    try:
        for cells in lines:
            if not any(cells) or cells[0].startswith(_COMMENT):
                continue
            if columns:
                rows.append(
                    _parse_row(dict(zip(columns, (unescape_cell(cell.strip(" ")) for cell in cells), strict=False)))
                )
                continue
            columns = [cell.strip().lower() for cell in cells]
            if missing := [name for name in _REQUIRED_COLUMNS if name not in columns]:
                raise ValueError(
                    f"column {missing[0]!r} is missing; save the plan as text or CSV, or choose another file"
                )
    except (ValueError, csv.Error) as error:
        raise PlanError(f"{path}, line {lines.line_num}: {error}; nothing was done") from None
    if not columns:
        raise PlanError(f"{path} is not a plan, because it has no line with column names; choose another file")
    return rows


def _find_delimiter(text: str) -> str:
    """Return the delimiter of the line with the column names: a tab, comma or semicolon."""
    for line in io.StringIO(text, newline=""):
        if line.strip("\t,; \r\n") and not line.lstrip('"').startswith(_COMMENT):
            return max("\t,;", key=line.count)
    return "\t"


def _format_row(row: PlanRow) -> list[str]:
    size = str(row.state.size) if isinstance(row.state, FileState) else ""
    names = (row.path or "", row.kept_name, row.key.id, row.key.index or "", row.key.routing or "")
    state = "" if row.state is None else str(row.state)
    return [
        row.action, str(row.group), row.overlap, row.kind, size, row.modified_on, *map(escape_cell, names), state,
        escape_cell(row.note),
    ]  # fmt: skip


def _parse_row(cells: dict[str, str]) -> PlanRow:
    word = cells.get("action", "").strip().lower()
    action = next((action for action in ACTIONS if action == word), None)
    if action is None:
        choices = f"{', '.join(map(repr, ACTIONS[:-1]))} or {ACTIONS[-1]!r}"
        raise ValueError(f"column 'action' must be {choices}, not {word!r:.60}")
    if not (group := cells.get("group", "").strip()).isdecimal():
        raise ValueError(f"column 'group' must be a number, not {group!r:.60}")
    if not cells.get("id"):
        raise ValueError("column 'id' is empty; copy the cell from the original plan")
    key = DocumentKey(cells["id"], cells.get("index") or None, cells.get("routing") or None)
    path, kept, state = cells.get("path") or None, cells.get("kept", ""), _parse_state(cells.get("state", ""))
    return PlanRow(action, int(group), key, path, kept, state, note=cells.get("note", ""))


def _parse_state(cell: str) -> State | None:
    if not cell:
        return None
    if match := _FILE_STATE.fullmatch(cell):
        return FileState(int(match[1]), int(match[2]), match[3])
    if cell.startswith(_DOCUMENT_PREFIX):
        return DocumentState(cell.removeprefix(_DOCUMENT_PREFIX))
    if cell.startswith("text:"):
        raise ValueError("an earlier version of simdoc-search wrote the plan; write a new one with `duplicates --plan`")
    raise ValueError(
        f"column 'state' has {cell!r:.80}, which is not a valid state; copy the cell from the original plan"
    )


_CHANGED_BY_SPREADSHEETS = re.compile(r"[=+\-@#' ].*|[\d.,:/ e+\-]+%?|true|false", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:([\\tnr])|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|)")
_SHORT_ESCAPES = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


def escape_cell(text: str) -> str:
    """Escape a text so that no editor or spreadsheet changes its cell."""
    cell = printable(text.replace("\\", "\\\\")).replace('"', r"\x22")
    if _CHANGED_BY_SPREADSHEETS.fullmatch(cell):
        cell = rf"\x{ord(cell[0]):02x}{cell[1:]}"
    return cell[:-1] + r"\x20" if cell.endswith(" ") else cell


def unescape_cell(cell: str) -> str:
    """Return the text of an escaped cell. Raises ValueError if a backslash does not begin an escape."""
    return _ESCAPE.sub(_unescape, cell)


def _unescape(match: re.Match[str]) -> str:
    short, *codes = match.groups()
    code = next(filter(None, codes), None)
    if short is None and code is None:
        raise ValueError(
            rf"{match.string!r:.100} contains a backslash that is not part of an escape; write each backslash as \\"
        )
    return _SHORT_ESCAPES[short] if short else chr(int(code or "", 16))
