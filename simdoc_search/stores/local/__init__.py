"""The local store: a tantivy index in a folder, or in memory.

store.py          the store
folder.py         finds or creates a store in a folder
settings_file.py  reads and writes the settings file
open_index.py     opens the tantivy index
segments.py       reads the list of files of a commit, and verifies them
schema.py         converts between records and tantivy documents
queries.py        translates plans and filters into tantivy queries
snapshot.py       searches and reads one commit
candidates.py     reads the documents that a query plan found
shared_tokens.py  finds the documents that share tokens
phrases.py        finds the documents that contain phrases
writer.py         writes records
errors.py         converts errors of tantivy
integrity.py      finds damage
repair.py         copies the readable documents of a damaged store
backup.py         copies a store
upgrade.py        adds sentences or concepts, and stores thresholds
"""

from simdoc_search.stores.local.store import LocalStore

__all__ = ["LocalStore"]
