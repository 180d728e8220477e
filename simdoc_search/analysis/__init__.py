"""What is compared: text to words to shingles.

settings.py    which settings are there?
word_break.py  where do words begin and end?
normalise.py   when are two spellings the same word?
words.py       what are the words of these texts?
token_filters.py and which of them are compared?
stop_words.py  which are left out?
stemming.py    what are their stems?
shingles.py    what are their shingles?
hashes.py      are two texts the same, or their words?
"""

from simdoc_search.analysis.settings import Analysis

__all__ = ["Analysis"]
