"""What may one item cost? Time, and memory as it is really held.

Not by a limit of address space (`RLIMIT_AS`): numpy, its BLAS and the readers of documents reserve gigabytes that they
never touch, the more the more cores there are, so it would refuse harmless files or stop none. What counts for the
machine is what is resident, and that is what the parent looks at.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from simdoc_search.workers.memory import machine_memory

ITEM_SECONDS = 120.0

_LEAST, _MOST = (
    1_000_000_000,
    4_000_000_000,
)  # a text of 50 MB needs 0.7 GB; of that size no honest file needs more than 4


def fair_memory(workers: int) -> int:
    """Bytes for each of some processes: half of the machine's memory shared out; 1 to 4 GB, never over that half."""
    machine = machine_memory()
    return _LEAST if machine is None else min(max(machine // 2 // workers, _LEAST), _MOST, machine // 2)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one item may cost before its process is ended.

    Attributes:
        seconds: to read it.
        memory: bytes that its process may hold. Where there is no `/proc` this needs the package psutil.
    """

    seconds: float = ITEM_SECONDS
    memory: int = field(default_factory=lambda: fair_memory(1))
