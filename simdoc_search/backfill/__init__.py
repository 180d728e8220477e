"""Fingerprints for the documents of an index that already exists, while its application goes on writing.

    task.py      what is to be done, and what was done
    targets.py   which indices stand behind a name       fitness.py   what makes one unfit
    reading.py   documents at one moment, page by page   writing.py   updates that lose nobody's write
    rounds.py    reading and writing side by side        running.py   round after round, and watching
    estimating.py   what it would cost                   disks.py     whether it would fit
    patient.py   requests that wait for a busy engine

Only what is below our field is written, and only by partial updates that say which state of a document they are for.
What searches do not see, no run can find: an application whose loader adds fingerprints itself (`fingerprint_actions`)
needs no backfill after the first.

Two things no backfill can do. Documents whose versions come from outside (`version_type=external`) get versions of the
engine's from an update, and the application's next write may be refused: let its loader add the fingerprints. And an
application that updates a document at the same moment gets a version conflict, as from any other writer: let it use
`retry_on_conflict`.
"""

from __future__ import annotations

from simdoc_search.backfill.disks import NodeDisk
from simdoc_search.backfill.estimating import Estimate, estimate
from simdoc_search.backfill.running import Backfill
from simdoc_search.backfill.task import BackfillReport, Refused, SkippedIndex, Task

__all__ = ["Backfill", "BackfillReport", "Estimate", "NodeDisk", "Refused", "SkippedIndex", "Task", "estimate"]
