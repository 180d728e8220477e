"""Groups of a whole collection: families of versions, and topics of related documents.

collection.py  the sentences and concepts of all documents, as arrays
sentences.py   versions among documents that share similar sentences
families.py    the families of versions
concepts.py    related documents among those that share rare concepts
topics.py      the groups of related documents
components.py  connected components of a graph

The cost grows with the number of documents, not of pairs: a sentence or concept of very many documents pairs each of
them with only a few. Each result says what was left out.
"""

from simdoc_search.groups.collection import Progress
from simdoc_search.groups.components import Edge
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
