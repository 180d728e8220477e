"""Loads the word grammar as a table of states, for the ingest pipeline and the native kernel.

`scripts/make_word_automaton.py` compiles the rules of `word_grammar` into `word_automaton.txt`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class Automaton:
    """A deterministic automaton. State 1 is the start state. No accepting state can be reached from state 0."""

    symbols: tuple[int, ...]  # the symbol of each character class; 0 for a class that does not occur in words
    transitions: tuple[tuple[int, ...], ...]  # for each state, the next state for each symbol
    first_accepting_state: int  # from this state on, all states are accepting: the characters read so far are a word


@functools.cache
def word_automaton() -> Automaton:
    """Return the automaton of all rules. The longest match of up to `MAX_WORD_UNITS` units is a word."""
    lines = resources.files(__package__).joinpath("word_automaton.txt").read_text("ascii").splitlines()
    symbols, (first_accepting_state,), *states = (tuple(map(int, line.split())) for line in lines)
    return Automaton(symbols, tuple(states), first_accepting_state)
