"""What `simdoc-search passages` says: for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from simdoc_search.cli.columns import cells, heading, sorted_hits
from simdoc_search.cli.common import counted, printable
from simdoc_search.showing import documents_compared, estimate, percent

if TYPE_CHECKING:
    from simdoc_search.cli.columns import Shown
    from simdoc_search.cli.passage_answers import Answer
    from simdoc_search.cli.passage_sources import Asked
    from simdoc_search.documents import Place
    from simdoc_search.passages import Passage
    from simdoc_search.search import PassageHit, PassageResult
    from simdoc_search.sketch.settings import Settings

__all__ = ["Summary", "answer_as_json", "asked_as_json", "lines_of", "remark", "shares", "words_of"]

_LONG = 100  # characters that each word of a short text has at most, on average, for us to count them
_HEAD = f"{'words in common':>15}{'yours':>9}{'theirs':>9}{'passages':>10}  "
_INDENT = " " * 6


def asked_as_json(asked: Asked, own: str | None = None) -> dict[str, Any]:
    """What was asked about: a document, a file, a row of a table, or a text that is none of these."""
    row = {"row": asked.row} if asked.row is not None else {}
    return {"id": own, "file": asked.file, **row}


def answer_as_json(answer: Answer, shown: Shown) -> dict[str, Any]:
    """The answer about one document or text; places are characters, `a` of what was asked about."""
    from simdoc_search.as_json import passages_as_json

    found = passages_as_json(asked_as_json(answer.asked, answer.own), answer.result)
    return shown.completed(found, answer.result.hits)


def lines_of(answer: Answer, texts: Mapping[Place, str], shown: Shown) -> Iterator[str]:
    """The hits for people: shares, and the longest passage with its place."""
    result = answer.result
    values = shown.at(hit.place for hit in result.hits)
    if result.hits:
        yield f"{_HEAD}{heading(shown.names)}document"
    for hit in sorted_hits(result.hits, shown, values):
        yours, theirs = shares(hit)
        said = cells(shown.names, values.get(hit.place))
        passages = f"{len(hit.passages):,}" if hit.kind == "exact" else ""
        yield f"{words_of(hit):>15}{yours:>9}{theirs:>9}{passages:>10}  {said}{printable(hit.id)}{_index(hit, result)}"
        if hit.longest and result.text is not None:
            yield from _quoted(hit.longest, result.text, texts.get(hit.place))
        if said := remark(hit):
            yield f"{_INDENT}{said}"


def words_of(hit: PassageHit) -> str:
    """How many words of what was asked about the hit shares."""
    return f"{hit.words:,}" if hit.kind == "exact" else f"~{hit.words:,}"


def shares(hit: PassageHit) -> tuple[str, str]:
    """How much of what was asked about is in the hit, and the other way round."""
    shown = percent if hit.kind == "exact" else estimate
    return shown(hit.containment), shown(hit.contained)


def remark(hit: PassageHit) -> str:
    """What must be known of a hit."""
    if hit.kind == "estimated":
        return "estimated, as a text is not stored"
    return "changed since it was indexed: this is of its text as it is now" if hit.changed else ""


def _index(hit: PassageHit, result: PassageResult) -> str:
    """The index of a hit, where another one of its id is among the hits."""
    is_twice = any(each.id == hit.id and each.place != hit.place for each in result.hits)
    return f"  in {printable(str(hit.place.index))}" if is_twice else ""


def _quoted(passage: Passage, text: str, other: str | None) -> Iterator[str]:
    """A passage with its place in both texts."""
    from simdoc_search.passages.report.places import Places, both_named
    from simdoc_search.passages.report.sentences import excerpt

    here = Places(text)
    where = here.named(passage.a[0])
    if other is not None:
        where = both_named(here, passage.a[0], Places(other), passage.b[0])
    yield f"{_INDENT}{counted(passage.words, 'word')}, {where}, characters {passage.a[0]:,} to {passage.a[1]:,}"
    yield f"{_INDENT}“{printable(excerpt(text[slice(*passage.a)]))}”"


class Summary:
    """What is said of all answers together: how many, what is found for certain, and what only with a probability.

    Args:
        settings: how the store makes its tokens.

    Attributes:
        hits: how many there are in all answers.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._run = settings.passages.run(settings.analysis.shingle_size) if settings.passages else 0
        self._unit = "character" if settings.analysis.unit == "character" else "word"
        self.hits = self._texts = self._found = self._candidates = self._compared = 0
        self._short: list[int] = []

    def add(self, result: PassageResult) -> None:
        """One more answer."""
        self._texts += 1
        self._found += bool(result.hits)
        self.hits += len(result.hits)
        self._candidates += result.candidates
        self._compared += result.compared
        if result.text is not None and (words := self._words(result.text)) < self._run:
            self._short.append(words)

    def _words(self, text: str) -> int:
        """How many words a text has; so many that they are enough, if it is long."""
        from simdoc_search.analysis.words import placed_words

        return self._run if len(text) > self._run * _LONG else len(placed_words(text, self._settings.analysis).words)

    def lines(self) -> Iterator[str]:
        """One to three sentences."""
        if self._texts == 1:
            shown = counted(self.hits, "hit") if self.hits else "nothing found"
            shown += f", {documents_compared(self._compared, self._candidates)}" if self._candidates else ""
        else:
            found = f"{self._found:,} of {counted(self._texts, 'text')} share passages"
            shown = f"{found}, {counted(self.hits, 'pair')}" if self.hits else f"{found} with others"
        promise = f"every shared run of {counted(self._run, self._unit)} is found, shorter ones perhaps"
        yield shown if self._texts == len(self._short) == 1 else f"{shown}; {promise}"
        if self._compared < self._candidates:
            yield "those were compared that seemed to share most; --size compares more"
        if self._short:
            yield self._said_of_short()

    def _said_of_short(self) -> str:
        """With which probability a text is found that is shorter than what is found for certain."""
        made, shingle, least = self._settings.passages, self._settings.analysis.shingle_size, min(self._short)
        if self._texts == 1:
            has = f"the text has only {counted(least, self._unit)}"
        else:
            has = f"{counted(len(self._short), 'text')} of fewer {self._unit}s; the shortest has {least:,}"
        if not made or least < shingle:
            return f"{has}: it is found only where a document has no others"
        return f"{has}: a document with all of it is found with a probability of {percent(made.chance(least, shingle))}"
