"""How are the documents of an index: which have a fingerprint, and is it that of their text?

index_survey.py all of it
counts.py      how many have what, by one search without hits
sample.py      how many fingerprints are of another text than the document has now, by a sample
ingest.py      which pipeline of the engine makes them, if one does
"""

from simdoc_search.attach.status.index_survey import IndexStatus, Status, survey

__all__ = ["IndexStatus", "Status", "survey"]
