"""What two texts share, marked in each of them: places for an application, or HTML that does nothing but show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.align import Alignment, Preset, align
from simdoc_search.passages.passage import Passage, Span
from simdoc_search.passages.report.html import content
from simdoc_search.passages.report.positions import words_after, words_before

_FRAGMENTS, _AROUND, _WITHIN = 3, 8, 40


@dataclass(frozen=True, slots=True)
class Marked:
    """A text with some stretches of it marked.

    Attributes:
        text: the text.
        spans: what is marked: first character and the one after the last, in order, none touching another.
    """

    text: str
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, text: str, spans: Iterable[Span]) -> Marked:
        """Mark stretches in any order, which may overlap: of a passage hit `[each.b for each in hit.passages]`."""
        return cls(text, tuple(_merged(spans, len(text))))

    def html(self, before: str = "<mark>", after: str = "</mark>") -> str:
        """All of it as the content of an element; see `fragments` for what becomes of the text and of the tags."""
        shown, at = [], 0
        for start, end in self.spans:
            shown += [content(self.text[at:start]), before, content(self.text[start:end]), after]
            at = end
        return "".join([*shown, content(self.text[at:])])

    def fragments(
        self,
        count: int = _FRAGMENTS,
        *,
        around: int = _AROUND,
        within: int = _WITHIN,
        before: str = "<mark>",
        after: str = "</mark>",
    ) -> list[str]:
        """The first marked stretches, each with some words around it, as HTML.

        The text is escaped, and what would not be seen in it, or would turn the direction of what follows, is written
        out in a `<span class="sign">`: nothing in it can be a tag or hide. Tags are put in as they are given.

        Args:
            count: most stretches.
            around: words before and after each.
            within: of a longer one so many words are shown, half of them from its end; `…` stands for the others.
            before: opens what is marked.
            after: closes it.
        """
        return [
            "".join(
                (
                    content(words_before(self.text, 0, start, around + 1)),  # which count the space beside a mark
                    before,
                    content(_shortened(self.text[start:end], within)),
                    after,
                    content(words_after(self.text, end, around + 1)),
                )
            )
            for start, end in self.spans[:count]
        ]


@dataclass(frozen=True, slots=True)
class Highlights:
    """What two texts share, marked in both.

    Attributes:
        source: the first text.
        hit: the second.
        passages: what they share, in the order of the first text.
    """

    source: Marked
    hit: Marked
    passages: tuple[Passage, ...]

    @classmethod
    def of(cls, source: str, hit: str, passages: Sequence[Passage]) -> Highlights:
        """Mark passages that are known, as those of a `PassageHit` are."""
        first, second = ([each.a for each in passages], [each.b for each in passages])
        return cls(Marked.of(source, first), Marked.of(hit, second), tuple(passages))


def highlight(
    source: str, hit: str, *, preset: Preset | Alignment = "edited", analysis: Analysis | None = None
) -> Highlights:
    """What two texts share, marked in both.

    Args:
        source: a text.
        hit: another.
        preset: what counts as a shared passage: `edited`, `verbatim`, or settings of your own.
        analysis: what words are; None: the default.

    Raises:
        ValueError: there is no such preset.
    """
    return Highlights.of(source, hit, align(source, hit, preset, analysis=analysis))


def _merged(spans: Iterable[Span], length: int) -> Iterator[Span]:
    """Stretches in order, inside the text; those that overlap or touch as one, without those of no character."""
    begin = finish = -1
    for start, end in sorted((min(max(a, 0), length), min(max(b, 0), length)) for a, b in spans):
        if start >= end:
            continue
        if start <= finish:
            finish = max(finish, end)
            continue
        if finish > begin:
            yield begin, finish
        begin, finish = start, end
    if finish > begin:
        yield begin, finish


def _shortened(text: str, words: int) -> str:
    """The beginning and the end of a text of more words, with `…` between them."""
    if len(text.split(maxsplit=words)) <= words:
        return text
    first = words - words // 2
    beginning = words_after(text, 0, first)
    return f"{beginning} {words_before(text, 0, len(text), words // 2).removeprefix('… ')}"
