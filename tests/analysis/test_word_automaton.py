"""The stored automaton is the one that the word grammar defines."""

from __future__ import annotations

from pathlib import Path

import pytest

import simdoc_search
from tests.support.scripts import run_script

ROOT = Path(simdoc_search.__file__).parent


def test_the_stored_table_is_compiled_from_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    """If this fails, run scripts/make_word_automaton.py and store its output."""
    run_script(ROOT.parent / "scripts/make_word_automaton.py")

    assert (ROOT / "analysis/word_automaton.txt").read_text("ascii") == capsys.readouterr().out
