"""Fingerprints in an index that an application owns.

actions.py           adds fingerprints to the bulk actions of a loader
backfill/            adds fingerprints to existing documents
pipeline/            lets the engine compute the fingerprints
installation.py      installs templates and the pipeline
inspection/          inspects indices and their documents
check.py             lists the problems of an index
search_templates.py  queries as search templates that the engine stores
min_hash.py          fields that the engine fills with its own filter

Every function that sends requests may also raise StoreUnavailableError if the engine does not answer, and
RequestError if the engine refuses a request.
"""

from __future__ import annotations

from simdoc_search.attach.actions import fingerprint_actions, fingerprint_fields

__all__ = ["fingerprint_actions", "fingerprint_fields"]
