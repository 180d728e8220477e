"""Pages that are lists with pairs behind them: those of `passages --html` and of `duplicates --html`."""

from __future__ import annotations

from page_texts import PAIRS

from simdoc_search import Analysis
from simdoc_search.passages import compare
from simdoc_search.passages.report import Bar, Listed, Member, MemberGroup, Row, groups_page, listing_page

__all__ = ["LISTS"]

_SHOWN = ("contract", "hostile", "scripts", "same")


def _passages() -> str:
    """Several sources, one with a hit that is not shown side by side."""
    listed = []
    for pair in PAIRS:
        if pair.name in _SHOWN:
            found = compare(*pair.texts)
            row = Row(pair.names[1], "~1,200", "80.5 %", "79.1 %", len(found.passages), pair.texts[0][:300],
                      "its text changed since it was indexed", found, pair.texts)  # fmt: skip
            listed.append(Listed(pair.names[0], [row, Row("without its text " * 9, "12", "~3 %", "~2 %", None)]))
    return listing_page(listed, ["4 texts, 8 documents", "a note, <b>of others</b>"])


def _duplicates() -> str:
    """Groups with each kind of member, hostile names and texts, and very long names."""
    groups = []
    for pair in PAIRS:
        if pair.name in _SHOWN:
            near = Member(pair.names[1], "97.5 %", "12 kB", "2024-02-29", compare(*pair.texts), pair.texts)
            plain = [Member("same.txt", "identical", "12 kB", ""), Member("SAME" * 99, "same words", "", "")]
            groups.append(MemberGroup(Member(pair.names[0], "", "12 kB", "2024-02-29"), [*plain, near], 1_200))
    bars = [Bar(f"{at} %" if at % 5 == 0 else "", f"{at} to {at + 1} %", (at - 80) ** 4) for at in range(80, 100)]
    return groups_page("4 groups, 4,812 files, 58 MB to save", bars, groups, ["a note, <b>of others</b>"], Analysis())


LISTS = {"passages": _passages, "duplicates": _duplicates}
