"""Writes, applies and undoes plans. A plan is a table of duplicates that people edit.

rows.py              rows of a plan, states of documents, and the report
table.py             reads and writes a plan as a table
creation.py          makes the rows of a plan from groups
validation.py        checks that no group loses its kept document
files.py             reads the current state of files
moves.py             moves, deletes and links files without losing content
journal.py           the undo file, which records each change before it is made
lock.py              locks, so that only one run changes a tree of folders
stored_documents.py  documents of a plan in the store
execution.py         applies a plan
rollback.py          undoes a plan
empty_folders.py     folders that a plan has left empty
"""

from simdoc_search.duplicates.plan.creation import write_plan
from simdoc_search.duplicates.plan.empty_folders import find_empty_folders
from simdoc_search.duplicates.plan.execution import ExpectedChanges, apply_plan, expected_changes
from simdoc_search.duplicates.plan.journal import PlanIndex, read_index
from simdoc_search.duplicates.plan.rollback import UndoReport, undo
from simdoc_search.duplicates.plan.rows import ApplyReport, DropMethod, PlanError
from simdoc_search.duplicates.plan.stored_documents import find_plan_index
from simdoc_search.duplicates.plan.table import check_plan_is_new, read_plan, undo_path

__all__ = [
    "ApplyReport",
    "DropMethod",
    "ExpectedChanges",
    "PlanError",
    "PlanIndex",
    "UndoReport",
    "apply_plan",
    "check_plan_is_new",
    "expected_changes",
    "find_empty_folders",
    "find_plan_index",
    "read_index",
    "read_plan",
    "undo",
    "undo_path",
    "write_plan",
]
