"""Extracts the concepts of a text: the names and phrases that show its topic.

extractor.py   concepts of a text, and the numbers that an index stores for them
finder.py      the interface of a finder of concepts, and code that all finders share
names.py       names, found by their capital letters
keywords.py    keywords, found by their frequency
spacy.py       entities and noun phrases, found by spaCy
synonyms.py    synonyms from a file
"""

from simdoc_search.concepts.extractor import Extractor, extractor_from_option, extractor_from_settings, hash_words
from simdoc_search.concepts.finder import ConceptsError
from simdoc_search.concepts.spacy import SpacyFinder
from simdoc_search.concepts.synonyms import Synonyms, read_synonyms

__all__ = [
    "ConceptsError",
    "Extractor",
    "SpacyFinder",
    "Synonyms",
    "extractor_from_option",
    "extractor_from_settings",
    "hash_words",
    "read_synonyms",
]
