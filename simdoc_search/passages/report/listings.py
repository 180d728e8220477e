"""Lists of documents that open to show two texts side by side: groups of duplicates, and versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from simdoc_search.analysis.settings import Analysis
from simdoc_search.display import counted
from simdoc_search.passages.passage import Comparison
from simdoc_search.passages.report.html import attribute, content, page
from simdoc_search.passages.report.pair import pair_view
from simdoc_search.passages.report.summary import words_differing


def _entry(
    cells: str,
    pair: tuple[Comparison, tuple[str, str]] | None = None,
    names: tuple[str, str] = ("", ""),
    prefix: str = "",
    analysis: Analysis | None = None,
    *,
    is_open: bool = False,
) -> Iterator[str]:
    """A line of a list, which opens to show two texts side by side if there are some; `cells` is HTML."""
    if pair is None:
        yield f'<div class="hit"><div class="row">{cells}</div></div>\n'
        return
    yield f'<details class="hit"{" open" if is_open else ""}><summary class="row">{cells}</summary>\n'
    yield from pair_view(*pair, names, prefix=prefix, analysis=analysis)
    yield "</details>\n"


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A document of a group.

    Attributes:
        name: what it is called.
        how: what it has in common with the one that stays, as shown; empty for that one itself.
        size: of its file, as shown; empty: not known.
        date: of its file, as shown; empty: not known.
        comparison: in what it differs from the one that stays, if the page is to show that.
        texts: the text of the one that stays, and its own; None: they are not shown.
    """

    name: str
    how: str
    size: str
    date: str
    comparison: Comparison | None = None
    texts: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class MemberGroup:
    """The document that stays, those that could go, and how many more of these there are."""

    kept: GroupMember
    others: Sequence[GroupMember]
    more: int = 0


def groups_page(summary: str, groups: Iterable[MemberGroup], notes: Sequence[str], analysis: Analysis) -> str:
    """One HTML page of all groups, in which near ones open to show both texts side by side.

    Args:
        summary: what was found, in a sentence.
        groups: in the order in which they are to be shown; whatever others wrote in them is shown, and does nothing.
        notes: what else is to be known.
        analysis: what makes shingles, see `boilerplate`.
    """
    return page(
        "Duplicates", ('<main class="listing">\n', *_groups_body(summary, groups, notes, analysis), "</main>\n")
    )


def _groups_body(
    summary: str, groups: Iterable[MemberGroup], notes: Sequence[str], analysis: Analysis
) -> Iterator[str]:
    yield f'<div class="top">\n<h1>Duplicates</h1>\n<p class="found">{content(summary)}</p>\n'
    yield "".join(f"<p>{content(note)}</p>\n" for note in notes) + "</div>\n"
    pairs = 0
    for number, group in enumerate(groups, 1):
        count = counted(len(group.others) + group.more + 1, "document")
        yield f'<section class="group" aria-labelledby="g{number}">\n'
        yield f'<h2 class="source" id="g{number}">Group {number} <span>{count}</span></h2>\n'
        yield from _entry(_member_cells(group.kept, "kept"))
        for each in group.others:
            pairs += 1
            pair = (each.comparison, each.texts) if each.comparison and each.texts else None
            yield from _entry(_member_cells(each, each.how), pair, (group.kept.name, each.name), f"p{pairs}-", analysis)
        if group.more:
            yield f'<p class="row more">… and {counted(group.more, "document")} more</p>\n'
        yield "</section>\n"


def _member_cells(member: GroupMember, how: str) -> str:
    differ = words_differing(member.comparison) if member.comparison else ""
    cells = (("how", how), ("figure", member.size), ("figure", member.date), ("differs", differ))
    figures = "".join(f'<span class="{name}">{content(cell)}</span>' for name, cell in cells if cell)
    return f'<bdi class="what">{attribute(member.name)}</bdi>{figures}'


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a document.

    Attributes:
        name: what it is called.
        date: when it was written, as shown; empty: not known.
        remark: what it is among the others, as `newest`.
        share: how alike it and the one before it are, as shown; empty: it is the first.
        changed: how many words it has added and removed, as shown.
        comparison: what it shares with the one before it, if the page is to show that.
        key_changes: the changes to read first, a line each.
        texts: the text of the one before it, and its own; None: they are not shown.
    """

    name: str
    date: str
    remark: str = ""
    share: str = ""
    changed: str = ""
    comparison: Comparison | None = None
    texts: tuple[str, str] | None = None
    key_changes: Sequence[str] = ()


def timeline_page(versions: Sequence[Version], notes: Sequence[str], *, analysis: Analysis | None = None) -> str:
    """One HTML page: the versions, the oldest first, each of which opens to show it beside the one before it.

    Args:
        versions: whatever others wrote in them is shown, and does nothing.
        notes: what is to be said of their order.
        analysis: what makes shingles, see `boilerplate`.
    """
    return page("Versions", ('<main class="listing">\n', *_timeline_body(versions, notes, analysis), "</main>\n"))


def _timeline_body(versions: Sequence[Version], notes: Sequence[str], analysis: Analysis | None) -> Iterator[str]:
    yield '<div class="top">\n<h1>Versions</h1>\n'
    yield "".join(f"<p>{content(note)}</p>\n" for note in notes) + "</div>\n"
    yield '<section class="group" aria-label="Versions, the oldest first">\n'
    for number, each in enumerate(versions):
        pair = (each.comparison, each.texts) if number and each.comparison and each.texts else None
        names = versions[number - 1].name if number else "", each.name
        yield from _entry(_version_cells(each), pair, names, f"p{number}-", analysis)
    yield "</section>\n"


def _version_cells(version: Version) -> str:
    figures = [version.date, version.share, version.changed, *version.key_changes]
    cells = [*(("figure", each) for each in figures), ("how", version.remark)]
    shown = "".join(f'<span class="{name}">{content(cell)}</span>' for name, cell in cells if cell)
    return f'<bdi class="what">{attribute(version.name)}</bdi>{shown}'
