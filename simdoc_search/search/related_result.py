"""The result of `related`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simdoc_search.display import format_count, printable
from simdoc_search.documents import DocumentKey, HasDocumentKey
from simdoc_search.search.results import HitsResult
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.stores.record import LeftOutIndex

_PRINTED_HITS, _PRINTED_CONCEPTS = 10, 6


@dataclass(frozen=True, slots=True)
class SharedConceptWord:
    """A word that occurs in concepts of the query document and of a hit.

    Attributes:
        word: the normalised word. A synonym is replaced with the word that it stands for. If the word is not
            known, `word` is empty.
        weight: 0..1. It is 1 if only one document in the index has the word, and close to 0 if all documents have it.
        contribution: the contribution of the word to the similarity. The sum of all contributions is the similarity.
        query_concepts: concepts of the query document that contain the word, by descending frequency.
        hit_concepts: concepts of the hit that contain the word; empty if the text of the hit is not stored.
    """

    word: str
    weight: float
    contribution: float
    query_concepts: tuple[str, ...]
    hit_concepts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the similarity of a related document is computed.

    Attributes:
        similarity: the mean of `document_similarity` and `paragraph_similarity`, 0..1. It determines the score; see
            `versions.relations`.
        document_similarity: cosine similarity of all concepts of the two documents, 0..1.
        paragraph_similarity: mean cosine similarity of the most similar paragraphs, 0..1.
        words: the words of shared concepts, by descending contribution.
    """

    similarity: float
    document_similarity: float
    paragraph_similarity: float
    words: tuple[SharedConceptWord, ...]


@dataclass(frozen=True, slots=True)
class RelatedHit(HasDocumentKey):
    """A document that is related to the query document.

    Attributes:
        key: the key of the document.
        score: the score. It is from `MIN_VERSION_SCORE` to 1 for a version, and lower for a related document.
        kind: `related` or `version`.
        shared_word_count: number of distinct words of concepts that both documents have.
        concepts: names of shared concepts, by descending weight. It is empty if they have no names; see
            `RelatedResult.missing_names_reason`.
        explanation: how the similarity of the concepts is computed; None if it is not requested. It does not explain
            the score of a version, which is computed from the sentences.
        fields: values of the requested fields.
    """

    key: DocumentKey
    score: float
    kind: Literal["version", "related"]
    shared_word_count: int
    concepts: tuple[str, ...] = ()
    explanation: Explanation | None = None
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True, slots=True)
class RelatedResult(HitsResult[RelatedHit]):
    """The documents that are related to a document or text. `print` shows the best hits.

    Attributes:
        query_name: the id or name of the query document; empty for a text without a name.
        hits: the hits on the page, by descending score, then by id.
        candidate_count: number of documents that share a rare concept.
        compared_count: number of candidates that were compared. Candidates that share the most are compared first.
        missing_names_reason: the reason why concepts have no names. It is empty if they have names.
        total: number of hits on all pages.
        offset: number of hits before the first of `hits`.
        left_out_indices: indices behind an alias whose documents were not compared, with the reasons.
        thresholds: the thresholds of similar sentences, versions and hits.
    """

    query_name: str
    hits: list[RelatedHit]
    candidate_count: int
    compared_count: int
    missing_names_reason: str = ""
    total: int = 0
    offset: int = 0
    left_out_indices: tuple[LeftOutIndex, ...] = ()
    thresholds: SimilarityThresholds = field(default_factory=SimilarityThresholds)

    def __str__(self) -> str:
        lines = [f"{printable(self.query_name) or 'the text'}: {format_count(len(self.hits), 'related document')}"]
        for hit in self.hits[:_PRINTED_HITS]:
            names = ", ".join(map(printable, hit.concepts[:_PRINTED_CONCEPTS]))
            lines.append(
                f"{hit.score:>5.2f}  {hit.kind:<7}  {printable(hit.id)}  {names or describe_shared_words(hit)}"
            )
        if len(self.hits) > _PRINTED_HITS:
            lines.append(f"       and {len(self.hits) - _PRINTED_HITS} more")
        if self.hits and self.missing_names_reason:
            lines.append(f"the words of the concepts are unknown: {self.missing_names_reason}")
        return "\n".join(lines)


def describe_shared_words(hit: RelatedHit) -> str:
    """Return the number of shared words for display. It is shown if the concepts have no names."""
    return f"{format_count(hit.shared_word_count, 'concept word')} in common"
