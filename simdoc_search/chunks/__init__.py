"""Which parts of a text are compared one by one?

sentences.py    its sentences, for versions
paragraphs.py   its paragraphs, for concepts
line_endings.py both of them whatever ends its lines
"""

from simdoc_search.chunks.sentences import LONGEST, sentence_spans

__all__ = ["LONGEST", "sentence_spans"]
