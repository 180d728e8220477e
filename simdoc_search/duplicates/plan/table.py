"""Reads and writes a plan as a table: one row per line, cells separated by tabs, for editors and spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from simdoc_search.display import printable
from simdoc_search.documents import Place
from simdoc_search.duplicates.plan.rows import ACTIONS, MAX_BYTES, FileState, PlanError, PlanRow, State, TextState
from simdoc_search.durable import MAKE_ROOM, is_full, whole_file
from simdoc_search.small_files import read_small

_COLUMNS = (
    "action", "group", "percent", "kind", "bytes", "changed", "path", "kept", "id", "index", "routing", "state", "note",
)  # fmt: skip
_READ = ("action", "group", "path", "kept", "id", "state")
_FILE = re.compile(r"file:(\d+):(-?\d+):([0-9a-f]{32})")
_COMMENT = "#"
_ABOUT = """\
A plan of simdoc-search: which duplicates go. Change the first column, save it as text with tabs, and apply it:
  {command}
keep: it stays. drop: it goes. decide: it stays until you write drop. The column note says why.
Each group begins with the one that is kept. The column kept names the document that stays for a row.
To keep another document: write keep in its row, drop in the row of the first, and its path as kept in each row that
says drop. A file that has changed since (column state) is left alone, and so is a row without a state.
"""
_WIDENED = {
    "same-text": "This plan was made with --drop same-text: it also drops files with equal text and other bytes.",
    "same-words": "This plan was made with --drop same-words: it also drops files with equal words and other bytes.",
}


def write_table(path: Path, rows: Iterable[PlanRow], command: str, drop: str | None = None) -> None:
    """Write a plan that is there whole or not at all.

    Args:
        path: the file, which must not be there.
        rows: what stands in it.
        command: how it is applied, for people.
        drop: what is dropped besides identical documents, as in `judgement`; None: nothing.

    Raises:
        PlanError: the file is there, or what was done by an earlier one of its name; or it cannot be written.
    """
    check_new(path)
    try:
        with whole_file(path) as file:
            file.writelines(line.encode() for line in table_lines(rows, command, drop))
    except OSError as error:
        advice = f"; {MAKE_ROOM}" if is_full(error) else ""
        raise PlanError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}{advice}") from None


def table_lines(rows: Iterable[PlanRow], command: str, drop: str | None = None) -> Iterator[str]:
    """The lines of a plan; arguments as of `write_table`."""
    for line in (_ABOUT + _WIDENED.get(drop or "", "")).splitlines():
        yield f"{_COMMENT} {printable(line.format(command=command))}\n"
    yield "\t".join(_COLUMNS) + "\n"
    for row in rows:
        yield "\t".join(_cells(row)) + "\n"


def check_new(path: Path) -> None:
    """Refuse to write over a plan, or beside the undo file of an earlier one.

    Raises:
        PlanError: one of them is there.
    """
    for each in (path, undo_file(path)):
        if each.exists() or each.is_symlink():
            raise PlanError(f"{each} exists already, and may have what you want to keep; name another file")


def undo_file(plan: Path) -> Path:
    """Where it stands what was done by a plan."""
    return plan.with_name(f"{plan.name}.undo")


def read_plan(path: str | Path) -> list[PlanRow]:
    """The rows of a plan that a person may have edited.

    Lines may have been sorted, columns moved, and those removed that are for people only.

    Raises:
        PlanError: it cannot be read, is no plan, or a row says what cannot be meant; nothing was done.
    """
    try:
        text = read_small(path, MAX_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise PlanError(f"{path} is not UTF-8; save it as text with tabs in UTF-8") from None
    return list(_rows(str(path), text))


def _rows(path: str, text: str) -> Iterator[PlanRow]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True)
    columns: list[str] = []
    try:
        for cells in lines:
            if not any(cells) or cells[0].startswith(_COMMENT):
                continue
            if columns:
                yield _row(dict(zip(columns, (unescaped(each.strip(" ")) for each in cells), strict=False)))
                continue
            columns = [each.strip().lower() for each in cells]
            if missing := [each for each in _READ if each not in columns]:
                raise ValueError(f"it has no column {missing[0]!r}, so it is no plan, or was not saved with tabs")
    except (ValueError, csv.Error) as error:
        raise PlanError(f"{path}, line {lines.line_num}: {error}; nothing was done") from None
    if not columns:
        raise PlanError(f"{path} has no line with the names of columns, so it is no plan")


def _cells(row: PlanRow) -> list[str]:
    size = str(row.state.size) if isinstance(row.state, FileState) else ""
    texts = (row.path or "", row.kept, row.place.id, row.place.index or "", row.place.routing or "")
    state = "" if row.state is None else str(row.state)
    return [
        row.action, str(row.group), row.overlap, row.kind, size, row.changed, *map(escaped, texts), state,
        escaped(row.note),
    ]  # fmt: skip


def _row(cells: dict[str, str]) -> PlanRow:
    word = cells.get("action", "").strip().lower()
    action = next((each for each in ACTIONS if each == word), None)
    if action is None:
        raise ValueError(f"an action is {', '.join(ACTIONS[:-1])} or {ACTIONS[-1]}, not {word!r:.60}")
    if not (group := cells.get("group", "").strip()).isdecimal():
        raise ValueError(f"a group is a number, not {group!r:.60}")
    if not cells.get("id"):
        raise ValueError("its id is gone")
    place = Place(cells["id"], cells.get("index") or None, cells.get("routing") or None)
    return PlanRow(
        action, int(group), place, cells.get("path") or None, cells.get("kept", ""), _state(cells.get("state", "")),
        note=cells.get("note", ""),
    )  # fmt: skip


def _state(cell: str) -> State | None:
    if not cell:
        return None
    if match := _FILE.fullmatch(cell):
        return FileState(int(match[1]), int(match[2]), match[3])
    if cell.startswith("text:"):
        return TextState(cell.removeprefix("text:"))
    raise ValueError(f"the state {cell!r:.80} is not as it was written")


_TAKEN_FOR_ELSE = re.compile(r"[=+\-@#' ].*|[\d.,:/ e+\-]+%?|true|false", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:([\\tnr])|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|)")
_SHORT_ESCAPES = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


def escaped(text: str) -> str:
    """A text as a cell."""
    cell = printable(text.replace("\\", "\\\\")).replace('"', r"\x22")
    if _TAKEN_FOR_ELSE.fullmatch(cell):
        cell = rf"\x{ord(cell[0]):02x}{cell[1:]}"
    return cell[:-1] + r"\x20" if cell.endswith(" ") else cell


def unescaped(cell: str) -> str:
    """The text of a cell.

    Raises:
        ValueError: a backslash begins no escape.
    """
    return _ESCAPE.sub(_character_of, cell)


def _character_of(match: re.Match[str]) -> str:
    short, *codes = match.groups()
    code = next(filter(None, codes), None)
    if short is None and code is None:
        raise ValueError(rf"a backslash is written \\ in a plan; in {match.string!r:.100} one is not")
    return _SHORT_ESCAPES[short] if short else chr(int(code or "", 16))
