"""How does the engine itself make fingerprints, of each document at each write?

body.py        the pipeline: its scripts joined, settings and tables as their parameters
automaton.py   the word grammar as a table of states
tables.py      classes of characters and their normalisation, as strings
painless/      the scripts
"""

from __future__ import annotations

from simdoc_search.attach.pipeline.body import LONGEST_TEXT, pipeline_body

__all__ = ["LONGEST_TEXT", "pipeline_body"]
