"""Pages for check_pages.py: lists as of `passages --html` and `duplicates --html`, and a text with its sources."""

from __future__ import annotations

from functools import partial

from page_texts import PAIRS

from simdoc_search.passages.compare import compare
from simdoc_search.passages.report import (
    ListEntry,
    ListSection,
    Source,
    SourcedText,
    render_list_page,
    render_pair_view,
    render_sources_page,
)

__all__ = ["LISTS", "sources_of_one_text"]

_SHOWN = [pair for pair in PAIRS if pair.name in ("contract", "hostile", "scripts", "same")]
_NOTE = "a note, <b>of others</b>"


def _passages() -> str:
    """Several texts with a source whose text is shown, and one whose text is not."""
    texts = []
    for pair in _SHOWN:
        found = compare(*pair.texts).passages
        shown = Source(pair.names[1], "1,200", "80 %", 900, found, "its text changed", pair.texts[1])
        hidden = Source("without its text " * 9, "~12", "~3 %", 0, ())
        figures = ["80 %", "1,200 words"]
        texts.append(SourcedText(pair.names[0], "80 % of it", pair.texts[0], [shown, hidden], statistics=figures))
    return render_sources_page(texts, ["4 texts, 8 documents", _NOTE])


def _duplicates() -> str:
    """Groups with each kind of duplicate, hostile names and texts, and very long names."""
    sections = []
    for number, pair in enumerate(_SHOWN, 1):
        view = partial(render_pair_view, compare(*pair.texts), pair.texts, pair.names)
        size, date = ("figure", "12 kB"), ("figure", "2024-02-29")
        entries = [
            ListEntry(pair.names[0], [("how", "kept"), size, date]),
            ListEntry("same.txt", [("how", "identical"), size]),
            ListEntry("SAME" * 99, [("how", "same words")]),
            ListEntry(pair.names[1], [("how", "97.5 %"), size, date, ("differs", "3 words differ")], view),
        ]
        sections.append(ListSection(entries, f"Group {number}", "1,204 documents", "… and 1,200 documents more"))
    return render_list_page("Duplicates", sections, [_NOTE], summary="4 groups, 4,812 files, 58 MB to free")


def sources_of_one_text() -> str:
    """A long text with twelve sources and ignored words."""
    text = "\n\n".join(pair.texts[0] for pair in _SHOWN)
    sources = []
    for pair in _SHOWN * 3:
        found = compare(text, pair.texts[1]).passages
        words = f"{sum(passage.word_count for passage in found):,}"
        sources.append(Source(pair.names[1], words, "25 %", 100, found, text=pair.texts[1]))
    headline = "At least 81 % of draft.txt (5,273 of 17,010 words) appears in 12 indexed documents."
    sourced = SourcedText("draft.txt", headline, text, sources, ignored_spans=[(0, 90)])
    return render_sources_page([sourced], ["Showing 12 of 62 matches."])


LISTS = {"passages": _passages, "duplicates": _duplicates}
