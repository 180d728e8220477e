"""The local store: a tantivy index in a folder, or in memory.

store.py          the store
folder.py         finds or makes a store in a folder
settings_file.py  reads and writes its settings
open_index.py     opens the tantivy index
segments.py       reads which files the index has
schema.py         converts between records and tantivy documents
queries.py        translates plans and filters into tantivy queries
snapshot.py       searches and reads one commit
candidates.py     the documents that a plan found
shared_tokens.py  the documents that share tokens
phrases.py        the documents that contain phrases
writer.py         writes records
errors.py         translates errors of tantivy
integrity.py      finds damage
repair.py         copies the readable documents of a damaged store
backup.py         copies a commit
upgrade.py        adds sentences or concepts
"""

from simdoc_search.stores.local.store import LocalStore

__all__ = ["LocalStore"]
