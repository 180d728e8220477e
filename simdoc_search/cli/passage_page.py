"""The page of `simdoc-search passages --html`: who shares passages, and the pairs behind that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.cli.common import counted, document_progress, write_file
from simdoc_search.cli.passage_output import remark, shares, words_of

if TYPE_CHECKING:
    from simdoc_search.cli.passage_answers import Answer, Asking
    from simdoc_search.documents import Place
    from simdoc_search.passages.report import Row

__all__ = ["write_page"]

_MOST_PAIRS, _MOST_CHARACTERS = 100, 4_000_000
"""What a browser shows fluently: of more pairs those that share most words."""

Texts = dict["Place", str]
"""Of the hits of one answer those that are shown beside it."""


def write_page(path: Path, answers: Sequence[Answer], notes: Sequence[str], asking: Asking, *, hidden: bool) -> None:
    """Write it, with a bar on stderr unless that is `hidden`.

    Raises:
        ClickException: it cannot be written.
    """
    from simdoc_search.passages.report import Listed, listing_page

    there = [each for each in answers if each.result.hits]
    shown = _chosen(there, asking)
    pairs = sum(len(each.result.hits) for each in there)
    left = pairs - sum(map(len, shown.values()))
    more = f"{counted(left, 'pair')} not shown side by side: simdoc-search compare shows each"
    with document_progress(hidden=hidden or len(there) < 2, of_total=True) as update:
        update(total=len(there))
        listed = []
        for number, each in enumerate(there):
            listed.append(Listed(_name(each), _rows(each, shown.get(number, {}), asking)))
            update(advance=1)
    found = listed or [Listed(_name(each), []) for each in answers[:1]]
    analysis = asking.search.store.settings.analysis
    page = listing_page(found, [*notes, more] if left else notes, analysis=analysis)
    write_file(path, page)


def _name(answer: Answer) -> str:
    return answer.result.source or answer.asked.name


def _chosen(answers: Sequence[Answer], asking: Asking) -> dict[int, Texts]:
    """The pairs that are shown side by side: the first one, and of the others as many as a page takes."""
    ranked = sorted(
        (-hit.words, number, rank)
        for number, each in enumerate(answers)
        for rank, hit in enumerate(each.result.hits)
        if hit.kind == "exact"
    )
    chosen: dict[int, Texts] = {}
    characters = 0
    for _, number, rank in ranked[:_MOST_PAIRS]:
        result = answers[number].result
        place = result.hits[rank].place
        text = asking.texts([place]).get(place)
        if text is None:  # it is gone by now
            continue
        characters += len(result.text or "") + len(text)
        if chosen and characters > _MOST_CHARACTERS:
            break
        chosen.setdefault(number, {})[place] = text
    return chosen


def _rows(answer: Answer, texts: Texts, asking: Asking) -> list[Row]:
    from simdoc_search.passages import compare
    from simdoc_search.passages.report import Row

    text = answer.result.text or ""
    settings = asking.search.store.settings
    rows = []
    for hit in answer.result.hits:
        both = (text, texts[hit.place]) if hit.place in texts else None
        rows.append(
            Row(
                hit.id,
                words_of(hit),
                *shares(hit),
                passages=len(hit.passages) if hit.kind == "exact" else None,
                quote=text[slice(*hit.longest.a)] if hit.longest else "",
                remark=remark(hit),
                comparison=compare(*both, preset=asking.alignment, settings=settings) if both else None,
                texts=both,
            )
        )
    return rows
