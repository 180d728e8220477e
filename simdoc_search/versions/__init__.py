"""Finds versions of a document and their order, and related documents.

matching.py         matches similar sentences of two documents
letterheads.py      recognises documents that share only their first and last lines
pair_scores.py      scores of many pairs of documents, from their similar sentences
query_sentences.py  chooses the sentences of a document to query
equal_texts.py      texts with the same words and punctuation, and texts that are too short for edited versions
evidence.py         evidence of when a document was written
names.py            dates and versions in document names
history.py          reads the dates of commits from git
git.py              runs git safely in untrusted repositories
chronology.py       determines the newest document if the evidence agrees
date_order.py       orders documents by the first kind of evidence that all of them have
timeline.py         the order of documents, with descriptions of the evidence
text_order.py       guesses the order from the texts
relations.py        computes the similarity of two documents from their concepts
idf.py              weights of concepts by document frequency
"""

from simdoc_search.sketch.thresholds import (
    SimilarityThresholds,
)
from simdoc_search.versions.chronology import build_timeline
from simdoc_search.versions.evidence import DateSources, DocumentDate, EvidenceKind, date_written
from simdoc_search.versions.matching import (
    SentenceMatches,
    match_sentences,
    match_sentences_with_many,
    sentence_pairs,
)
from simdoc_search.versions.text_order import order_by_texts
from simdoc_search.versions.timeline import Timeline

__all__ = [
    "DateSources",
    "DocumentDate",
    "EvidenceKind",
    "SentenceMatches",
    "SimilarityThresholds",
    "Timeline",
    "build_timeline",
    "date_written",
    "match_sentences",
    "match_sentences_with_many",
    "order_by_texts",
    "sentence_pairs",
]
