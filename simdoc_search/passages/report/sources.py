"""A text with its sources as HTML. Each passage has the colour of its source, and the sources are next to the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
"""A source with more characters is shown in part: only the paragraphs near its passages."""
_UNLISTED, _IGNORED = 1_000_000_000, 1_000_000_001
"""The first number of the label of text that only unlisted sources have, and of ignored text."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document that shares passages with a text.

    Attributes:
        name: The name of the document.
        words: The number of words in common, as shown.
        share: The share of the text in the source, as shown.
        adds: The number of words of the text that no source before this one has.
        passages: The shared passages. The text is the first text of each.
        remark: A remark, if any.
        text: The text of the source. None: it is not shown.
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
        headline: The heading of the view.
        text: The text. None: it is not shown.
        sources: The listed sources, the best first.
        covered: The spans of the text that any source has, including sources that are not listed.
        ignored: The spans of the text that are ignored.
        figures: The figures of its entry in a list of several texts.
        notes: Notes below the heading.
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
    """A self-contained page of a text with its sources. Several texts are a list whose entries can be opened."""
    if len(texts) == 1:
        return page(f"Sources of {texts[0].name}", sources_view(texts[0], notes=notes))
    entries = []
    for sourced in texts:
        view = partial(sources_view, sourced) if sourced.sources else None
        entries.append(ListEntry(sourced.name, [("figure", figure) for figure in sourced.figures], view))
    return list_page("Shared passages", [ListSection(entries)], notes)


def sources_view(sourced: SourcedText, *, prefix: str = "", notes: Sequence[str] = ()) -> Markup:
    """The HTML of a text with its sources. Each text on a page needs a different prefix of ids."""
    numbered = list(enumerate(sourced.sources, 1))
    spans = [
        (run[0], (number, passage_number))
        for number, source in numbered
        for passage_number, passage in enumerate(source.passages, 1)
        for run in passage.runs
    ]
    spans += [(span, (_UNLISTED, 0)) for span in sourced.covered]
    spans += [(span, (_IGNORED, 0)) for span in sourced.ignored]
    text = sourced.text or ""
    text_pieces = pieces(len(text), spans)
    paragraphs = _Paragraphs(text, partial(_link_to_source, sourced.sources, prefix))
    return render(
        "sources.html",
        prefix=prefix,
        sourced=sourced,
        notes=[*sourced.notes, *notes],
        html=None if sourced.text is None else text_html(text, text_pieces, paragraphs),
        sources=[(number, colour(number), source, _longest_passage(source, text)) for number, source in numbered],
        source_html={number: _source_html(source, number, prefix) for number, source in numbered},
        has_unlisted=any(len(piece.labels) == 1 and piece.labels[0][0] == _UNLISTED for piece in text_pieces),
    )


def _longest_passage(source: Source, text: str) -> str:
    longest = max(source.passages, key=lambda passage: passage.words, default=None)
    return text[slice(*longest.a)] if longest else ""


def _source_html(source: Source, number: int, prefix: str) -> Markup | None:
    """The text of a source. Of a long text, only the paragraphs near its passages."""
    if source.text is None:
        return None
    spans = [
        (run[1], (number, passage_number))
        for passage_number, passage in enumerate(source.passages, 1)
        for run in passage.runs
    ]
    near = [passage.b for passage in source.passages] if len(source.text) > _MAX_WHOLE_CHARACTERS else None
    paragraphs = _Paragraphs(source.text, partial(_link_to_text, prefix))
    return text_html(source.text, pieces(len(source.text), spans), paragraphs, near=near)


class _Paragraphs:
    """Makes the paragraphs of a text or a source. Each piece has the colour of its best source.

    Args:
        text: The text.
        link: Returns the link at the beginning of a passage.
    """

    def __init__(self, text: str, link: Callable[[Label], str]) -> None:
        self._text, self._link_of = text, link
        self._linked: set[Label] = set()

    def __call__(self, _block: Block, pieces: Sequence[Piece]) -> str:
        return f'<p dir="auto">{"".join(map(self._piece, pieces))}</p>\n'

    def _piece(self, piece: Piece) -> str:
        html = piece_text(self._text, piece)
        if not piece.labels:
            return html
        listed = [label for label in piece.labels if label[0] < _UNLISTED]
        if not listed:
            is_ignored = piece.labels[0][0] == _IGNORED
            return f'<span class="ignored">{html}</span>' if is_ignored else f'<mark class="k0">{html}</mark>'
        best, link = listed[0], ""
        if best not in self._linked:
            self._linked.add(best)
            link = self._link_of(best)
        sources = " ".join(dict.fromkeys(str(source) for source, _ in listed))
        passages = " ".join(f"{source}-{passage}" for source, passage in listed)
        return f'{link}<mark class="{colour(best[0])}" data-s="{sources}" data-p="{passages}">{html}</mark>'


def _link_to_source(sources: Sequence[Source], prefix: str, label: Label) -> str:
    number, passage = label
    name, id = sources[number - 1].name, f"{number}-{passage}"
    css_class, own_id = f"n {colour(number)}", f"{prefix}t{id}"
    title = f"Source {number}: {printable(name)}, passage {passage}"
    if sources[number - 1].text is None:
        html = Markup('<span class="{}" id="{}" aria-label="{}">{}</span>')
        return html.format(css_class, own_id, title, number)
    html = Markup('<a class="{}" id="{}" href="#{}s{}" data-p="{}" aria-label="{}">{}</a>')
    return html.format(css_class, own_id, prefix, id, id, title, number)


def _link_to_text(prefix: str, label: Label) -> str:
    number, passage = label
    id = f"{number}-{passage}"
    return (
        f'<a class="n {colour(number)}" id="{prefix}s{id}" href="#{prefix}t{id}" data-p="{id}" '
        f'aria-label="Passage {passage}, in the text">{passage}</a>'
    )
