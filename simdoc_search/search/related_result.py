"""The answer to which documents are related to one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simdoc_search.documents import Place, Placed
from simdoc_search.search.result import Hits
from simdoc_search.showing import counted, printable
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.left_out import LeftOutIndex
from simdoc_search.versions import THETA

__all__ = ["RelatedHit", "RelatedResult"]

_SHOWN, _NAMED = 10, 6


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
        fields: what it has in the fields that were asked for.
    """

    place: Place
    score: float
    kind: Literal["version", "related"]
    shared: int
    concepts: tuple[str, ...] = ()
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
