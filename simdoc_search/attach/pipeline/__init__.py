"""The ingest pipeline by which the engine fingerprints each document that is written.

body.py       the body of the pipeline: scripts, settings and tables
install.py    installs the pipeline in an engine
tables.py     character classes and normalisation as strings
painless/     the scripts
"""

from __future__ import annotations

from simdoc_search.attach.pipeline.body import LONGEST_TEXT, pipeline_body
from simdoc_search.attach.pipeline.install import NO_SCRIPTS, PIPELINE, pipeline_steps

__all__ = ["LONGEST_TEXT", "NO_SCRIPTS", "PIPELINE", "pipeline_body", "pipeline_steps"]
