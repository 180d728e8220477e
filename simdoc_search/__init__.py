"""Find documents that share text: near-duplicates, reused passages, versions.

Documents in:   text -> words -> shingles -> fingerprint -> tokens -> store
Questions out:  "doc123_20_80" -> query -> plan -> store -> candidates -> hits

errors.py      what can go wrong?
analysis/      what is compared?          text to words to shingles
sketch/        what is kept of a text?    shingles to fingerprint to tokens
query/         what is asked?             FINGERPRINT string to plan to engine JSON; pure, for embedding
stores/        where is it kept?          records in, candidates out
corpus/        where do documents come from?
indexing.py    how do documents get into a store?
preparing.py   how does a document become a record?
workers.py     who does that, and what if it crashes?
search.py      the whole way
similarity.py  how much do two texts really share?
cli/           the command line
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simdoc_search.analysis import Analysis
from simdoc_search.errors import SimdocError
from simdoc_search.sketch import Fingerprint, MinHash, fingerprint, fingerprints

if TYPE_CHECKING:
    from simdoc_search.corpus.document import Document
    from simdoc_search.search import Hit, SearchResult, SimilaritySearch
    from simdoc_search.stores import open_store

__all__ = [
    "Analysis",
    "Document",
    "Fingerprint",
    "Hit",
    "MinHash",
    "SearchResult",
    "SimdocError",
    "SimilaritySearch",
    "fingerprint",
    "fingerprints",
    "open_store",
]

# Imported when first used: an application that embeds the query builder needs none of it.
_LATER = {
    "Document": "simdoc_search.corpus.document",
    "Hit": "simdoc_search.search",
    "SearchResult": "simdoc_search.search",
    "SimilaritySearch": "simdoc_search.search",
    "open_store": "simdoc_search.stores",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module  # noqa: PLC0415 - only on this way

        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
