"""How does the engine itself make fingerprints, of each document at each write?

body.py        the pipeline: its scripts joined, settings and tables as their parameters
install.py     the pipeline put into an engine
default_pipeline.py indices that use it
scripts.py     which of our scripts a pipeline runs
automaton.py   the word grammar as a table of states
tables.py      classes of characters and their normalisation, as strings
painless/      the scripts
"""

from __future__ import annotations

from simdoc_search.attach.pipeline.body import LONGEST_TEXT, pipeline_body
from simdoc_search.attach.pipeline.install import PIPELINE, install_pipeline

__all__ = [
    "LONGEST_TEXT",
    "PIPELINE",
    "install_pipeline",
    "pipeline_body",
]
