"""Subprocesses for code that may crash, hang or run out of memory.

pool.py     maps items to outcomes in several subprocesses
parallel_map.py  maps a function over the chunks of a large input
process.py  starts, watches and ends one subprocess
child.py    the main program of a subprocess
memory.py   measures the memory of processes and of the machine
"""

from simdoc_search.workers.parallel_map import ParallelMapper
from simdoc_search.workers.pool import WorkerPool, iterate_in_subprocess
from simdoc_search.workers.process import DEFAULT_ITEM_SECONDS, BeginItem, ItemLimits, memory_per_worker

__all__ = [
    "DEFAULT_ITEM_SECONDS",
    "BeginItem",
    "ItemLimits",
    "ParallelMapper",
    "WorkerPool",
    "iterate_in_subprocess",
    "memory_per_worker",
]
