"""What can be wrong with what finds concepts."""

from __future__ import annotations

from simdoc_search.errors import SimdocError


class ConceptsError(SimdocError, ValueError):
    """A file of synonyms, or a model of spaCy's, cannot be used."""
