"""Splits a text into chunks that are compared one by one. Chunks are returned as positions in the text.

sentences.py    sentences, for versions
paragraphs.py   paragraphs, for concepts
"""

from simdoc_search.chunks.paragraphs import paragraph_spans
from simdoc_search.chunks.sentences import sentence_spans

__all__ = ["paragraph_spans", "sentence_spans"]
