"""Concepts: what a text is about, as words.

extractor.py    text to concepts to stored numbers
finder.py       the protocol of a finder of concepts, and what all finders need
names.py        names, found by their capital letters
keyphrases.py   keyphrases, found by YAKE
spacy.py        entities and noun phrases, found by spaCy
synonyms.py     synonyms from a file
"""

from simdoc_search.concepts.extractor import Extractor, codes_of_names, extractor_named, extractor_of
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
    "extractor_named",
    "extractor_of",
    "read_synonyms",
]
