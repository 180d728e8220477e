"""One text with all its sources: each passage in the colour of its source, and the sources' texts beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from simdoc_search.display import counted
from simdoc_search.passages.passage import Passage, Span
from simdoc_search.passages.report.html import attribute, content, page
from simdoc_search.passages.report.labels import Label, Labelled, labelled, marked
from simdoc_search.passages.report.summary import excerpt

_COLOURS = 8
_WHOLE = 40_000
"""Characters of a source's text that are shown whole. Of a longer one, the paragraphs near its passages are shown."""
_UNLISTED, _IGNORED = 1_000_000_000, 1_000_000_001
"""Numbers of what is covered by a source that is not listed, and of what is ignored."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document that shares passages with a text.

    Attributes:
        name: what it is called.
        words: how many words the two have in common, as shown.
        share: how much of the text it has, as shown.
        adds: how many words of the text no source before it has.
        passages: what they share; the text is the first of each.
        remark: what else must be known.
        text: its text; None: it is not shown.
    """

    name: str
    words: str
    share: str
    adds: int
    passages: Sequence[Passage]
    remark: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Sourced:
    """A text with its sources.

    Attributes:
        name: what it is called.
        headline: how much of it appears in how many documents.
        text: the text; None: it is not stored.
        sources: its sources, the best first.
        covered: what is matched in any source, also in one that is not among `sources`.
        ignored: what is ignored.
        figures: what a list of several texts says of it.
        notes: what else is to be said.
    """

    name: str
    headline: str
    text: str | None
    sources: Sequence[Source]
    covered: Sequence[Span] = ()
    ignored: Sequence[Span] = ()
    figures: Sequence[str] = ()
    notes: Sequence[str] = ()


def sources_page(texts: Sequence[Sourced], notes: Sequence[str]) -> str:
    """One HTML page: a text with its sources, or a list of texts, each of which opens to show that.

    Args:
        texts: in the order in which they are shown. Whatever others wrote in them is shown, and does nothing.
        notes: what is to be said of all.
    """
    if len(texts) == 1:
        return page(f"Sources of {texts[0].name}", ("<main>\n", *source_view(texts[0], notes=notes), "</main>\n"))
    return page("Shared passages", ('<main class="listing">\n', *_listed(texts, notes), "</main>\n"))


def _listed(texts: Sequence[Sourced], notes: Sequence[str]) -> Iterator[str]:
    yield '<div class="top">\n<h1>Shared passages</h1>\n' + "".join(f"<p>{content(note)}</p>\n" for note in notes)
    yield "</div>\n"
    for number, each in enumerate(texts, 1):
        figures = "".join(f'<span class="figure">{content(figure)}</span>' for figure in each.figures)
        cells = f'<bdi class="what">{attribute(each.name)}</bdi>{figures}'
        if each.sources:
            yield f'<details class="hit"><summary class="row">{cells}</summary>\n'
            yield from source_view(each, prefix=f"p{number}-")
            yield "</details>\n"
        else:
            yield f'<div class="hit"><div class="row">{cells}</div></div>\n'


def source_view(sourced: Sourced, *, prefix: str = "", notes: Sequence[str] = ()) -> Iterator[str]:
    """The HTML of one text with its sources, for a `page`; each on a page has a prefix of its own."""
    yield f'<article class="origin" aria-labelledby="{prefix}said">\n'
    yield f'<header>\n<h1 id="{prefix}said"><bdi>{content(sourced.headline)}</bdi></h1>\n'
    yield "".join(f"<p>{content(note)}</p>\n" for note in (*sourced.notes, *notes)) + "</header>\n"
    if sourced.text is not None:
        yield f'<section class="side own" aria-labelledby="{prefix}own">\n<div class="name">'
        yield f'<h2 id="{prefix}own"><bdi>{attribute(sourced.name)}</bdi></h2></div>\n'
        yield f'<div class="text" tabindex="0" role="group" aria-labelledby="{prefix}own" lang="">\n'
        yield from marked(sourced.text, _labels(sourced), _Origin(sourced, prefix))
        yield "</div>\n</section>\n"
    yield f'<section class="side other" id="{prefix}list" aria-label="Sources">\n'
    yield from _list(sourced, prefix)
    for number, each in enumerate(sourced.sources, 1):
        if each.text is not None:
            yield from _from(each, number, prefix)
    yield "</section>\n</article>\n"


def _list(sourced: Sourced, prefix: str) -> Iterator[str]:
    """The sources with their words; each opens its text."""
    yield '<nav class="sources" aria-label="Sources">\n<ol>\n'
    for number, each in enumerate(sourced.sources, 1):
        passages = counted(len(each.passages), "passage") if each.passages else ""
        figures = (f"{each.words} words in common", f"{each.share} of the text", f"{each.adds:,} new", passages)
        longest = max(each.passages, key=lambda passage: passage.words, default=None)
        quote = excerpt((sourced.text or "")[slice(*longest.a)]) if longest else ""
        inside = (
            f'<span class="n {_tint(number)}">{number}</span> <bdi class="what">{attribute(each.name)}</bdi> '
            f'<span class="where">{content(" · ".join(filter(None, (*figures, each.remark))))}</span>'
            + (f' <bdi class="quote">“{content(quote)}”</bdi>' if quote else "")
        )
        link = f'<a href="#{prefix}s{number}" data-s="{number}">{inside}</a>'
        yield f"<li>{link if each.text is not None else f'<div>{inside}</div>'}</li>\n"
    yield "</ol>\n"
    yield "" if sourced.sources else '<p class="none">No source.</p>\n'
    if any(each[0] == _UNLISTED for labels in _only(_labels(sourced)) for each in labels):
        yield '<p><mark class="k0">Grey</mark> words are in sources that are not listed.</p>\n'
    if sourced.ignored:
        yield '<p><span class="ignored">Dotted</span> words are ignored.</p>\n'
    yield "</nav>\n"


