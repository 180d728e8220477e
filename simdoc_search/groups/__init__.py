"""Which documents of the whole collection belong together: versions of one document, and documents on one topic?

collection.py the sentences and concepts of all documents, as arrays
sentences.py  which documents share enough sentences to be compared, and which of them are versions?
families.py   the families of versions
concepts.py   which documents share enough concepts to be compared, and which of them are related?
topics.py     the groups of related documents
components.py what the two share: pairs from lists of documents, and connected components

The cost grows with the documents, not with their pairs: what stands in very many documents finds nothing by itself.
Each result says what was left out for that.
"""

from simdoc_search.groups.components import Edge, Progress
from simdoc_search.groups.families import Families, FamilyMembers, find_families
from simdoc_search.groups.topics import Topic, TopicMember, Topics, find_topics

__all__ = [
    "Edge",
    "Families",
    "FamilyMembers",
    "Progress",
    "Topic",
    "TopicMember",
    "Topics",
    "find_families",
    "find_topics",
]
