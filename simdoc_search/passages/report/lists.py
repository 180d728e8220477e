"""The lists beside two texts: their passages, and what differs, each with links into the texts."""

from __future__ import annotations

from collections.abc import Iterator

from simdoc_search.display import counted
from simdoc_search.passages.passage import Difference
from simdoc_search.passages.report.html import content
from simdoc_search.passages.report.pane import PairMarks, tint
from simdoc_search.passages.report.positions import TextPositions, both_named, words_after, words_before
from simdoc_search.passages.report.summary import excerpt

_MOST = 500
_WORDS = 6  # before and after what differs
_SAID = {"replaced": "", "inserted": "inserted", "removed": "removed", "moved": "moved"}


def passage_list(marks: PairMarks, text: str, places: tuple[TextPositions, TextPositions]) -> Iterator[str]:
    """The passages in the order of the first text."""
    passages = marks.comparison.passages
    if not passages:
        yield "<p>No passage is shared.</p>\n"
        return
    yield "<ol>\n"
    for number, each in enumerate(passages[:_MOST]):
        remarks = (", moved" if number in marks.moved else "") + (", repeated" if number in marks.repeated else "")
        where = both_named(places[0], each.a[0], places[1], each.b[0])
        yield (
            f'<li><a href="#{marks.prefix}a{number + 1}" data-n="{number + 1}">'
            f'<span class="n {tint(number, marks)}">{number + 1}</span> '
            f'<span class="where">{counted(each.words, "word")}{remarks} · {where}</span> '
            f'<bdi class="quote">{content(excerpt(text[slice(*each.a)]))}</bdi></a></li>\n'
        )
    yield f"</ol>\n{_more(len(passages), 'passage')}"


def difference_list(
    marks: PairMarks, texts: tuple[str, str], places: tuple[TextPositions, TextPositions]
) -> Iterator[str]:
    """What differs, with some words around it, in the order of the first text."""
    differences = marks.comparison.differences
    if not differences:
        yield "<p>No word differs.</p>\n"
        return
    yield "<ol>\n"
    for number, each in enumerate(differences[:_MOST], 1):
        where = both_named(places[0], each.a[0], places[1], each.b[0])
        verb = f" {_SAID[each.kind]}" if _SAID[each.kind] else f" {'differs' if each.words == 1 else 'differ'}"
        side = "b" if each.kind == "inserted" else "a"
        yield (
            f'<li><a href="#{marks.prefix}{side}d{number}" data-t="{number}">'
            f'<span class="where">{counted(each.words, "word")}{verb} · {where}</span> '
            f'<bdi class="quote">{_quote(each, texts)}</bdi></a></li>\n'
        )
    yield f"</ol>\n{_more(len(differences), 'difference')}"


def _quote(difference: Difference, texts: tuple[str, str]) -> str:
    a, b = (excerpt(text[slice(*span)]) for text, span in zip(texts, (difference.a, difference.b), strict=True))
    if difference.kind == "moved":
        return content(a)
    text, (start, end) = (texts[1], difference.b) if difference.kind == "inserted" else (texts[0], difference.a)
    before, after = words_before(text, 0, start, _WORDS), words_after(text, end, _WORDS)
    marked = " ".join((f"<del>{content(a)}</del>" if a else "", f"<ins>{content(b)}</ins>" if b else "")).strip()
    parts = (content(" ".join(before.split())), marked, content(" ".join(after.split())))
    return _space(before[-1:]).join(parts[:2]) + _space(after[:1]) + parts[2]


def _space(beside: str) -> str:
    return " " if beside.isspace() else ""


def _more(count: int, one: str) -> str:
    return (
        "" if count <= _MOST else f"<p>… {counted(count - _MOST, f'more {one}')}: they are marked in the texts.</p>\n"
    )
