"""Pages that are lists with pairs behind them: those of `passages --html` and of `duplicates --html`."""

from __future__ import annotations

from page_texts import PAIRS

from simdoc_search import Analysis
from simdoc_search.passages.compare import compare
from simdoc_search.passages.report import GroupMember, MemberGroup, Source, Sourced, groups_page, sources_page

__all__ = ["LISTS", "origin"]

_SHOWN = ("contract", "hostile", "scripts", "same")


def _passages() -> str:
    """Several texts, each with a source that is shown and one that is not."""
    texts = []
    for pair in PAIRS:
        if pair.name in _SHOWN:
            found = compare(*pair.texts).passages
            shown = Source(pair.names[1], "1,200", "80 %", 900, found, "its text changed", pair.texts[1])
            other = Source("without its text " * 9, "~12", "~3 %", 0, ())
            texts.append(
                Sourced(pair.names[0], "80 % of it", pair.texts[0], [shown, other], figures=["80 %", "1,200 words"])
            )
    return sources_page(texts, ["4 texts, 8 documents", "a note, <b>of others</b>"])


def _duplicates() -> str:
    """Groups with each kind of member, hostile names and texts, and very long names."""
    groups = []
    for pair in PAIRS:
        if pair.name in _SHOWN:
            near = GroupMember(pair.names[1], "97.5 %", "12 kB", "2024-02-29", compare(*pair.texts), pair.texts)
            plain = [GroupMember("same.txt", "identical", "12 kB", ""), GroupMember("SAME" * 99, "same words", "", "")]
            groups.append(MemberGroup(GroupMember(pair.names[0], "", "12 kB", "2024-02-29"), [*plain, near], 1_200))
    return groups_page("4 groups, 4,812 files, 58 MB to save", groups, ["a note, <b>of others</b>"], Analysis())


def origin() -> str:
    """One long text with the four sources of each kind, and words that are ignored."""
    pairs = [pair for pair in PAIRS if pair.name in _SHOWN]
    text = "\n\n".join(pair.texts[0] for pair in pairs)
    sources = []
    for pair in pairs * 3:
        found = compare(text, pair.texts[1]).passages
        words = f"{sum(each.words for each in found):,}"
        sources.append(Source(pair.names[1], words, "25 %", 100, found, text=pair.texts[1]))
    headline = "At least 81 % of draft.txt (5,273 of 17,010 words) appears in 12 indexed documents."
    return sources_page(
        [Sourced("draft.txt", headline, text, sources, ignored=[(0, 90)])], ["Showing 12 of 62 matches."]
    )


LISTS = {"passages": _passages, "duplicates": _duplicates}
