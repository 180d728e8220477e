"""Renders a text next to its sources as HTML. Each passage has the colour of its source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nlargest

from markupsafe import Markup

from simdoc_search.analysis.settings import Analysis
from simdoc_search.display import printable
from simdoc_search.passages.escape import escape_html
from simdoc_search.passages.passage import Passage, Span
from simdoc_search.passages.positions import TextPositions, label_span_pair
from simdoc_search.passages.report.blocks import Block
from simdoc_search.passages.report.listing import ListEntry, ListSection, render_list_page
from simdoc_search.passages.report.pieces import Label, Piece, colour_class, cut_into_pieces, render_piece, render_text
from simdoc_search.passages.report.templates import render, render_page
from simdoc_search.passages.summary import count_passage_words, quote_matched_words

_MAX_SOURCE_CHARACTERS = 40_000
"""If a source has more characters, only the paragraphs near its passages are shown."""
_MAX_LISTED_PASSAGES = 20
"""The maximum number of passages in the list below a source."""
_MAX_NAMED_SOURCES = 5
"""The maximum number of sources that a list of several texts names for each text."""
_UNLISTED_SOURCE_NUMBER, _IGNORED_SOURCE_NUMBER = 1_000_000_000, 1_000_000_001
"""A label consists of a source number and a passage number. These two source numbers mark words that are only in
unlisted sources, and ignored words."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document that shares passages with a text.

    The labels are the number of shared words, and their share of the text. `new_word_count` does not count words that
    are in a source listed before it. In the passages, `a` is the span in the text, and `b` is the span in the source.
    If `text` is None, the source is not shown.
    """

    name: str
    words_label: str
    share_label: str
    new_word_count: int
    passages: Sequence[Passage]
    remark: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A text with its sources.

    If `text` is None, it is not shown. `covered_spans` are the spans in at least one source, including sources that are
    not listed. `statistics` are shown next to the name in a list of several texts, and `notes` below the heading.
    """

    name: str
    headline: str
    text: str | None
    sources: Sequence[Source]
    covered_spans: Sequence[Span] = ()
    ignored_spans: Sequence[Span] = ()
    statistics: Sequence[str] = ()
    notes: Sequence[str] = ()
    analysis: Analysis | None = None
    quotations: Sequence[Span] = ()


def render_sources_page(texts: Sequence[SourcedText], notes: Sequence[str]) -> str:
    """Return a self-contained page of a text with its sources, or a list of several such texts."""
    if len(texts) == 1:
        return render_page(f"Sources of {texts[0].name}", render_sources_view(texts[0], notes=notes))
    entries = []
    for sourced in texts:
        view = partial(render_sources_view, sourced) if sourced.sources else None
        cells = [*(("figure", value) for value in sourced.statistics), ("more", _name_sources(sourced.sources))]
        entries.append(ListEntry(sourced.name, cells, view))
    return render_list_page("Shared passages", [ListSection(entries)], notes)


def _name_sources(sources: Sequence[Source]) -> str:
    """Return the names of the first sources with their numbers of words: `a.pdf (120 words), b.docx (30 words)`."""
    names = [f"{source.name} ({source.words_label} words)" for source in sources[:_MAX_NAMED_SOURCES]]
    return ", ".join([*names, "…"] if len(sources) > len(names) else names)


def render_sources_view(sourced: SourcedText, *, prefix: str = "", notes: Sequence[str] = ()) -> Markup:
    """Return the HTML of a text with its sources. Each text on a page needs its own prefix for ids."""
    numbered = list(enumerate(sourced.sources, 1))
    spans = [
        (run[0], (number, passage_number))
        for number, source in numbered
        for passage_number, passage in enumerate(source.passages, 1)
        for run in passage.runs
    ]
    spans += [(span, (_UNLISTED_SOURCE_NUMBER, 0)) for span in sourced.covered_spans]
    spans += [(span, (_IGNORED_SOURCE_NUMBER, 0)) for span in sourced.ignored_spans]
    text = sourced.text or ""
    text_pieces = [_drop_label_between_words(piece, text) for piece in cut_into_pieces(len(text), spans)]
    paragraphs = _ParagraphRenderer(text, partial(_link_to_source, sourced.sources, prefix))
    positions = TextPositions(text)
    return render(
        "sources.html",
        prefix=prefix,
        sourced=sourced,
        notes=[*sourced.notes, *notes],
        html=None if sourced.text is None else render_text(text, text_pieces, paragraphs, positions=positions),
        sources=[
            (number, colour_class(number), source, _list_passages(source, sourced, positions))
            for number, source in numbered
        ],
        source_html={number: _render_source(source, number, prefix) for number, source in numbered},
        has_unlisted=any(
            len(piece.labels) == 1 and piece.labels[0][0] == _UNLISTED_SOURCE_NUMBER for piece in text_pieces
        ),
    )


