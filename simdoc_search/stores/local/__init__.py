"""The local store: a tantivy index in a folder, or in memory.

store.py       records in, candidates out
schema.py      fields of the index; queries.py makes tantivy queries of plans and filters
snapshot.py    one commit, searched and read by candidates.py, shared_tokens.py and phrases.py
writer.py      writes records
folder.py      finds or makes a store; settings_file.py reads and writes its settings
open_index.py  opens the index; segments.py knows its files
integrity.py   finds damage, repair.py copies what can be read, backup.py copies a commit
upgrade.py     adds sentences or concepts
"""

from simdoc_search.stores.local.store import LocalStore

__all__ = ["LocalStore"]
