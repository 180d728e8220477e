"""What `simdoc-search passages` says: for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from simdoc_search.cli.columns import cells, heading, sorted_hits
from simdoc_search.display import counted, estimate, percent, printable, show_more

if TYPE_CHECKING:
    from simdoc_search.cli.columns import Shown
    from simdoc_search.cli.passages_query import Answer
    from simdoc_search.cli.passages_sources import Asked
    from simdoc_search.documents import Place
    from simdoc_search.passages import Passage
    from simdoc_search.search import PassageHit, PassageResult
    from simdoc_search.stores.base import Store

_LONG = 100  # characters that each word of a short text has at most, on average, for us to count them
_HEAD = f"{'words in common':>15}{'of yours':>10}{'new':>8}{'passages':>10}  "
SUM_HEAD = f"{'share':>8}{'words':>10}{'matches':>10}  text"
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
    """The answer for people: how much of the text appears elsewhere, the hits, and how many there are."""
    result = answer.result
    yield result.headline(answer.name) + (" Compare all with --all." if result.is_partial else "")
    values = shown.at(hit.place for hit in result.hits)
    if result.hits:
        yield f"{_HEAD}{heading(shown.names)}document"
    for hit in sorted_hits(result.hits, shown, values):
        said = cells(shown.names, values.get(hit.place))
        passages = f"{len(hit.passages):,}" if hit.kind == "exact" else ""
        counts = f"{words_of(hit):>15}{share_of(hit):>10}{hit.adds:>8,}{passages:>10}"
        yield f"{counts}  {said}{printable(hit.id)}{_index(hit, result)}"
        if hit.longest and result.text is not None:
            yield from _quoted(hit.longest, result.text, texts.get(hit.place))
        if said := remark(hit):
            yield f"{_INDENT}{said}"
    if result.total:
        yield f"{result.showing}." + show_more(len(result.hits), result.total, result.offset)


def sum_of(answer: Answer) -> str:
    """How much of a text appears in how many documents, in one line below `SUM_HEAD`."""
    covered, total = answer.result.covered, f"{answer.result.total:,}{'+' if answer.result.is_partial else ''}"
    return f"{percent(covered.share, 0):>8}{covered.words:>10,}{total:>10}  {printable(answer.name)}"


def words_of(hit: PassageHit) -> str:
    """How many words the hit and what was asked about have in common."""
    return f"{hit.words:,}" if hit.kind == "exact" else f"~{hit.words:,}"


def share_of(hit: PassageHit) -> str:
    """How much of what was asked about is in the hit."""
    return percent(hit.share, 0) if hit.kind == "exact" else estimate(hit.share)


def remark(hit: PassageHit) -> str:
    """What must be known of a hit."""
    if hit.kind == "estimated":
        return "estimated, as a text is not stored"
    if hit.adds > hit.words:
        return f"your text repeats some of these words: {hit.adds:,} of its words appear here"
    return "changed since it was indexed: this is of its text as it is now" if hit.changed else ""


def _index(hit: PassageHit, result: PassageResult) -> str:
    """The index of a hit, where another one of its id is among the hits."""
    is_twice = any(each.id == hit.id and each.place != hit.place for each in result.hits)
    return f"  in {printable(str(hit.place.index))}" if is_twice else ""


def _quoted(passage: Passage, text: str, other: str | None) -> Iterator[str]:
    """A passage with its place in both texts."""
    from simdoc_search.passages.report.positions import TextPositions, both_named
    from simdoc_search.passages.report.summary import excerpt

    here = TextPositions(text)
    where = here.named(passage.a[0])
    if other is not None:
        where = both_named(here, passage.a[0], TextPositions(other), passage.b[0])
    yield f"{_INDENT}{counted(passage.words, 'word')}, {where}, characters {passage.a[0]:,} to {passage.a[1]:,}"
    yield f"{_INDENT}“{printable(excerpt(text[slice(*passage.a)]))}”"


class Summary:
    """What is said of all answers together: how many texts share passages, and which runs are found for certain.

    Args:
        store: what was asked.

    Attributes:
        hits: how many there are in all answers.
    """

    def __init__(self, store: Store) -> None:
        self._settings = store.settings
        self._finds_phrases = store.finds_phrases
        by_characters = store.settings.analysis.unit == "character" and not store.finds_phrases
        self._unit = "character" if by_characters else "word"
        self._run = self._too_common = 0
        self.hits: int
        self.hits = self._texts = self._found = self._total = 0
        self._short: list[int] = []
        self._is_partial = False

    def add(self, result: PassageResult) -> None:
        """One more answer."""
        self._texts += 1
        self._found += bool(result.total)
        self._total += result.total
        self._is_partial |= result.is_partial
        self.hits += len(result.hits)
        self._run = max(self._run, result.run)
        self._too_common += result.too_common
        if result.text is not None and (words := self._words(result.text, result.run)) < result.run:
            self._short.append(words)

    def _words(self, text: str, run: int) -> int:
        """How many words a text has; as many as are enough, if it is long."""
        from simdoc_search.analysis.words import placed_words

        return run if len(text) > run * _LONG else len(placed_words(text, self._settings.analysis).words)

    def lines(self) -> Iterator[str]:
        """One to three sentences."""
        if self._texts != 1:
            least = "at least " if self._is_partial else ""
            found = f"{self._found:,} of {counted(self._texts, 'text')} share passages"
            yield f"{found}: {least}{counted(self._total, 'match', 'matches')}." if self._total else f"{found}."
        if self._texts > len(self._short):
            yield self._promise()
        if self._short:
            yield self._said_of_short()

    def _promise(self) -> str:
        """What is found for certain."""
        found = f"Every shared run of {counted(self._run, self._unit)} is found"
        if self._too_common:
            runs = counted(self._too_common, "run")
            return f"{found}, except {runs} whose words are in too many documents to read them all."
        return f"{found}." if self._finds_phrases else f"{found}, shorter ones perhaps."

    def _said_of_short(self) -> str:
        """With which probability a text is found that is shorter than what is found for certain."""
        made, shingle, least = self._settings.passages, self._settings.analysis.shingle_size, min(self._short)
        if self._texts == 1:
            has = f"The text has only {counted(least, self._unit)}"
        else:
            has = f"{counted(len(self._short), 'text')} of fewer {self._unit}s; the shortest has {least:,}"
        if not made or least < shingle:
            return f"{has}: it is found only where a document has no others."
        return (
            f"{has}: a document with all of it is found with a probability of {percent(made.chance(least, shingle))}."
        )
