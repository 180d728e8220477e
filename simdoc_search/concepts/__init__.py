"""Extracts the concepts of a text: the names and phrases that show its topic.

extractor.py    from a text to its concepts, and to the numbers that an index stores
finder.py       the interface of a finder of concepts, and code that all finders share
names.py        names, found by their capital letters
keyphrases.py   keyphrases, found by YAKE
spacy.py        entities and noun phrases, found by spaCy
synonyms.py     synonyms from a file
"""

from simdoc_search.concepts.extractor import Extractor, codes_of_names, extractor_of_option, extractor_of_settings
from simdoc_search.concepts.finder import ConceptsError, Finder
from simdoc_search.concepts.spacy import SpacyConcepts
from simdoc_search.concepts.synonyms import Synonyms, read_synonyms

__all__ = [
    "ConceptsError",
    "Extractor",
    "Finder",
    "SpacyConcepts",
    "Synonyms",
    "codes_of_names",
    "extractor_of_option",
    "extractor_of_settings",
    "read_synonyms",
]
