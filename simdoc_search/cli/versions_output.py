"""What `simdoc-search versions` says for people."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from simdoc_search.display import counted, documents_compared, safe_message, show_more, showing

if TYPE_CHECKING:
    from simdoc_search.analysis import Analysis
    from simdoc_search.documents import Place
    from simdoc_search.search import SimilaritySearch, VersionsResult

_DEFAULT_STORE = "./.simdoc"


def texts_of(search: SimilaritySearch, result: VersionsResult) -> dict[Place | None, str]:
    """The texts of what is shown, as far as they are known; that of a source that is not stored stands at None."""
    from simdoc_search.search.stored_texts import read_records

    places = [each.place for each in result.entries if each.place is not None]
    found = read_records(search.store, places)
    texts: dict[Place | None, str] = {place: each.text for place, each in found.items() if each.text is not None}
    source = next(each.place for each in result.entries if each.is_source)
    return texts | ({source: result.text} if result.text is not None else {})


def lines_of(result: VersionsResult, own: str | None, store: str) -> Iterator[str]:
    """The timeline, what orders it, how the last step is opened, and how to go on."""
    if result.hits:
        yield f"{'':>12}{'sentences alike':>17}{'changed':>20}  document, the oldest first"
        yield from result.lines()
        yield f"order: {result.order}"
        yield from result.evidence()
    yield from notes_of(result)
    if own is not None:
        yield f"without the document {own!r}, which is this file"
    if (command := _compare(result, store)) is not None:
        yield f"what changed last: {command}"
    if result.newest is not None and not result.newest.is_source:
        again = shlex.join(["simdoc-search", "versions", result.newest.name, *_stored(store)])
        yield f"later versions may share too little with {result.source or 'the text'}; look on with: {again}"


def notes_of(result: VersionsResult) -> Iterator[str]:
    """How many there are, what may have been missed, and what changed meanwhile."""
    yield _counts(result)
    if changed := result.changed + sum(hit.changed for hit in result.hits):
        yield f"{counted(changed, 'text')} changed since indexing; words are those of the texts as they are now"


def _counts(result: VersionsResult) -> str:
    """How many there are, and what may have been missed."""
    shown = counted(result.found, "other version") if result.found else "no other version"
    if result.found > len(result.hits):
        shown = showing(len(result.hits), result.found, what="other version")
        shown += f".{show_more(len(result.hits), result.found)} "
    else:
        shown += ", "
    shown += f"{documents_compared(result.compared, result.candidates)}"
    if result.via != "sentences":
        shown += f", found by their {result.via}"
    has, asked = result.sentences
    return f"{shown}; {asked:,} of its {has:,} sentences were looked for" if asked < has else shown


def _compare(result: VersionsResult, store: str) -> str | None:
    """The command that shows the last step; None where the two have no names of their own."""
    names = [each.name for each in result.timeline[-2:]]
    if len(set(names) - {""}) < 2:
        return None
    return shlex.join(["simdoc-search", "compare", *names, *_stored(store)])


def _stored(store: str) -> list[str]:
    return [] if store in (_DEFAULT_STORE, os.environ.get("SIMDOC_STORE")) else ["--store", safe_message(store)]


def matched_lines(result: VersionsResult, texts: Mapping[Place | None, str], analysis: Analysis) -> Iterator[str]:
    """For each version which sentence of the source is like which of its; both, where they differ."""
    from simdoc_search.passages.report.positions import TextPositions
    from simdoc_search.passages.report.summary import excerpt
    from simdoc_search.versions import sentence_pairs

    for hit in result.hits:
        text = texts.get(hit.place)
        yield ""
        if result.text is None or text is None:
            yield f"{hit.id}: its sentences cannot be shown, as a text is not stored"
            continue
        pairs = sentence_pairs(result.text, text, analysis, result.limits.bits)
        yield f"{hit.id}: {counted(len(pairs), 'sentence')} of {'it' if not result.source else result.source}"
        here, there = TextPositions(result.text), TextPositions(text)
        for each in pairs:
            mine, theirs = result.text[slice(*each.a)], text[slice(*each.b)]
            yield f"{'alike' if each.bits else 'the same':>8}  {here.named(each.a[0])} → {there.named(each.b[0])}"
            yield f"{'':>10}“{excerpt(mine)}”"
            if mine.split() != theirs.split():
                yield f"{'':>10}“{excerpt(theirs)}”"
