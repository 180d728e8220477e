"""How do fingerprints get into an index that an application owns?

templates.py   the mapping of our field, put into an engine
check.py       what is wrong with an index?
status/        how are its documents?
actions.py     the application's own loader adds fingerprints
min_hash.py    the engine's own filter makes them
backfill/      for the documents that are there already
"""

from __future__ import annotations

from simdoc_search.attach.actions import fingerprint_actions, fingerprint_fields

__all__ = ["fingerprint_actions", "fingerprint_fields"]
