"""The answer to the question who shares passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simdoc_search.documents import Place, Placed
from simdoc_search.passages.passage import Passage
from simdoc_search.showing import estimate, percent, printable

__all__ = ["PassageHit", "PassageResult"]

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class PassageHit(Placed):
    """A document that shares passages with the source.

    Attributes:
        place: where it is.
        words: how many words of the source lie in shared passages.
        containment: the share of the source's shingles that it has, 0..1.
        contained: the share of its shingles that the source has, 0..1.
        jaccard: shingles of both / shingles of either, 0..1.
        kind: `exact`, from both texts; `estimated` from the passage tokens, where a text is not stored: then no passage
            is named.
        shared: how many of the tokens that were asked for it has.
        passages: what they share, in the order of the source; the source is the first text of each.
        changed: whether its text is another one now than the one that was indexed; then all but `shared` is of today's.
        fields: what it has in the fields that were asked for.
    """

    place: Place
    words: int
    containment: float
    contained: float
    jaccard: float
    kind: Literal["estimated", "exact"]
    shared: int
    passages: tuple[Passage, ...] = ()
    changed: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    @property
    def longest(self) -> Passage | None:
        """The passage of most words; None where none is named."""
        return max(self.passages, key=lambda each: each.words, default=None)


@dataclass(frozen=True, slots=True)
class PassageResult:
    """The documents that share passages with a source; `print` shows the best ones.

    Attributes:
        source: the id, or the name, of the source; empty for a text without one.
        text: its text; None if the store has none.
        hits: most words in shared passages first, then by the share of the source, then by id.
        candidates: how many documents share a token with it at all.
        compared: with how many of these it was compared, those that share most tokens.
    """

    source: str
    text: str | None
    hits: list[PassageHit]
    candidates: int
    compared: int

    def __str__(self) -> str:
        lines = [f"{printable(self.source) or 'the text'}: {len(self.hits)} share passages with it"]
        for hit in self.hits[:_SHOWN]:
            share = percent(hit.containment) if hit.kind == "exact" else estimate(hit.containment)
            lines.append(f"{hit.words:>7} words  {share:>7}  {printable(hit.id)}")
        if len(self.hits) > _SHOWN:
            lines.append(f"         and {len(self.hits) - _SHOWN} more")
        return "\n".join(lines)
