"""Fingerprints in an index that an application owns.

actions.py        adds fingerprints to the bulk actions of a loader
backfill/         adds them to existing documents
pipeline/         lets the engine compute them
installation.py   installs templates and the pipeline
inspection/       inspects indices and their documents
check.py          lists what is wrong
min_hash.py       fields that the engine's own filter fills

Every function that sends requests may also raise StoreUnavailableError, if the engine does not answer, and
RequestError, if it refuses.
"""

from __future__ import annotations

from simdoc_search.attach.actions import fingerprint_actions, fingerprint_fields

__all__ = ["fingerprint_actions", "fingerprint_fields"]
