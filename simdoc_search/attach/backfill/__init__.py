"""Adds fingerprints to the existing documents of an application, while it goes on writing.

task.py            what to do, and what was done
targets.py         the indices that can get fingerprints, and their mappings
queries.py         the documents to read
checkpoints.py     the documents that were read before
run.py             the backfill
pages.py           reads and writes pages at the same time
guarded_writer.py  the fingerprint of each document, and its update
engine_side.py     a backfill in the engine
cost_estimate.py   bytes and hours

A backfill changes only our field, with partial updates that the engine refuses if a document changed meanwhile. It
finds only what searches find. A loader that adds fingerprints itself (`fingerprint_actions`) needs only one backfill.

Two limits remain. An update gives a document with an external version (`version_type=external`) a version of the
engine, so the next write of the application may be refused: let its loader add the fingerprints. And an application
that updates a document at the same moment gets a version conflict, as from any other writer: set `retry_on_conflict`.
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
