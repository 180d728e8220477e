"""Is a text still the one that a fingerprint was made of?"""

from __future__ import annotations

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.stores.record import Record


def has_changed(record: Record) -> bool:
    """Whether its text is another one than its fingerprint was made of; False where that is not known."""
    return bool(record.text is not None and record.text_hash and text_hash(record.text) != record.text_hash)
