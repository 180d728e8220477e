"""Inspects the indices behind a name and their documents.

inspection.py everything together
counts.py     counts documents by state, with one search per index
sample.py     draws documents, and makes their fingerprints again
ingest.py     the pipeline of an index
"""

from simdoc_search.attach.inspection.inspection import IndexInspection, Inspection, inspect_indices

__all__ = ["IndexInspection", "Inspection", "inspect_indices"]