def _from(source: Source, number: int, prefix: str) -> Iterator[str]:
    """The text of a source, around its passages at least."""
    heading = f"{prefix}s{number}"
    yield f'<section class="from" id="{heading}" data-s="{number}" aria-labelledby="{heading}-name">\n'
    yield f'<div class="name"><h2 id="{heading}-name"><span class="n {_tint(number)}">{number}</span>'
    yield f'<bdi title="{attribute(source.name)}">{attribute(source.name)}</bdi></h2>\n<p><span class="steps">'
    yield '<button type="button" class="previous" aria-label="previous passage">‹</button> passage '
    yield '<button type="button" class="next" aria-label="next passage">›</button></span> '
    yield f'<a class="back" href="#{prefix}list">all sources</a></p></div>\n'
    yield f'<div class="text" tabindex="0" role="group" aria-labelledby="{heading}-name" lang="">\n'
    text = source.text or ""
    spans = [(run[1], (number, at)) for at, each in enumerate(source.passages, 1) for run in each.runs]
    near = [each.b for each in source.passages] if len(text) > _WHOLE else None
    yield from marked(text, labelled(len(text), spans), _Copied(number, prefix), near)
    yield "</div>\n</section>\n"


def _tint(number: int) -> str:
    return f"k{(number - 1) % _COLOURS + 1}" if number < _UNLISTED else "k0"


def _labels(sourced: Sourced) -> list[Labelled]:
    """The pieces of a text, each with the sources that have it."""
    spans = [
        (run[0], (number, at))
        for number, each in enumerate(sourced.sources, 1)
        for at, passage in enumerate(each.passages, 1)
        for run in passage.runs
    ]
    spans += [(span, (_UNLISTED, 0)) for span in sourced.covered] + [(s, (_IGNORED, 0)) for s in sourced.ignored]
    return labelled(len(sourced.text or ""), spans)


def _only(pieces: Iterable[Labelled]) -> Iterator[tuple[Label, ...]]:
    """The labels of pieces that have one alone."""
    return (each.labels for each in pieces if len(each.labels) == 1)


class _Origin:
    """PairMarks the text: each piece in the colour of its best source, with a number where a passage begins."""

    def __init__(self, sourced: Sourced, prefix: str) -> None:
        self._names = [each.name for each in sourced.sources]
        self._linked = [each.text is not None for each in sourced.sources]
        self._prefix = prefix
        self._seen: set[Label] = set()

    def __call__(self, piece: Labelled, inside: str) -> str:
        best = piece.labels[0]
        if best[0] == _IGNORED:
            return f'<span class="ignored">{inside}</span>'
        listed = [label for label in piece.labels if label[0] < _UNLISTED]
        sources = " ".join(dict.fromkeys(str(source) for source, _ in listed))
        named = " ".join(f"{source}-{passage}" for source, passage in listed)
        data = f' data-s="{sources}" data-p="{named}"' if listed else ""
        return f'{self._anchor(best)}<mark class="{_tint(best[0])}"{data}>{inside}</mark>'

    def _anchor(self, label: Label) -> str:
        source, passage = label
        if source == _UNLISTED or label in self._seen:
            return ""
        self._seen.add(label)
        named, tag = f"{source}-{passage}", "a" if self._linked[source - 1] else "span"
        link = f' href="#{self._prefix}s{named}" data-p="{named}"' if tag == "a" else ""
        said = f"Source {source}: {self._names[source - 1]}, passage {passage}"
        return (
            f'<{tag} class="n {_tint(source)}" id="{self._prefix}t{named}"{link} aria-label="{attribute(said)}">'
            f"{source}</{tag}>"
        )


class _Copied:
    """PairMarks the text of a source: its passages, with links back."""

    def __init__(self, number: int, prefix: str) -> None:
        self._number, self._prefix = number, prefix
        self._seen: set[int] = set()

    def __call__(self, piece: Labelled, inside: str) -> str:
        passage, tint = piece.labels[0][1], _tint(self._number)
        named = f"{self._number}-{passage}"
        data = " ".join(f"{source}-{number}" for source, number in piece.labels)
        anchor = ""
        if passage not in self._seen:
            self._seen.add(passage)
            anchor = (
                f'<a class="n {tint}" id="{self._prefix}s{named}" href="#{self._prefix}t{named}" data-p="{named}" '
                f'aria-label="Passage {passage}, in the text">{passage}</a>'
            )
        return f'{anchor}<mark class="{tint}" data-p="{data}">{inside}</mark>'
