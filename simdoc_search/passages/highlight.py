"""Marks the passages that two texts share, as positions for an application or as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.align import AlignmentSettings, Preset, align
from simdoc_search.passages.escape import escape_html
from simdoc_search.passages.passage import Passage, Span
from simdoc_search.passages.positions import words_after, words_before


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with marked spans.

    Attributes:
        text: The text.
        spans: The marked spans, in order. They neither overlap nor touch.
    """

    text: str
    spans: tuple[Span, ...]

    @classmethod
    def from_spans(cls, text: str, spans: Iterable[Span]) -> MarkedText:
        """Mark spans of a text. They may overlap and be in any order.

        To mark the text of a passage hit, pass `[passage.b for passage in hit.passages]`.
        """
        merged: list[Span] = []
        inside = ((min(max(edge, 0), len(text)) for edge in span) for span in spans)
        for start, end in sorted((start, end) for start, end in inside if start < end):
            if merged and start <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(merged[-1][1], end)
            else:
                merged.append((start, end))
        return cls(text, tuple(merged))

    def html(self, before: str = "<mark>", after: str = "</mark>") -> str:
        """Return the whole text as HTML. `before` and `after` are the tags around each span; see `fragments`."""
        parts, last_end = [], 0
        for start, end in self.spans:
            parts += [escape_html(self.text[last_end:start]), before, escape_html(self.text[start:end]), after]
            last_end = end
        return "".join([*parts, escape_html(self.text[last_end:])])

    def fragments(
        self,
        count: int = 3,
        *,
        context_words: int = 8,
        max_words: int = 40,
        before: str = "<mark>",
        after: str = "</mark>",
    ) -> list[str]:
        """Return the first marked spans as HTML, each with the words around it.

        The text is escaped. Invisible characters become escape sequences in a `<span class="escape">`, which also marks
        look-alike letters of another alphabet. The tags are inserted unchanged.

        Args:
            count: The maximum number of spans.
            context_words: The number of words before and after each span.
            max_words: The maximum number of words to show of a span. In a longer span, `…` replaces the words in the
                middle.
            before: The tag before a span.
            after: The tag after a span.
        """
        words = context_words + 1  # the space between a span and its context counts as a word
        return [
            escape_html(words_before(self.text, 0, start, words))
            + before
            + escape_html(_shorten(self.text[start:end], max_words))
            + after
            + escape_html(words_after(self.text, end, words))
            for start, end in self.spans[:count]
        ]


@dataclass(frozen=True, slots=True)
class Highlights:
    """The passages that two texts share, marked in both.

    Attributes:
        query: The first text.
        hit: The second text.
        passages: The passages in the order of the first text.
    """

    query: MarkedText
    hit: MarkedText
    passages: tuple[Passage, ...]

    @classmethod
    def from_passages(cls, query: str, hit: str, passages: Sequence[Passage]) -> Highlights:
        """Mark known passages, such as those of a `PassageHit`."""
        first, second = ([passage.a for passage in passages], [passage.b for passage in passages])
        return cls(MarkedText.from_spans(query, first), MarkedText.from_spans(hit, second), tuple(passages))


def highlight(
    query: str, hit: str, *, preset: Preset | AlignmentSettings = "edited", analysis: Analysis | None = None
) -> Highlights:
    """Mark the passages that two texts share.

    Args:
        query: The first text.
        hit: The second text.
        preset: Which passages count as shared: `edited`, `verbatim`, or your own settings.
        analysis: How texts are split into words. If None, the default analysis is used.

    Raises:
        ValueError: The preset is unknown.
    """
    return Highlights.from_passages(query, hit, align(query, hit, preset, analysis=analysis))


def _shorten(text: str, max_words: int) -> str:
    """Shorten a text with more than `max_words` words to its beginning, `…` and its end."""
    if len(text.split(maxsplit=max_words)) <= max_words:
        return text
    beginning = words_after(text, 0, max_words - max_words // 2)
    return f"{beginning} {words_before(text, 0, len(text), max_words // 2).removeprefix('… ')}"
