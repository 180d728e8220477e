"""The page of `simdoc-search versions --html`: the timeline, and each version side by side with the previous one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.cli.html_page import write_page_file
from simdoc_search.cli.versions_output import count_lines
from simdoc_search.display import format_count, format_percent

if TYPE_CHECKING:
    from simdoc_search.documents import DocumentKey
    from simdoc_search.passages.report import ListEntry
    from simdoc_search.search.version_result import VersionsResult
    from simdoc_search.sketch.settings import Settings

_MAX_PAIRS, _MAX_TOTAL_CHARACTERS = 100, 4_000_000
"""Maximum number of pairs of consecutive versions shown side by side, and of characters in all these pairs.

Without these limits, the page would be slow. The newest pairs are shown.
"""


def write_page(path: Path, result: VersionsResult, texts: Mapping[DocumentKey | None, str], settings: Settings) -> None:
    """Write the page."""
    from simdoc_search.passages.report import ListSection, render_list_page

    pairs = _texts_by_version(result, texts)
    rows = [_version_row(result, number, pairs.get(number), settings) for number in range(len(result.entries))]
    order = [
        *([result.order_hint] if result.order_hint else []),
        f"order: {result.order_description}",
        *result.evidence_lines(),
    ]
    notes = [*(order if result.hits else []), *count_lines(result)]
    if omitted := len(result.timeline) - 1 - len(pairs):
        versions_are = format_count(omitted, "version is", "versions are")
        notes.append(
            f"{versions_are} not shown next to the previous version; to compare them, use `simdoc-search compare`"
        )
    write_page_file(path, render_list_page("Versions", [ListSection(rows)], notes))


def _texts_by_version(result: VersionsResult, texts: Mapping[DocumentKey | None, str]) -> dict[int, tuple[str, str]]:
    """Map the index of a version to the text of the previous version and its own text, if both are shown."""
    pairs: dict[int, tuple[str, str]] = {}
    characters = 0
    for number, (previous, entry) in reversed(list(enumerate(pairwise(result.timeline), 1))):
        old, new = texts.get(previous.key), texts.get(entry.key)
        if old is None or new is None:
            continue
        characters += len(old) + len(new)
        if len(pairs) >= _MAX_PAIRS or (pairs and characters > _MAX_TOTAL_CHARACTERS):
            break
        pairs[number] = old, new
    return pairs


def _version_row(result: VersionsResult, number: int, pair: tuple[str, str] | None, settings: Settings) -> ListEntry:
    from simdoc_search.passages.compare import compare
    from simdoc_search.passages.report import ListEntry, render_pair_view

    entry = result.entries[number]
    changes, name = entry.changes, entry.name or "the text"
    figures = [result.date_label(entry) or "no date"]
    if reason := result.describe_unknown_place(entry):
        figures.append(f"place in the order unknown: {reason}")
    figures += (
        [
            f"{format_percent(changes.share, 0)} similar sentences",
            changes.word_changes_label,
            *changes.change_lines,
        ]
        if changes
        else []
    )
    cells = [*(("figure", figure) for figure in figures), ("how", result.format_labels(entry) if result.hits else "")]
    if pair is None:
        return ListEntry(name, cells)
    names = result.entries[number - 1].name or "the text", name
    comparison = compare(*pair, settings=settings)
    return ListEntry(name, cells, partial(render_pair_view, comparison, pair, names, analysis=settings.analysis))
