"""A plan: a table of duplicates that people edit, applied to files, and undone.

rows.py              rows of the table, and the state of a document when it was written
table.py             rows to a file and back
creation.py          the rows of the groups that were found
validation.py        the check that no group loses its kept document
files.py             the current state of files
moves.py             moves, deletes and links that lose nothing, whatever else happens
journal.py           the undo file: each change is on disk before it is made
lock.py              one run at a time in a tree of folders
stored_documents.py  documents of a plan in the store
execution.py         applies a plan
rollback.py          undoes it
"""

from simdoc_search.duplicates.plan.creation import write_plan
from simdoc_search.duplicates.plan.execution import ApplyReport, ExpectedChanges, apply_plan, expected_changes
from simdoc_search.duplicates.plan.rollback import UndoReport, undo
from simdoc_search.duplicates.plan.rows import How, PlanError
from simdoc_search.duplicates.plan.table import check_new, read_plan

__all__ = [
    "ApplyReport",
    "ExpectedChanges",
    "How",
    "PlanError",
    "UndoReport",
    "apply_plan",
    "check_new",
    "expected_changes",
    "read_plan",
    "undo",
    "write_plan",
]
