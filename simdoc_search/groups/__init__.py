"""Groups the documents of a whole collection: families of versions, and topics of related documents.

comparable_documents.py  reads the sentences and concepts of all documents into arrays
version_pairs.py         finds versions, by comparing documents that share similar sentences
families.py              groups versions into families
related_pairs.py         finds related documents, by comparing documents that share rare concepts
topics.py                groups related documents into topics
components.py            connected components of a graph

The cost grows with the number of documents, not with the number of pairs. If very many documents share a sentence or a
concept, each of them is only compared with a few others. Each result states what was not compared.
"""

from simdoc_search.groups.comparable_documents import Progress
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
