"""Which parts of a text are compared one by one?

sentences.py    its sentences, for versions
"""

from simdoc_search.chunks.sentences import LONGEST, sentence_spans

__all__ = ["LONGEST", "sentence_spans"]
