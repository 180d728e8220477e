"""The answer to which documents are related to one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simdoc_search.display import counted, printable
from simdoc_search.documents import Place, Placed
from simdoc_search.search.similar_result import Hits
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.excluded_indices import LeftOutIndex
from simdoc_search.versions import THETA

_SHOWN, _NAMED = 10, 6


@dataclass(frozen=True, slots=True)
class SharedConcept:
    """A word of concepts that the source and a hit have.

    Attributes:
        word: the normalised word, or the one that it counts as by the synonyms; empty if it cannot be named.
        weight: 1 if a single document has it, near 0 if all have it.
        part: what it adds to the similarity; the parts of all shared concepts add up to that.
        source: the concepts of the source that have the word, the most frequent first.
        hit: the same of the hit; empty if its text is not stored.
    """

    word: str
    weight: float
    part: float
    source: tuple[str, ...]
    hit: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the score of a related document is made of.

    Attributes:
        similarity: the mean of `whole` and `paragraphs`, 0..1; the score is made of it, see `versions.relations`.
        whole: the cosine of the concepts of the whole documents, 0..1.
        paragraphs: the mean cosine of the paragraphs that are nearest to each other, 0..1.
        concepts: the concepts that both have, those that add most first.
    """

    similarity: float
    whole: float
    paragraphs: float
    concepts: tuple[SharedConcept, ...]


@dataclass(frozen=True, slots=True)
class RelatedHit(Placed):
    """A document that is related to the source.

    Attributes:
        place: where it is.
        score: 0.5 up to `THETA` of a document that is related, from there to 1.0 of a version.
        kind: which of the two it is.
        shared: how many distinct words of concepts both have.
        concepts: what both are about, by the names that the source has for it, the most telling first; empty where they
            cannot be named, see `RelatedResult.unnamed`.
        explanation: what the similarity of their concepts is made of; None if nobody asked. The score of a version is
            made of sentences instead.
        fields: what it has in the fields that were asked for.
    """

    place: Place
    score: float
    kind: Literal["version", "related"]
    shared: int
    concepts: tuple[str, ...] = ()
    explanation: Explanation | None = None
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True, slots=True)
class RelatedResult(Hits[RelatedHit]):
    """The documents that are related to a source; `print` shows the best ones.

    Attributes:
        source: the id, or the name, of the source; empty for a text without one.
        hits: highest score first, then by id.
        candidates: how many documents share one of its rarer concepts at all.
        compared: with how many of these it was compared, those that share most.
        unnamed: why no concept is named; empty: they are.
        total: how many of those that were compared are related.
        offset: how many of these come before the hits.
        left_out_indices: the indices behind an alias whose documents were not compared, and why.
        limits: what made sentences alike, documents versions, and hits worth showing.
    """

    source: str
    hits: list[RelatedHit]
    candidates: int
    compared: int
    unnamed: str = ""
    total: int = 0
    offset: int = 0
    left_out_indices: tuple[LeftOutIndex, ...] = ()
    limits: Limits = field(default_factory=Limits)

    @property
    def theta(self) -> float:
        """The score from which on documents are versions."""
        return THETA

    def __str__(self) -> str:
        lines = [f"{printable(self.source) or 'the text'}: {len(self.hits)} related to it"]
        for hit in self.hits[:_SHOWN]:
            names = (
                ", ".join(map(printable, hit.concepts[:_NAMED])) or f"{counted(hit.shared, 'telling word')} in common"
            )
            lines.append(f"{hit.score:>5.2f}  {hit.kind:<7}  {printable(hit.id)}  {names}")
        if len(self.hits) > _SHOWN:
            lines.append(f"       and {len(self.hits) - _SHOWN} more")
        if self.hits and self.unnamed:
            lines.append(f"concepts are not named: {self.unnamed}")
        return "\n".join(lines)
