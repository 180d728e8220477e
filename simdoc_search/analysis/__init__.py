"""Analysis: text to words to shingles.

settings.py       settings of the analysis
word_break.py     word boundaries
normalise.py      normalisation of words
words.py          words of many texts
token_filters.py  words without stop words, and as stems
stop_words.py     lists of stop words
stemming.py       stems of words
shingles.py       shingles of words
hashes.py         hashes of texts, and of their words
"""

from simdoc_search.analysis.settings import Analysis

__all__ = ["Analysis"]
