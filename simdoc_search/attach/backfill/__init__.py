"""Adds fingerprints to the existing documents of an application, while the application keeps writing.

task.py            the options and the report of a backfill
targets.py         selects the indices that can get fingerprints, and plans their mappings
queries.py         builds the queries for the documents to read
checkpoints.py     records up to which write fingerprints were compared with texts
run.py             runs the backfill
pages.py           reads and writes pages of documents at the same time
guarded_writer.py  computes and writes the fingerprints of documents
engine_side.py     lets the engine compute the fingerprints
cost_estimate.py   estimates the disk space and the duration

A backfill changes only the fingerprint field. It sends partial updates, which the engine rejects if the document
changed after it was read. It reads only documents that searches can find. If the loader of the application adds
fingerprints itself (`fingerprint_actions`), one backfill is enough.

A backfill has two side effects on the application. First, an update increases the version of a document. If the
application assigns versions itself (`version_type=external`), the engine may reject its next write. In this case, let
the loader add the fingerprints. Second, if the application updates a document at the same moment, it may get a version
conflict. To retry such updates, set `retry_on_conflict`.
"""

from __future__ import annotations

from simdoc_search.attach.backfill.cost_estimate import Estimate, estimate
from simdoc_search.attach.backfill.run import Backfill, Progress
from simdoc_search.attach.backfill.task import BackfillReport, RefusedDocument, Task
from simdoc_search.attach.indices import SkippedIndex

__all__ = [
    "Backfill",
    "BackfillReport",
    "Estimate",
    "Progress",
    "RefusedDocument",
    "SkippedIndex",
    "Task",
    "estimate",
]
