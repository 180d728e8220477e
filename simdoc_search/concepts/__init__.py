"""What is a text about?

extractor.py    a text to its concepts, and these to the numbers that are stored
builtin.py      extractors by name
names.py        names, by their letters
keyphrases.py   keyphrases, by YAKE
spacy.py        entities and noun phrases, by spaCy
occurrences.py  where a text has them
synonyms.py     words that count as others
errors.py       what can be wrong with them
"""

from simdoc_search.concepts.builtin import extractor_named, extractor_of
from simdoc_search.concepts.errors import ConceptsError
from simdoc_search.concepts.extractor import Extractor, Finder, codes_of_names
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
