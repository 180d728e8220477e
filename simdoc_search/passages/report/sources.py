"""A text with its sources as HTML: each passage in the colour of its source, and the texts of the sources beside it."""

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
"""Of a source with more characters, only the paragraphs near its passages are shown."""
_UNLISTED, _IGNORED = 1_000_000_000, 1_000_000_001
"""The numbers of text in a source that is not listed, and of ignored text."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document that shares passages with a text. The text is the first of each passage.

    `words` and `share` are what both have in common, as shown. `adds` is the number of words that no source before it
    has. `text` is None if it is not shown.
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
    """A text with its sources, the best first.

    `covered` is what any source has, also a source that is not listed. A list of several texts shows the `figures`.
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
    entries = []
    for sourced in texts:
        view = partial(sources_view, sourced) if sourced.sources else None
        entries.append(ListEntry(sourced.name, [("figure", figure) for figure in sourced.figures], view))
    return list_page("Shared passages", [ListSection(entries)], notes)


def sources_view(sourced: SourcedText, *, prefix: str = "", notes: Sequence[str] = ()) -> Markup:
    """The HTML of a text with its sources. Each text on a page has its own prefix of ids."""
    numbered = list(enumerate(sourced.sources, 1))
    spans = [
        (run[0], (number, at))
        for number, source in numbered
        for at, passage in enumerate(source.passages, 1)
        for run in passage.runs
    ]
    spans += [(span, (_UNLISTED, 0)) for span in sourced.covered]
    spans += [(span, (_IGNORED, 0)) for span in sourced.ignored]
    text = sourced.text or ""
    cut = pieces(len(text), spans)
    paragraphs = _Paragraphs(text, partial(_link_to_source, sourced.sources, prefix))
    return render(
        "sources.html",
        prefix=prefix,
        sourced=sourced,
        notes=[*sourced.notes, *notes],
        html=None if sourced.text is None else text_html(text, cut, paragraphs),
        sources=[(number, colour(number), source, _longest(source, text)) for number, source in numbered],
        source_html={number: _source_html(source, number, prefix) for number, source in numbered},
        has_unlisted=any(len(piece.labels) == 1 and piece.labels[0][0] == _UNLISTED for piece in cut),
    )


def _longest(source: Source, text: str) -> str:
    """The longest passage of a source."""
    longest = max(source.passages, key=lambda passage: passage.words, default=None)
    return text[slice(*longest.a)] if longest else ""


def _source_html(source: Source, number: int, prefix: str) -> Markup | None:
    """The text of a source. Of a long text, the paragraphs near its passages."""
    if source.text is None:
        return None
    spans = [(run[1], (number, at)) for at, passage in enumerate(source.passages, 1) for run in passage.runs]
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
        self._text, self._link = text, link
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
            link = self._link(best)
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