def _drop_label_between_words(piece: Piece, text: str) -> Piece:
    """Return the piece. If it has no words, remove the label of unlisted sources.

    Covered spans include the punctuation between words, but passages end before it. The punctuation after a passage of
    a listed source would therefore be shown as if it came from an unlisted source.
    """
    has_words = any(map(str.isalnum, text[piece.start : piece.end]))
    return (
        piece
        if has_words
        else replace(piece, labels=tuple(label for label in piece.labels if label[0] != _UNLISTED_SOURCE_NUMBER))
    )


def _list_passages(source: Source, sourced: SourcedText, positions: TextPositions) -> list[dict[str, object]]:
    """Return the values of the passages that are listed below a source: the longest ones, in the order of the text."""
    text, other = sourced.text or "", None if source.text is None else TextPositions(source.text)
    longest = nlargest(_MAX_LISTED_PASSAGES, enumerate(source.passages, 1), key=lambda pair: pair[1].word_count)
    return [
        {
            "number": number,
            "words": count_passage_words(
                passage, text, sourced.analysis, quotations=sourced.quotations, ignored_spans=sourced.ignored_spans
            ),
            "place": label_span_pair(positions, passage.a, other, passage.b)
            if other
            else positions.label_span(passage.a),
            "quote": Markup(escape_html(quote_matched_words(passage, text))),  # noqa: S704 - the text is escaped
        }
        for number, passage in sorted(longest)
    ]


def _render_source(source: Source, number: int, prefix: str) -> Markup | None:
    """Return the text of a source as HTML. If it is long, only the paragraphs near its passages are included."""
    if source.text is None:
        return None
    spans = [
        (run[1], (number, passage_number))
        for passage_number, passage in enumerate(source.passages, 1)
        for run in passage.runs
    ]
    near_spans = [passage.b for passage in source.passages] if len(source.text) > _MAX_SOURCE_CHARACTERS else None
    paragraphs = _ParagraphRenderer(source.text, partial(_link_to_text, prefix))
    pieces, positions = cut_into_pieces(len(source.text), spans), TextPositions(source.text)
    return render_text(source.text, pieces, paragraphs, near_spans=near_spans, positions=positions)


class _ParagraphRenderer:
    """Renders the paragraphs of a text or a source. Each piece has the colour of the first source that contains it.

    `render_link` returns the HTML link at the beginning of a passage.
    """

    def __init__(self, text: str, render_link: Callable[[Label], str]) -> None:
        self._text, self._render_link = text, render_link
        self._linked: set[Label] = set()

    def __call__(self, _block: Block, pieces: Sequence[Piece]) -> str:
        return f'<p dir="auto">{"".join(map(self._render_piece, pieces))}</p>\n'

    def _render_piece(self, piece: Piece) -> str:
        html = render_piece(self._text, piece)
        if not piece.labels:
            return html
        source_labels = [label for label in piece.labels if label[0] < _UNLISTED_SOURCE_NUMBER]
        if not source_labels:
            is_ignored = piece.labels[0][0] == _IGNORED_SOURCE_NUMBER
            return f'<span class="ignored">{html}</span>' if is_ignored else f'<mark class="k0">{html}</mark>'
        best, link = source_labels[0], ""
        if best not in self._linked:
            self._linked.add(best)
            link = self._render_link(best)
        sources = " ".join(dict.fromkeys(str(source) for source, _ in source_labels))
        passages = " ".join(f"{source}-{passage}" for source, passage in source_labels)
        return f'{link}<mark class="{colour_class(best[0])}" data-s="{sources}" data-p="{passages}">{html}</mark>'


def _link_to_source(sources: Sequence[Source], prefix: str, label: Label) -> str:
    number, passage = label
    name, id = sources[number - 1].name, f"{number}-{passage}"
    css_class, own_id = f"n {colour_class(number)}", f"{prefix}t{id}"
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
        f'<a class="n {colour_class(number)}" id="{prefix}s{id}" href="#{prefix}t{id}" data-p="{id}" '
        f'aria-label="Passage {passage}, in the text">{passage}</a>'
    )
