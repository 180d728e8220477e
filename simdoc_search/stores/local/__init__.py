"""The store that needs no server: a tantivy index in a folder, or in memory.

store.py        records in, candidates out       schema.py      the fields of the index
writer.py       writing records                  queries.py     plan to tantivy query
folder.py       the folder and its settings      interrupts.py  deferring Ctrl-C
suggestions.py  similar ids
"""

from simdoc_search.stores.local.store import LocalStore

__all__ = ["LocalStore"]
