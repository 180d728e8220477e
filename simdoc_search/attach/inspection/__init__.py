"""Inspects the indices behind a name and their documents.

inspection.py  runs the whole inspection
counts.py      counts documents by state, with one search per index
staleness.py   describes how many fingerprints are stale
sample.py      compares the fingerprints of a random sample with the texts
"""

from simdoc_search.attach.inspection.inspection import IndexInspection, Inspection, inspect_indices

__all__ = ["IndexInspection", "Inspection", "inspect_indices"]
