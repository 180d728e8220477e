"""The table of a plan: what is written comes back, also from a spreadsheet, and what cannot be meant is said."""

from __future__ import annotations

import csv
import io
import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simdoc_search.documents import Place
from simdoc_search.duplicates.plan import PlanError, read_plan
from simdoc_search.duplicates.plan.journal import Journal
from simdoc_search.duplicates.plan.rows import FileState, PlanRow, TextState
from simdoc_search.duplicates.plan.table import escaped, unescaped, write_table
from tests.support.folders import posix_only

STATE = FileState(7, 1_700_000_000_123_456_789, "0f" * 16)
ROWS = [
    PlanRow("keep", 1, Place("a\tb.txt"), "/x/a\tb\n\\.txt", "", STATE),
    PlanRow("drop", 1, Place('=1+1"\ud800'), "/x/\udcff \u202ec.txt ", "/x/a\tb\n\\.txt", None, "~95", "near"),
    PlanRow("decide", 2, Place("007", "articles", "de"), None, "7", TextState("f" * 32)),
]


def parts(rows: list[PlanRow]) -> list[tuple[object, ...]]:
    """What a program reads of rows."""
    return [(row.action, row.group, row.place, row.path, row.kept, row.state) for row in rows]


@given(st.text(st.characters(exclude_categories=()), max_size=30))
@example("\\")
@example("\\t")
@example("1e5")
@example(" a ")
@example("\udcff")
def test_any_text_comes_back_from_a_cell(text: str) -> None:
    """And the cell is one that no editor and no spreadsheet changes: printable, no quote, no formula, no number."""
    cell = escaped(text)

    assert text == unescaped(cell)
    assert cell.isprintable()
    assert '"' not in cell
    assert cell == cell.strip()
    assert not re.match(r"[=+\-@#']|[\d.,]+$", cell)
    cell.encode()


def test_rows_come_back(tmp_path: Path) -> None:
    """With tabs, ends of lines, lone surrogates, names that are no UTF-8, and dates to the nanosecond."""
    write_table(tmp_path / "plan.tsv", ROWS, "apply")

    assert parts(ROWS) == parts(read_plan(tmp_path / "plan.tsv"))
    assert "#   apply\n" in (tmp_path / "plan.tsv").read_text("utf-8")


def test_a_spreadsheet_may_sort_quote_and_leave_out(tmp_path: Path) -> None:
    """Quotes around cells, CRLF, a byte order mark, padded lines, another order, no columns that are for people."""
    file = tmp_path / "plan.tsv"
    write_table(file, ROWS, "apply")
    comments = [line for line in file.read_text("utf-8").splitlines() if line.startswith("#")]
    table = list(csv.DictReader(io.StringIO(file.read_text("utf-8").split("\n", len(comments))[-1]), delimiter="\t"))
    out = io.StringIO()
    columns = ["state", "id", "action", "kept", "index", "path", "group", "routing"]
    writer = csv.DictWriter(out, columns, delimiter="\t", quoting=csv.QUOTE_ALL, extrasaction="ignore")
    out.write("".join(f'"{line}"\t\t\t\r\n' for line in comments))
    writer.writeheader()
    writer.writerows({**each, "action": f" {each['action'].upper()} "} for each in reversed(table))
    file.write_bytes("\ufeff".encode() + out.getvalue().encode())

    assert parts(ROWS[::-1]) == parts(read_plan(file))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("drop", "dorp", "an action is keep, drop or decide, not 'dorp'; nothing was done"),
        ("drop\t1", "drop\tone", "a group is a number"),
        ("file:7", "file:7.0", "is not as it was written"),
        ("action\t", "what\t", "it has no column 'action'"),
        (r"/x/a\t", r"/x\a", r"a backslash is written \\ in a plan"),
    ],
)
def test_what_cannot_be_meant_is_said_with_its_line(tmp_path: Path, before: str, after: str, said: str) -> None:
    """A mistake of one row stops all: nothing is done by a plan that is half understood."""
    file = tmp_path / "plan.tsv"
    write_table(file, ROWS, "apply")
    file.write_text(file.read_text("utf-8").replace(before, after), "utf-8")

    with pytest.raises(PlanError, match=rf"line \d+: .*{re.escape(said)}"):
        read_plan(file)


def test_no_plan_is_written_over_another_or_over_what_was_done(tmp_path: Path) -> None:
    """A person's work is in it; and the undo file of an earlier plan would not belong to a new one."""
    (tmp_path / "plan.tsv").write_text("mine")
    (tmp_path / "other.tsv.undo").write_text("mine")

    for name, there in (("plan.tsv", "plan.tsv"), ("other.tsv", "other.tsv.undo")):
        with pytest.raises(PlanError, match=f"{re.escape(there)} exists already"):
            write_table(tmp_path / name, ROWS, "apply")
    assert ["other.tsv.undo", "plan.tsv"] == sorted(each.name for each in tmp_path.iterdir())


@posix_only
def test_a_plan_that_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    """A pipe that nobody writes to, and a file larger than any plan, which takes no room on the disk."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 1 << 36)
    for name, said in (("pipe", "it is a pipe, not a regular file"), ("huge", "it is larger than 2,147,483,648 bytes")):
        with pytest.raises(PlanError, match=f"{name} cannot be read: {said}"):
            read_plan(tmp_path / name)
    with pytest.raises(PlanError, match=r"is larger than 2,147,483,648 bytes, so it is not an undo file"):
        Journal(tmp_path / "huge")
