"""What `simdoc-search related --explain` says of a hit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from simdoc_search.display import percent

if TYPE_CHECKING:
    from simdoc_search.search import RelatedHit, SharedConcept

_SHOWN = 12
_NAMED = 2


def explanation_lines(hit: RelatedHit) -> Iterator[str]:
    """What the score is made of, and the concepts that both have."""
    from simdoc_search.versions.relations import RELATED

    made = hit.explanation
    if made is None:
        return
    means = f"the mean of whole documents {made.whole:.3f} and paragraphs {made.paragraphs:.3f}"
    yield f"similarity of concepts {made.similarity:.3f}: {means}; related from {RELATED} on"
    if hit.kind == "version":
        yield "the score is that of its sentences, as it is a version"
    if not made.concepts:
        return
    yield f"{'part':>6}{'weight':>8}  word"
    for each in made.concepts[:_SHOWN]:
        part = percent(each.part / made.similarity) if made.similarity else "0 %"
        yield f"{part:>6}{each.weight:>8.2f}  {each.word or '–'}{_names(each)}"
    rest = made.concepts[_SHOWN:]
    if rest:
        share = percent(sum(each.part for each in rest) / made.similarity)
        yield f"{share:>6}{'':>8}  {len(rest):,} more words"


def _names(concept: SharedConcept) -> str:
    """How the source, and how the hit, calls it."""
    mine, theirs = (", ".join(each[:_NAMED]) for each in (concept.source, concept.hit))
    if not mine and not theirs:
        return ""
    return f": {mine}" if mine == theirs else f": {mine or '–'} / {theirs or '–'}"
