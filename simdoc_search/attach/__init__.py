"""Adds fingerprints to indices that simdoc-search did not create, and checks them.

actions.py           adds fingerprints to the bulk actions of an application
backfill/            adds fingerprints to existing documents
pipeline/            installs an ingest pipeline that computes fingerprints
index_pipeline.py    finds the pipeline of an index
installation.py      installs templates and the pipeline
inspection/          inspects indices and their documents
check.py             lists the problems of an index, with advice
search_templates.py  stores queries in the engine, as search templates
min_hash.py          describes fields that the engine fills with its `min_hash` filter

Every function that sends requests may also raise StoreUnavailableError (the engine does not respond) or RequestError
(the engine rejects a request).
"""

from __future__ import annotations

from simdoc_search.attach.actions import fingerprint_actions, fingerprint_fields

__all__ = ["fingerprint_actions", "fingerprint_fields"]
