"""The page of `simdoc-search passages --html`: each text with its sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.cli.common import document_progress, write_file
from simdoc_search.cli.passages_output import remark, share_of, words_of
from simdoc_search.display import counted, percent, show_more

if TYPE_CHECKING:
    from simdoc_search.cli.passages_query import Answer, Asking
    from simdoc_search.documents import Place
    from simdoc_search.passages.report import Sourced

_MOST_CHARACTERS = 8_000_000
"""Characters of all texts that a browser shows fluently. The texts of further sources are left out."""

_TEXTS_AT_ONCE = 16


def write_page(path: Path, answers: Sequence[Answer], notes: Sequence[str], asking: Asking, *, hidden: bool) -> None:
    """Write it, with a bar on stderr unless that is `hidden`.

    Raises:
        ClickException: it cannot be written.
    """
    from simdoc_search.passages.report import sources_page

    ranked = sorted(answers, key=lambda each: -each.result.covered.share)
    left = _MOST_CHARACTERS
    shown, left_out = [], 0
    with document_progress(hidden=hidden or len(ranked) < 2, of_total=True) as update:
        update(total=len(ranked))
        for each in ranked:
            left -= len(each.result.text or "")
            places = [hit.place for hit in each.result.hits if hit.kind == "exact"]
            texts = _texts_within(left, places, asking)
            left -= sum(map(len, texts.values()))
            left_out += sum(place not in texts for place in places)
            shown.append(_sourced(each, texts))
            update(advance=1)
    more = f"The texts of {counted(left_out, 'source')} are not shown here. simdoc-search compare shows them."
    write_file(path, sources_page(shown, [*notes, more] if left_out else notes))


def _texts_within(characters: int, places: Sequence[Place], asking: Asking) -> dict[Place, str]:
    """The texts at these places, in their order, until they have this many characters together."""
    texts: dict[Place, str] = {}
    for start in range(0, len(places), _TEXTS_AT_ONCE):
        read = asking.texts(places[start : start + _TEXTS_AT_ONCE])
        for place, text in ((place, read[place]) for place in places[start:] if place in read):
            if characters <= 0:
                return texts
            texts[place] = text
            characters -= len(text)
    return texts


def _sourced(answer: Answer, texts: dict[Place, str]) -> Sourced:
    from simdoc_search.passages.report import Source, Sourced

    result = answer.result
    return Sourced(
        answer.name,
        result.headline(answer.name) + (" Compare all with --all." if result.is_partial else ""),
        result.text,
        [
            Source(hit.id, words_of(hit), share_of(hit), hit.adds, hit.passages, remark(hit), texts.get(hit.place))
            for hit in result.hits
        ],
        result.spans,
        result.ignored_spans,
        (
            percent(result.covered.share, 0),
            counted(result.covered.words, "word"),
            counted(result.total, "match", "matches"),
        ),
        [f"{result.showing}." + show_more(len(result.hits), result.total, result.offset)] if result.total else [],
    )
