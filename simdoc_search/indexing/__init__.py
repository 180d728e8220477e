"""Indexes documents into a store."""

from simdoc_search.indexing.language_detection import LanguageReport, identify_documents
from simdoc_search.indexing.report import IndexReport
from simdoc_search.indexing.run import (
    FILE_TIMEOUT,
    delete_documents,
    index_documents,
    require_readable_sources,
    skip_unreadable_sources,
)

__all__ = [
    "FILE_TIMEOUT",
    "IndexReport",
    "LanguageReport",
    "delete_documents",
    "identify_documents",
    "index_documents",
    "require_readable_sources",
    "skip_unreadable_sources",
]
