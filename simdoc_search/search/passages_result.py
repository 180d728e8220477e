"""The answer to the question who shares passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from simdoc_search.display import counted, percent, printable, showing
from simdoc_search.documents import Place, Placed
from simdoc_search.passages.passage import Passage, Span
from simdoc_search.search.similar_result import Hits
from simdoc_search.stores.excluded_indices import LeftOutIndex

_SHOWN = 10


class Covered(NamedTuple):
    """How much of a text is matched in all matches together, each word counted once.

    Attributes:
        words: the matched words.
        share: these words / the words of the text that are not ignored, 0..1.
    """

    words: int
    share: float


@dataclass(frozen=True, slots=True)
class PassageHit(Placed):
    """A document that shares passages with the source.

    Attributes:
        place: where it is.
        words: how many matched words both texts have in common. A word that one text repeats counts as often as both
            have it, so there are never more than either text has words.
        share: these words / the words of the source that are not ignored, 0..1.
        adds: how many words of the source no hit before this one covers. That are more than `words` if the source
            repeats what the document has once.
        kind: `exact`, from both texts; `estimated` from the passage tokens, where a text is not stored: then no passage
            is named.
        shared: how many of the tokens that were asked for it has.
        passages: what they share, in the order of the source; the source is the first text of each.
        containment: the share of the source's shingles that it has, 0..1.
        contained: the share of its shingles that the source has, 0..1.
        jaccard: shingles of both / shingles of either, 0..1.
        changed: whether its text is another one now than the one that was indexed; then all but `shared` is of today's.
        fields: what it has in the fields that were asked for.
    """

    place: Place
    words: int
    share: float
    adds: int
    kind: Literal["estimated", "exact"]
    shared: int
    passages: tuple[Passage, ...] = ()
    containment: float = 0.0
    contained: float = 0.0
    jaccard: float = 0.0
    changed: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    @property
    def longest(self) -> Passage | None:
        """The passage of most words; None where none is named."""
        return max(self.passages, key=lambda each: each.words, default=None)


@dataclass(frozen=True, slots=True)
class PassageResult(Hits[PassageHit]):
    """The documents that share passages with a source; `print` shows the best ones.

    Attributes:
        source: the id, or the name, of the source; empty for a text without one.
        text: its text; None if the store has none.
        hits: those that are shown. A hit comes before others if it adds more words to what is covered.
        covered: how much of the source all matches cover together, those that are not shown too.
        total: how many matches were found.
        words: how many words the source has, without those that are ignored.
        ignored: how many words are ignored.
        candidates: how many documents share a token with it at all.
        compared: with how many of these it was compared, those that share most tokens.
        run: the words of the shortest shared run that is always found; see `too_common`.
        too_common: how many phrases of the source were not looked up in all documents, as their words are too common.
            A run of such a phrase alone can be missing from the hits.
        spans: which characters of the text are covered.
        ignored_spans: which characters of the text are ignored.
        offset: how many matches come before the hits that are shown.
        is_estimated: whether a text is not stored, so that words are estimated.
        left_out_indices: the indices behind an alias whose documents were not compared, and why.
    """

    source: str
    text: str | None
    hits: list[PassageHit]
    covered: Covered
    total: int
    words: int
    ignored: int
    candidates: int
    compared: int
    run: int = 0
    too_common: int = 0
    spans: list[Span] = field(default_factory=list, repr=False)
    ignored_spans: list[Span] = field(default_factory=list, repr=False)
    offset: int = 0
    is_estimated: bool = False
    left_out_indices: tuple[LeftOutIndex, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether candidates were left out, so that there may be more matches."""
        return self.compared < self.candidates

    def headline(self, name: str | None = None) -> str:
        """How much of the source appears in how many documents.

        Args:
            name: what the source is called; None: its own name.
        """
        named = printable(self.source if name is None else name) or "the text"
        if not self.total:
            found = f"No indexed document shares a passage with {named} ({counted(self.words, 'word')})."
            return f"{found}{self._ignored()}{self._left_out()}"
        about = "About " if self.is_estimated else ""
        least = "at least " if self.is_partial else ""
        share = f"{about}{least}{percent(self.covered.share, 0)} of {named}"
        words = f"{self.covered.words:,} of {counted(self.words, 'word')}"
        appears = f"appears in {counted(self.total, 'indexed document')}"
        return f"{share[0].upper()}{share[1:]} ({words}) {appears}.{self._ignored()}{self._left_out()}"

    def _ignored(self) -> str:
        return f" {counted(self.ignored, 'word is', 'words are')} ignored." if self.ignored else ""

    def _left_out(self) -> str:
        if not self.is_partial:
            return ""
        left = self.candidates - self.compared
        return f" {left:,} of {counted(self.candidates, 'candidate')} {'was' if left == 1 else 'were'} not compared."

    @property
    def showing(self) -> str:
        """How many of the matches are shown: "Showing 10 of 81 matches"."""
        return showing(len(self.hits), self.total, self.offset, at_least=self.is_partial)

    def __str__(self) -> str:
        lines = [self.headline()]
        for hit in self.hits[:_SHOWN]:
            about = "~" if hit.kind == "estimated" else ""
            lines.append(f"{about}{hit.words:,}".rjust(7) + f" words  {printable(hit.id)}")
        shown = showing(min(len(self.hits), _SHOWN), self.total, self.offset, at_least=self.is_partial)
        return "\n".join([*lines, shown])
