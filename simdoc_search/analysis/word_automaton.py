"""The word grammar as a table of states, for the ingest pipeline and the native kernel.

`scripts/make_word_automaton.py` compiles the rules of `word_grammar` into `word_automaton.txt`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class Automaton:
    """A deterministic automaton. State 1 is the start state. From state 0, no accepting state can be reached.

    Attributes:
        symbols: the symbol of each character class. A class that occurs in no word has the symbol 0.
        next: the next state for each state and symbol.
        accepting: the first accepting state. In this state and all later ones, the characters read so far are a word.
    """

    symbols: tuple[int, ...]
    next: tuple[tuple[int, ...], ...]
    accepting: int


@functools.cache
def word_automaton() -> Automaton:
    """Return the automaton of all rules. The longest match of up to `MAX_WORD_UNITS` units is a word."""
    lines = resources.files(__package__).joinpath("word_automaton.txt").read_text("ascii").splitlines()
    symbols, (accepting,), *states = (tuple(map(int, line.split())) for line in lines)
    return Automaton(symbols, tuple(states), accepting)
