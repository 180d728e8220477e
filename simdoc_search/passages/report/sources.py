"""A text with its sources as HTML: each passage in the colour of its source, and the texts of the sources beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from simdoc_search.display import printable
from simdoc_search.passages.passage import Passage, Span
from simdoc_search.passages.report.blocks import Block
from simdoc_search.passages.report.listing import ListEntry, ListSection, list_page
from simdoc_search.passages.report.pieces import Label, Piece, colour, piece_text, pieces, text_html
from simdoc_search.passages.report.templates import page, render

_MAX_WHOLE_CHARACTERS = 40_000
"""Of a source with more characters, only the paragraphs near its passages are shown."""
_UNLISTED, _IGNORED = 1_000_000_000, 1_000_000_001
"""The numbers of text in a source that is not listed, and of ignored text."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document that shares passages with a text.

    Attributes:
        name: The name of the document.
        words: The number of words in common, as shown.
        share: The share of the text that it has, as shown.
        adds: The number of words of the text that no source before it has.
        passages: The shared passages. The text is the first of each.
        remark: A remark, perhaps empty.
        text: Its text. None: it is not shown.
    """

    name: str
    words: str
    share: str
    adds: int
    passages: Sequence[Passage]
    remark: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A text with its sources.

    Attributes:
        name: The name of the text.
        headline: How much of it appears in how many documents.
        text: The text. None: it is not stored.
        sources: Its sources, the best first.
        covered: The characters that any source has, also one that is not among `sources`.
        ignored: The ignored characters.
        figures: The figures in a list of several texts.
        notes: Further sentences.
    """

    name: str
    headline: str
    text: str | None
    sources: Sequence[Source]
    covered: Sequence[Span] = ()
    ignored: Sequence[Span] = ()
    figures: Sequence[str] = ()
    notes: Sequence[str] = ()


def sources_page(texts: Sequence[SourcedText], notes: Sequence[str]) -> str:
    """A self-contained page of a text with its sources, or of a list of texts that opens to show their sources."""
    if len(texts) == 1:
        return page(f"Sources of {texts[0].name}", sources_view(texts[0], notes=notes))

    entries = [
        ListEntry(
            sourced.name,
            [("figure", figure) for figure in sourced.figures],
            partial(sources_view, sourced) if sourced.sources else None,
        )
        for sourced in texts
    ]
    return list_page("Shared passages", [ListSection(entries)], notes)


def sources_view(sourced: SourcedText, *, prefix: str = "", notes: Sequence[str] = ()) -> Markup:
    """The HTML of a text with its sources. Each text on a page has its own prefix of ids."""
    text_pieces = _text_pieces(sourced)
    has_unlisted = any(len(piece.labels) == 1 and piece.labels[0][0] == _UNLISTED for piece in text_pieces)
    return render(
        "sources.html",
        prefix=prefix,
        sourced=sourced,
        notes=[*sourced.notes, *notes],
        html=None if sourced.text is None else text_html(sourced.text, text_pieces, _OwnText(sourced, prefix)),
        sources=[_shown_source(source, number, sourced, prefix) for number, source in enumerate(sourced.sources, 1)],
        has_unlisted=has_unlisted,
    )


def _shown_source(source: Source, number: int, sourced: SourcedText, prefix: str) -> dict[str, object]:
    longest = max(source.passages, key=lambda passage: passage.words, default=None)
    return {
        "number": number,
        "colour": colour(number),
        "source": source,
        "quote": (sourced.text or "")[slice(*longest.a)] if longest else "",
        "html": None if source.text is None else _source_html(source, source.text, number, prefix),
    }


def _source_html(source: Source, text: str, number: int, prefix: str) -> Markup:
    spans = [(run[1], (number, at)) for at, passage in enumerate(source.passages, 1) for run in passage.runs]
    near = [passage.b for passage in source.passages] if len(text) > _MAX_WHOLE_CHARACTERS else None
    return text_html(text, pieces(len(text), spans), _SourceText(text, number, prefix), near=near)


def _text_pieces(sourced: SourcedText) -> list[Piece]:
    spans = [
        (run[0], (number, at))
        for number, source in enumerate(sourced.sources, 1)
        for at, passage in enumerate(source.passages, 1)
        for run in passage.runs
    ]
    spans += [(span, (_UNLISTED, 0)) for span in sourced.covered]
    spans += [(span, (_IGNORED, 0)) for span in sourced.ignored]
    return pieces(len(sourced.text or ""), spans)


class _OwnText:
    """Makes the paragraphs of a text. Each piece has the colour of its best source. A passage begins with a link."""

    def __init__(self, sourced: SourcedText, prefix: str) -> None:
        self._sourced, self._text, self._prefix = sourced, sourced.text or "", prefix
        self._linked: set[Label] = set()

    def __call__(self, _block: Block, pieces: Sequence[Piece]) -> str:
        return f'<p dir="auto">{"".join(map(self._piece, pieces))}</p>\n'

    def _piece(self, piece: Piece) -> str:
        html = piece_text(self._text, piece)
        if not piece.labels:
            return html
        best = piece.labels[0]
        if best[0] == _IGNORED:
            return f'<span class="ignored">{html}</span>'
        listed = [label for label in piece.labels if label[0] < _UNLISTED]
        sources = " ".join(dict.fromkeys(str(source) for source, _ in listed))
        passages = " ".join(f"{source}-{passage}" for source, passage in listed)
        data = f' data-s="{sources}" data-p="{passages}"' if listed else ""
        css_class = colour(best[0]) if listed else "k0"
        return f'{self._link(best)}<mark class="{css_class}"{data}>{html}</mark>'

    def _link(self, label: Label) -> str:
        if label[0] == _UNLISTED or label in self._linked:
            return ""
        self._linked.add(label)
        number, passage = label
        source, id = self._sourced.sources[number - 1], f"{number}-{passage}"
        tag = "span" if source.text is None else "a"
        href = "" if source.text is None else f' href="#{self._prefix}s{id}" data-p="{id}"'
        return Markup('<{0} class="n {1}" id="{2}t{3}"{4} aria-label="{5}">{6}</{0}>').format(
            tag,
            colour(number),
            self._prefix,
            id,
            Markup(href),  # noqa: S704 - numbers only
            f"Source {number}: {printable(source.name)}, passage {passage}",
            number,
        )


class _SourceText:
    """Makes the paragraphs of a source: its passages, with links back."""

    def __init__(self, text: str, number: int, prefix: str) -> None:
        self._text, self._number, self._prefix = text, number, prefix
        self._linked: set[int] = set()

    def __call__(self, _block: Block, pieces: Sequence[Piece]) -> str:
        return f'<p dir="auto">{"".join(map(self._piece, pieces))}</p>\n'

    def _piece(self, piece: Piece) -> str:
        html, css_class = piece_text(self._text, piece), colour(self._number)
        if not piece.labels:
            return html
        passage = piece.labels[0][1]
        id = f"{self._number}-{passage}"
        link = ""
        if passage not in self._linked:
            self._linked.add(passage)
            link = (
                f'<a class="n {css_class}" id="{self._prefix}s{id}" href="#{self._prefix}t{id}" data-p="{id}" '
                f'aria-label="Passage {passage}, in the text">{passage}</a>'
            )
        passages = " ".join(f"{source}-{number}" for source, number in piece.labels)
        return f'{link}<mark class="{css_class}" data-p="{passages}">{html}</mark>'
