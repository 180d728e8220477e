"""Who reads what may crash, hang or take all memory?

pool.py       processes that turn items into outcomes, and what an item costs that ends its process
isolated_iterator.py one iterator in a process of its own
process.py    one such process: how it is started, watched and ended
child.py      what runs in it
messages.py   what the two say to each other
limits.py     what one item may cost
memory.py     how much memory there is
"""

from simdoc_search.workers.limits import ITEM_SECONDS, Limits, fair_memory
from simdoc_search.workers.pool import WorkerPool
from simdoc_search.workers.process import Begin

__all__ = ["ITEM_SECONDS", "Begin", "Limits", "WorkerPool", "fair_memory"]
