"""The ingest pipeline in which the engine fingerprints each document at each write.

body.py       the body of the pipeline: scripts, settings and tables
install.py    installs the pipeline in an engine
tables.py     tables of character classes and normalisation, as strings
painless/     the scripts
"""

from __future__ import annotations

from simdoc_search.attach.pipeline.body import LONGEST_TEXT, pipeline_body
from simdoc_search.attach.pipeline.install import PIPELINE, WITHOUT_SCRIPTS, plan_pipeline_steps

__all__ = ["LONGEST_TEXT", "PIPELINE", "WITHOUT_SCRIPTS", "pipeline_body", "plan_pipeline_steps"]
