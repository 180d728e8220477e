"""A plan: a table of duplicates that people edit, applied to files and undone.

rows.py       what a row of the table is, and what a document was when it was written
table.py      rows to a file and back
creation.py   the rows of the groups that were found
validation.py which groups of an edited plan may be applied? None that would leave nothing
files.py      what is this file now, and is it another name of that one?
moves.py      move, delete, link: nothing is lost to a kill or to another process
journal.py    what is about to be done, on disk before it is
lock.py       one run at a time for a tree of folders and for an undo file
documents.py  documents that leave the store
runner.py     a plan, applied
undo_run.py   and undone
"""

from simdoc_search.duplicates.plan.creation import write_plan
from simdoc_search.duplicates.plan.files import indexed_around
from simdoc_search.duplicates.plan.rows import How, PlanError
from simdoc_search.duplicates.plan.runner import Applied, Expected, apply_plan, expected
from simdoc_search.duplicates.plan.table import read_plan
from simdoc_search.duplicates.plan.undo_run import Undone, undo

__all__ = [
    "Applied",
    "Expected",
    "How",
    "PlanError",
    "Undone",
    "apply_plan",
    "expected",
    "indexed_around",
    "read_plan",
    "undo",
    "write_plan",
]
