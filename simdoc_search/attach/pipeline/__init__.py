"""Builds and installs an ingest pipeline that fingerprints each document when it is written.

body.py       builds the body of the pipeline, and the script that skips documents that need no update
install.py    installs the pipeline in an engine
tables.py     writes tables of character classes and normalised characters as strings
painless/     contains the scripts
"""

from __future__ import annotations

from simdoc_search.attach.pipeline.body import (
    MAX_TEXT_LENGTH,
    UNSUPPORTED_KINDS,
    build_pipeline_body,
    build_skip_script,
)
from simdoc_search.attach.pipeline.install import SCRIPT_ALTERNATIVE, plan_pipeline_steps

__all__ = [
    "MAX_TEXT_LENGTH",
    "SCRIPT_ALTERNATIVE",
    "UNSUPPORTED_KINDS",
    "build_pipeline_body",
    "build_skip_script",
    "plan_pipeline_steps",
]
