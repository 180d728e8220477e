"""The stored automaton is the one that the word grammar defines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import simdoc_search

ROOT = Path(simdoc_search.__file__).parent


def test_the_stored_table_is_compiled_from_the_rules() -> None:
    """If this fails, run scripts/make_word_automaton.py and store its output."""
    script = ROOT.parent / "scripts/make_word_automaton.py"
    process = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)

    assert (ROOT / "analysis/word_automaton.txt").read_text("ascii") == process.stdout
