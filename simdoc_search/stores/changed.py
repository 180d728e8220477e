"""Detection of texts that changed after their fingerprint was made."""

from __future__ import annotations

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.stores.record import Record


def has_changed(record: Record) -> bool:
    """Whether the text differs from the one that the fingerprint was made of; False if that is unknown."""
    return bool(record.text is not None and record.text_hash and text_hash(record.text) != record.text_hash)
