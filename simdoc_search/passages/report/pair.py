"""Two texts side by side, with their passages and differences. Every page shows pairs this way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simdoc_search.analysis.settings import Analysis
from simdoc_search.display import counted
from simdoc_search.passages.passage import Comparison, Span
from simdoc_search.passages.report.boilerplate import boilerplate
from simdoc_search.passages.report.html import attribute, content, page
from simdoc_search.passages.report.lists import difference_list, passage_list
from simdoc_search.passages.report.pane import PairMarks, Side, pane, tint
from simdoc_search.passages.report.positions import TextPositions
from simdoc_search.passages.report.summary import contents, details, key_change_lines, sign_said, words_differing

_FOLDERS = 2  # that two paths share, for them to be left out
_SIGNS = 100  # differences of signs that are listed

_HELP = """\
<details class="help"><summary>Keys</summary><div>
<dl>
<dt><kbd>n</kbd> <kbd>→</kbd></dt><dd>next passage, without those that are repeated</dd>
<dt><kbd>p</kbd> <kbd>←</kbd></dt><dd>previous passage</dd>
<dt><kbd>Enter</kbd></dt><dd>its like in the other text</dd>
<dt><kbd>d</kbd> <kbd>Shift d</kbd></dt><dd>next, previous difference</dd>
<dt><kbd>Esc</kbd></dt><dd>nothing is chosen any more</dd>
<dt>click</dt><dd>in a passage brings its like beside it; in the strip goes there</dd>
</dl>
<p><label><input type="checkbox" class="letters" checked> letters are keys</label></p>
<p>A passage has the same number and colour in both texts; <span class="n k1">2⇅</span> has moved,
<span class="n k0">3</span> occurs several times. <del>Struck words</del> are in the first text alone,
<ins>underlined</ins> ones in the second; ‸ is where they would stand in the other.
Letter case and punctuation do not make words differ; where they differ, the list says so.</p>
</div></details>
"""


def comparison_page(
    comparison: Comparison, texts: tuple[str, str], names: tuple[str, str], *, analysis: Analysis | None = None
) -> str:
    """One HTML page that shows two texts side by side, without any other file or server.

    Args:
        comparison: what the texts share.
        texts: these texts. Whatever they hold is shown, and does nothing.
        names: what they are called.
        analysis: what makes shingles, see `boilerplate`.
    """
    body = pair_view(comparison, texts, names, analysis=analysis)
    return page(f"{names[0]} and {names[1]} compared", ("<main>\n", *body, "</main>\n"))


def pair_view(
    comparison: Comparison,
    texts: tuple[str, str],
    names: tuple[str, str],
    *,
    prefix: str = "",
    analysis: Analysis | None = None,
) -> Iterator[str]:
    """The HTML of a pair, for a `page`; each pair on a page has a prefix of its own, such as `p2-`."""
    repeated = boilerplate(comparison.passages, *texts, analysis)
    marks = PairMarks(comparison, repeated, _moved(comparison), prefix)
    places = TextPositions(texts[0]), TextPositions(texts[1])
    yield f'<article class="pair" aria-labelledby="{prefix}names">\n'
    yield from _header(comparison, names, prefix)
    yield from _strip(marks, (len(texts[0]), len(texts[1])))
    sides: tuple[Side, Side] = ("a", "b")
    for at, side in enumerate(sides):
        yield from _text(texts[at], _name(_short(names)[at], names[at]), side, marks, places[at])
    yield from _lists(marks, texts, places)
    yield "</article>\n"


def _header(comparison: Comparison, names: tuple[str, str], prefix: str) -> Iterator[str]:
    first, second = map(_name, _short(names), names)
    yield f'<header>\n<h1 id="{prefix}names">{first} <span>and</span> {second}</h1>\n'
    yield '<dl class="measures" tabindex="0">\n'
    yield from _terms(contents(comparison))
    yield (
        '</dl>\n<div class="tools"><span class="steps">'
        '<button type="button" class="previous" aria-label="previous passage">‹</button> passage '
        '<button type="button" class="next" aria-label="next passage">›</button></span> '
        '<span class="steps">'
        '<button type="button" class="before" aria-label="previous difference">‹</button> difference '
        '<button type="button" class="after" aria-label="next difference">›</button></span> '
        '<label class="steps"><input type="checkbox" class="together" checked> scroll together</label>\n'
    )
    yield f'{_HELP}<details class="help"><summary>Details</summary><div>\n<dl>\n'
    yield from _terms(details(comparison))
    yield '</dl>\n</div></details>\n</div>\n<p class="said" role="status"></p>\n</header>\n'


def _terms(measures: list[tuple[str, str, str]]) -> Iterator[str]:
    for name, value, remark in measures:
        added = f', <span class="remark">{remark}</span>' if remark else ""
        yield f"<div><dt>{name}</dt><dd>{attribute(value)}{added}</dd></div>\n"


def _text(text: str, name: str, side: Side, marks: PairMarks, places: TextPositions) -> Iterator[str]:
    which, words = ("First text", "Second text")[side == "b"], marks.comparison.words[side == "b"]
    heading = f"{marks.prefix}{side}"
    yield (
        f'<section class="side {side}" aria-labelledby="{heading}">\n<div class="name"><h2 id="{heading}">'
        f'<span class="which">{which}</span> {name}</h2>'
        f"<p>{counted(words, 'word')}</p></div>\n"
        f'<div class="text" tabindex="0" role="group" aria-labelledby="{heading}" lang="">\n'
    )
    yield from pane(text, side, marks, places)
    if not text.strip():
        yield '<p class="none">no text</p>\n'
    yield "</div>\n</section>\n"


def _name(shown: str, whole: str) -> str:
    return f'<bdi title="{attribute(whole)}">{attribute(shown)}</bdi>'


def _short(names: tuple[str, str]) -> tuple[str, str]:
    """Two paths without the folders in which both lie."""
    first, second = (name.split("/") for name in names)
    same = next((at for at, (a, b) in enumerate(zip(first[:-1], second[:-1], strict=False)) if a != b), None)
    cut = min(len(first), len(second)) - 1 if same is None else same
    return names if cut < _FOLDERS else ("/".join(["…", *first[cut:]]), "/".join(["…", *second[cut:]]))


def _lists(marks: PairMarks, texts: tuple[str, str], places: tuple[TextPositions, TextPositions]) -> Iterator[str]:
    count = counted(len(marks.comparison.passages), "passage")
    yield '<nav class="lists" aria-label="Passages and differences">\n'
    yield '<details class="menu" open><summary>What differs, what is shared</summary>\n'
    yield f'<section><h2>What differs</h2>\n<p class="sum">{content(words_differing(marks.comparison))}</p>\n'
    lines = key_change_lines(marks.comparison.key_changes)
    if lines:
        yield f'<ul class="signs">{"".join(f"<li>{content(line)}</li>" for line in lines)}</ul>\n'
    yield from difference_list(marks, texts, places)
    yield from _signs(marks.comparison, texts)
    yield f'</section>\n<section><h2>What is shared</h2>\n<p class="sum">{count}</p>\n'
    yield from passage_list(marks, texts[0], places)
    yield "</section>\n</details>\n</nav>\n"


def _signs(comparison: Comparison, texts: tuple[str, str]) -> Iterator[str]:
    count = len(comparison.signs)
    if not count:
        return
    yield f'<p class="sum">{counted(count, "sign")} {"differs" if count == 1 else "differ"}</p>\n<ul class="signs">\n'
    for each in comparison.signs[:_SIGNS]:
        yield f"<li>{content(sign_said(each, *texts))}</li>\n"
    more = f"<li>and {count - _SIGNS:,} more</li>\n" if count > _SIGNS else ""
    yield f"{more}</ul>\n"


def _moved(comparison: Comparison) -> frozenset[int]:
    """The passages of which most is said to have moved."""
    found = [each.a for each in comparison.differences if each.kind == "moved"]
    return frozenset(
        number
        for number, each in enumerate(comparison.passages)
        if any(2 * (min(end, each.a[1]) - max(start, each.a[0])) > each.a[1] - each.a[0] for start, end in found)
    )


_STRIP_HEIGHT, _STRIP_WIDTH, _BAR = 1000, 60, 16
_LEAST_HEIGHT = 2.0  # of a passage, so that it can be seen
_RIGHT_BAR = _STRIP_WIDTH - _BAR


def _strip(marks: PairMarks, lengths: tuple[int, int]) -> Iterator[str]:
    """An SVG image, the first text on the left and the second on the right; what moved crosses the others.

    What it shows is also in the list of passages, so a reader of screens is not told it twice.

    Args:
        marks: what is marked.
        lengths: characters of the two texts.
    """
    yield (
        f'<svg class="strip" viewBox="0 0 {_STRIP_WIDTH} {_STRIP_HEIGHT}" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false"><rect class="bar" width="{_BAR}" height="{_STRIP_HEIGHT}"/>'
        f'<rect class="bar" x="{_RIGHT_BAR}" width="{_BAR}" height="{_STRIP_HEIGHT}"/>\n'
    )
    order = sorted(
        enumerate(marks.comparison.passages), key=lambda each: (each[0] not in marks.repeated, -each[1].words)
    )
    for number, each in order:
        (top, bottom), (other, end) = _scaled(each.a, lengths[0]), _scaled(each.b, lengths[1])
        shape = f"M0 {top:g}H{_BAR}L{_RIGHT_BAR} {other:g}H{_STRIP_WIDTH}V{end:g}H{_RIGHT_BAR}L{_BAR} {bottom:g}H0Z"
        yield f'<a href="#{marks.prefix}a{number + 1}" tabindex="-1" data-n="{number + 1}">'
        yield f'<path class="{tint(number, marks)}" d="{shape}"/></a>\n'
    differences = [each for each in marks.comparison.differences if each.kind != "moved"]
    yield _ticks("del", 0, [each.a for each in differences if each.kind != "inserted"], lengths[0])
    yield _ticks("ins", _RIGHT_BAR, [each.b for each in differences if each.kind != "removed"], lengths[1])
    yield "".join(f'<rect class="view" x="{left}" width="{_BAR}" height="0"/>' for left in (0, _RIGHT_BAR)) + "</svg>\n"


def _scaled(span: Span, length: int) -> tuple[float, float]:
    top, bottom = (_STRIP_HEIGHT * min(edge, length) / max(length, 1) for edge in span)
    return round(min(top, _STRIP_HEIGHT - _LEAST_HEIGHT), 1), round(max(bottom, top + _LEAST_HEIGHT), 1)


def _ticks(kind: str, left: int, where: Sequence[Span], length: int) -> str:
    """What differs as short lines, equal ones once."""
    rows = sorted({round(_scaled(each, length)[0]) for each in where})
    lines = "".join(f"M{left} {row}h{_BAR}" for row in rows)
    return f'<path class="tick {kind}" d="{lines}"/>\n' if rows else ""
