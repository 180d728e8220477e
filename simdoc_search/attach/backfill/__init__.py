"""Adds fingerprints to the existing documents of an application, while the application keeps writing.

options.py         the options of a backfill
report.py          the report of a backfill
targets.py         selects the indices that can get fingerprints, and plans their mappings
queries.py         builds the queries for the documents to read
checkpoints.py     stores sequence numbers, so that the next run reads only documents that were written later
run.py             runs the backfill
pages.py           reads and writes pages of documents at the same time
fingerprint_writer.py  computes and writes the fingerprints of documents
engine_update.py     lets the engine compute the fingerprints
cost_estimate.py   estimates the disk space and the duration

A backfill changes only the fingerprint field. It sends partial updates, which the engine rejects if the document
changed after it was read. It finds the documents with searches, so it does not read documents that were
written after the last refresh of the index. If the loader of the application also adds fingerprints, with
`fingerprint_actions`, one backfill is enough.

A backfill has two side effects on the application. First, an update increases the version of a document. If the
application assigns the versions (`version_type=external`), the engine may reject its next write of the document. In
this case, let the loader add the fingerprints. Second, if the application updates a document at the same moment, its
update may fail with a version conflict. To retry such updates, set `retry_on_conflict`.
"""

from __future__ import annotations

from simdoc_search.attach.backfill.cost_estimate import CostEstimate, estimate_cost
from simdoc_search.attach.backfill.options import BackfillOptions
from simdoc_search.attach.backfill.report import BackfillReport, RefusedDocument
from simdoc_search.attach.backfill.run import Backfill, ProgressCallback
from simdoc_search.attach.indices import SkippedIndex

__all__ = [
    "Backfill",
    "BackfillOptions",
    "BackfillReport",
    "CostEstimate",
    "ProgressCallback",
    "RefusedDocument",
    "SkippedIndex",
    "estimate_cost",
]
