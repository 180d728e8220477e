"""What is a text about?

extractor.py    a text to its concepts, and these to the numbers that are stored
"""

from simdoc_search.concepts.extractor import Extractor, Finder, codes_of_names

__all__ = ["Extractor", "Finder", "codes_of_names"]
