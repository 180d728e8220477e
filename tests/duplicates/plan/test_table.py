"""A plan can be read after a spreadsheet saved it, and mistakes in it are reported."""

from __future__ import annotations

import csv
import io
import os
import re
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.plan import PlanError, read_plan
from simdoc_search.duplicates.plan.journal import Journal
from simdoc_search.duplicates.plan.rows import DocumentState, FileState, PlanRow
from simdoc_search.duplicates.plan.table import escape_cell, unescape_cell, write_table
from tests.support.folders import posix_only

STATE = FileState(7, 1_700_000_000_123_456_789, "0f" * 16)
ROWS = [
    PlanRow("keep", 1, DocumentKey("a\tb.txt"), "/x/a\tb\n\\.txt", "", STATE),
    PlanRow(
        "drop",
        1,
        DocumentKey('=1+1"\ud800'),
        "/x/\udcff \u202ec.txt ",
        "/x/a\tb\n\\.txt",
        None,
        "~95",
        "near",
        note='"why"',
    ),
    PlanRow("decide", 2, DocumentKey("007", "articles", "de"), None, "7", DocumentState("f" * 32)),
]


def checked_values(rows: list[PlanRow]) -> list[tuple[object, ...]]:
    """Return the values of rows that are not only for people."""
    return [(row.action, row.group, row.key, row.path, row.kept_name, row.state) for row in rows]


@given(st.text(st.characters(exclude_categories=()), max_size=30))
@example("\\t")
@example("1e5")
@example(" a ")
@example("\udcff")
def test_any_text_is_read_back_from_a_cell(text: str) -> None:
    """Editors and spreadsheets do not change a cell that is printable and not a quote, a formula or a number."""
    cell = escape_cell(text)

    assert text == unescape_cell(cell)
    assert cell.isprintable()
    assert '"' not in cell
    assert cell == cell.strip()
    assert not re.match(r"[=+\-@#']|[\d.,]+$", cell)
    cell.encode()


@pytest.mark.parametrize(
    ("delimiter", "encoding"), [("\t", "utf-8-sig"), ("\t", "utf-16"), (";", "utf-8-sig"), (",", "utf-8")]
)
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
def test_rows_are_read_back_from_a_spreadsheet(
    tmp_path: Path, delimiter: str, encoding: str, quoting: Literal[0, 1]
) -> None:
    """A spreadsheet may sort rows, quote cells, move and remove columns, write CRLF or CR, and save CSV or UTF-16."""
    file = tmp_path / "plan.tsv"
    write_table(file, ROWS, "apply")
    assert checked_values(ROWS) == checked_values(read_plan(file))
    assert ["", '"why"', ""] == [row.note for row in read_plan(file)]
    assert "#   apply\n" in file.read_text("utf-8")

    comments = [line for line in file.read_text("utf-8").splitlines() if line.startswith("#")]
    table = list(csv.DictReader(io.StringIO(file.read_text("utf-8").split("\n", len(comments))[-1]), delimiter="\t"))
    out = io.StringIO()
    columns = ["state", "id", "action", "kept", "index", "path", "group", "routing"]
    writer = csv.DictWriter(out, columns, delimiter=delimiter, quoting=quoting, extrasaction="ignore")
    csv.writer(out, delimiter=delimiter, quoting=quoting).writerows([line, "", ""] for line in comments)
    writer.writeheader()
    writer.writerows({**cells, "action": f" {cells['action'].upper()} "} for cells in reversed(table))
    for line_end in ("\r\n", "\r"):
        file.write_text(out.getvalue().replace("\r\n", line_end), encoding, newline="")
        assert checked_values(ROWS[::-1]) == checked_values(read_plan(file))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("drop", "dorp", "column 'action' must be 'keep', 'drop' or 'decide', not 'dorp'; nothing was done"),
        ("drop\t1", "drop\tone", "column 'group' must be a number"),
        (
            "document:",
            "text:",
            "an earlier version of simdoc-search wrote the plan; write a new one with `duplicates --plan`",
        ),
        ("file:7", "file:7.0", "which is not a valid state; copy the cell from the original plan"),
        ("action\t", "what\t", "column 'action' is missing"),
        ("\t", "|", "column 'action' is missing; save the plan as text or CSV"),
        (r"/x/a\t", r"/x\a", r"is not part of an escape; write each backslash as \\"),
    ],
)
def test_a_mistake_is_reported_with_its_line(tmp_path: Path, before: str, after: str, message: str) -> None:
    file = tmp_path / "plan.tsv"
    write_table(file, ROWS, "apply")
    file.write_text(file.read_text("utf-8").replace(before, after), "utf-8")

    with pytest.raises(PlanError, match=rf"line \d+: .*{re.escape(message)}"):
        read_plan(file)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a", "column 'action' must be 'keep', 'drop' or 'decide', not ''"),
        ("a\tdrop", "column 'group' must be a number"),
    ],
)
def test_missing_cells_at_the_end_of_a_row_are_reported(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "plan.tsv").write_text(f"id\taction\tgroup\tpath\tkept\tstate\na\tkeep\t1\n{row}\n")

    with pytest.raises(PlanError, match=f"line 3: {message}"):
        read_plan(tmp_path / "plan.tsv")


def test_a_plan_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"plan\.tsv cannot be written: no such file or directory\Z"):
        write_table(tmp_path / "missing/plan.tsv", ROWS, "apply")


def test_a_plan_in_an_old_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("action\tMüller", "cp1252")

    with pytest.raises(
        PlanError, match=r"plan\.txt is not UTF-8; in a spreadsheet, save it as CSV UTF-8 or as Unicode"
    ):
        read_plan(tmp_path / "plan.txt")


def test_a_new_plan_overwrites_neither_a_plan_nor_an_undo_file(tmp_path: Path) -> None:
    (tmp_path / "plan.tsv").write_text("mine")
    (tmp_path / "other.tsv.undo").write_text("mine")

    for name, existing in (("plan.tsv", "plan.tsv"), ("other.tsv", "other.tsv.undo")):
        with pytest.raises(PlanError, match=f"{re.escape(existing)} already exists"):
            write_table(tmp_path / name, ROWS, "apply")
    assert ["other.tsv.undo", "plan.tsv"] == sorted(path.name for path in tmp_path.iterdir())


@posix_only
def test_a_pipe_and_a_huge_file_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 1 << 36)
    for name, message in (
        ("pipe", "the path leads to a pipe, not to a regular file"),
        ("huge", "the file is larger than 2,147,483,648 byt"),
    ):
        with pytest.raises(PlanError, match=f"{name} cannot be read: {message}"):
            read_plan(tmp_path / name)
    with pytest.raises(PlanError, match=r"is larger than 2,147,483,648 bytes, so it is not an undo file"):
        Journal(tmp_path / "huge")
