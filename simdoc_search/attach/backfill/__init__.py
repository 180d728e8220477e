"""Adds fingerprints to the existing documents of an application, while the application keeps writing.

task.py            the options and the report of a backfill
targets.py         the indices that can get fingerprints, and their mappings
queries.py         queries for the documents to read
checkpoints.py     records which writes were compared
run.py             the backfill
pages.py           reads and writes pages at the same time
guarded_writer.py  makes and writes the fingerprints of documents
engine_side.py     a backfill in the engine
cost_estimate.py   estimates bytes and hours

A backfill changes only the fingerprint field. It sends partial updates, which the engine refuses if a document changed
meanwhile. It reads only documents that searches can see. If the loader of the application adds fingerprints itself
(`fingerprint_actions`), one backfill is enough.

A backfill has two side effects on the application. An update raises the version of a document. If the application
assigns versions itself (`version_type=external`), the engine may then refuse its next write: let the loader add the
fingerprints instead. And if the application updates a document at the same moment, it gets a version conflict, as from
any other writer: set `retry_on_conflict`.
"""

from __future__ import annotations

from simdoc_search.attach.backfill.cost_estimate import Estimate, estimate
from simdoc_search.attach.backfill.run import Backfill, Progress
from simdoc_search.attach.backfill.task import BackfillReport, Refused, Task
from simdoc_search.attach.indices import SkippedIndex

__all__ = [
    "Backfill",
    "BackfillReport",
    "Estimate",
    "Progress",
    "Refused",
    "SkippedIndex",
    "Task",
    "estimate",
]
