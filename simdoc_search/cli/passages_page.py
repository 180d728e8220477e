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
            texts: dict[Place, str] = {}
            for hit in each.result.hits if left > 0 else ():
                if hit.kind == "exact" and left > 0:
                    texts |= asking.texts([hit.place])
                    left -= len(texts.get(hit.place, ""))
            left_out += sum(hit.kind == "exact" and hit.place not in texts for hit in each.result.hits)
            shown.append(_sourced(each, texts))
            update(advance=1)
    more = f"The texts of {counted(left_out, 'source')} are not shown here. simdoc-search compare shows them."
    write_file(path, sources_page(shown, [*notes, more] if left_out else notes))


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
