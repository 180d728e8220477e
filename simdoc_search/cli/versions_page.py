"""The page of `simdoc-search versions --html`: the timeline, and behind each step both texts side by side."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.cli.common import write_file
from simdoc_search.cli.versions_output import notes_of
from simdoc_search.display import counted, percent

if TYPE_CHECKING:
    from simdoc_search.documents import Place
    from simdoc_search.passages.report import Version
    from simdoc_search.search import VersionEntry, VersionsResult
    from simdoc_search.sketch.settings import Settings

_MOST_PAIRS, _MOST_CHARACTERS = 100, 4_000_000
"""What a browser shows fluently side by side: of more the newest ones."""


def write_page(path: Path, result: VersionsResult, texts: Mapping[Place | None, str], settings: Settings) -> None:
    """Write it.

    Raises:
        ClickException: it cannot be written.
    """
    from simdoc_search.passages.report import timeline_page
    from simdoc_search.search.versions_result import HINT

    shown = _shown(result, texts)
    rows = [_row(each, result, shown.get(number), settings) for number, each in enumerate(result.entries)]
    said = [*([HINT] if result.by == "texts" else []), f"order: {result.order}", *result.evidence()]
    notes = [*(said if result.hits else []), *notes_of(result)]
    if left := len(result.timeline) - 1 - len(shown):
        notes.append(f"{counted(left, 'step')} not shown side by side: simdoc-search compare shows each")
    write_file(path, timeline_page(rows, notes, analysis=settings.analysis))


def _shown(result: VersionsResult, texts: Mapping[Place | None, str]) -> dict[int, tuple[str, str]]:
    """The texts of the steps that are shown, by the number of the later version; the newest in any case."""
    shown: dict[int, tuple[str, str]] = {}
    characters = 0
    for number, (before, each) in reversed(list(enumerate(pairwise(result.timeline), 1))):
        old, new = texts.get(before.place), texts.get(each.place)
        if old is None or new is None:
            continue
        characters += len(old) + len(new)
        if len(shown) >= _MOST_PAIRS or (shown and characters > _MOST_CHARACTERS):
            break
        shown[number] = old, new
    return shown


def _row(entry: VersionEntry, result: VersionsResult, both: tuple[str, str] | None, settings: Settings) -> Version:
    from simdoc_search.passages.compare import compare
    from simdoc_search.passages.report import Version
    from simdoc_search.search.versions_result import key_lines, words_of

    return Version(
        entry.name or "the text",
        "undated" if entry in result.undated else result.when(entry),
        result.marks(entry) if result.hits else "",
        f"{percent(entry.step.share, 0)} of sentences alike" if entry.step else "",
        words_of(entry.step),
        comparison=compare(*both, settings=settings) if both else None,
        texts=both,
        key_changes=key_lines(entry.step),
    )
