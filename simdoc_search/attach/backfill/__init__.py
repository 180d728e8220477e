"""Fingerprints for the documents of an index that already exists, while its application goes on writing.

    task.py      what is to be done, and what was done
    indices.py   which indices stand behind a name
    targets.py   is each fit, and which of its documents are meant?
    queries.py   which documents a round is about
    seq_nos.py   what was written since documents were last looked at
    rounds.py    reading and writing side by side        guarded_writer.py what each document gets
    run.py       round after round, and watching         cost_estimate.py what it would cost

Only what is below our field is written, and only by partial updates that say which state of a document they are for.
What searches do not see, no run can find. An application whose loader adds fingerprints itself (`fingerprint_actions`)
needs no backfill after the first, but for texts that something else changes.

Two things no backfill can do. Documents whose versions come from outside (`version_type=external`) get versions of the
engine's from an update, and the application's next write may be refused: let its loader add the fingerprints. And an
application that updates a document at the same moment gets a version conflict, as from any other writer: let it use
`retry_on_conflict`.
"""

from __future__ import annotations

from simdoc_search.attach.backfill.cost_estimate import Estimate, estimate
from simdoc_search.attach.backfill.run import Backfill, Progress
from simdoc_search.attach.backfill.task import BackfillReport, Refused, SkippedIndex, Task

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
