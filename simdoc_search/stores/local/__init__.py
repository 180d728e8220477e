"""The store that needs no server: a tantivy index in a folder, or in memory.

store.py        records in, candidates out       schema.py   how a record lies in the index
writer.py       writes records                   queries.py  a plan to a query
folder.py       the folder and its settings      interrupts.py  what Ctrl-C must not tear
suggestions.py  ids that look alike
"""

from simdoc_search.stores.local.store import LocalStore

__all__ = ["LocalStore"]
