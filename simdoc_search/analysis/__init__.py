"""Splits texts into words, and words into shingles.

settings.py        settings of the analysis
word_break.py      word boundaries
word_grammar.py    classes of characters, and rules over classes
word_automaton.py  the rules of word_grammar.py as a table of states
normalise.py       normalisation of words
words.py           words of many texts
word_ids.py        integer ids of words
stop_words.py      lists of stop words
stemming.py        stems of words
token_filters.py   removal of stop words, and stemming
shingles.py        shingles of words
hashes.py          hashes of texts and of their words
native.py          the optional native kernel
distinct.py        distinct values of an array
ragged_arrays.py   arrays with runs of values, one run per document
"""

from simdoc_search.analysis.settings import Analysis

__all__ = ["Analysis"]
