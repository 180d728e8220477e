"""Names, by the letters that they begin with: of people, places, organisations, works; and acronyms.

A name is a run of words that begin with a capital letter, with what may stand in one (`of the`, `van`), and initials.
The first word of a sentence has such a letter too: it is part of a name only if the text never has it in lower case,
and if another word of the name follows it, or it is in a name elsewhere. A name that is part of one longer name of the
same text means that one: `Dufner` is `Jason Dufner`. Days and months begin none; what is written in capitals throughout
has none, nor has a script that knows no capital letters. German, where all nouns begin with one, has its nouns.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from simdoc_search.chunks.paragraphs import paragraph_spans
from simdoc_search.concepts.occurrences import COMMON_WORDS, Found, by_paragraph

MOST_WORDS = 6
"""Of a name; a longer run is a heading or a list."""

_WORD = re.compile(r"[^\W\d_]\w*(?:[’'\-]\w+)*")
_GAP = re.compile(r" {1,2}|[ \t]*\n[ \t]*| & ")
_SENTENCE_END = re.compile(r"[.!?…:;\"“”„«»()\[\]{}|*#>•\-–—/=<]|\n[^\S\n]*\n")
_POSSESSIVE = re.compile(r"[’']s?$")
_LINKS = "of the de del della di da dos du la le van von der den het el al bin ibn"
_INSIDE = frozenset(_LINKS.split())
_MOST_LINKS = 2


@dataclass(slots=True)
class _CapitalisedRun:
    """Words that may be a name: where each begins and ends, and whether the first begins a sentence."""

    first: bool
    words: list[str] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    links: list[re.Match[str]] = field(default_factory=list)

    def add(self, word: re.Match[str]) -> None:
        """The next one, after what links them."""
        for each in (*self.links, word):
            self.words.append(_POSSESSIVE.sub("", each[0]))
            self.places.append(each.span())
        self.links.clear()

    def is_open(self, text: str, gap: str) -> bool:
        """Whether another word may follow after such a gap."""
        if len(self.words[-1]) == 1 and gap in {". ", "."}:
            return True  # the full stop is that of an initial, as in `J. R. R. Tolkien`
        owns = _POSSESSIVE.search(text, *self.places[-1]) is not None
        return bool(_GAP.fullmatch(gap)) and not owns


class Names:
    """Finds the names of each paragraph; needs no other package."""

    name = "names"

    def find(self, text: str) -> list[Counter[str]]:
        """The names of each paragraph."""
        return by_paragraph(paragraph_spans(text), names_in(text))


def names_in(text: str) -> list[Found]:
    """The names in a text, in order, each as the longest name that it is part of."""
    lower, runs = _read(text)
    inside = {word for run in runs for word in run.words[run.first :]}
    names = [each for run in runs if (each := _name(run, lower, inside))]
    longer = _longer({words for _, _, words in names})
    return [Found(begin, end, " ".join(longer.get(words, words))) for begin, end, words in names]


def _read(text: str) -> tuple[set[str], list[_CapitalisedRun]]:
    """The words that the text has in lower case, and its runs of words with a capital letter."""
    lower: set[str] = set()
    runs: list[_CapitalisedRun] = []
    run: _CapitalisedRun | None = None
    end = 0
    for word in _WORD.finditer(text):
        gap = text[end : word.start()]
        is_field = "\n" in gap and text[word.end() : word.end() + 1] == ":"
        if run is not None and (is_field or not run.is_open(text, gap)):
            run = None
        if word[0][0].isupper() or word[0][0].istitle():
            if run is None:
                run = _CapitalisedRun(first=not end or is_field or bool(_SENTENCE_END.search(gap)))
                runs.append(run)
            run.add(word)
        else:
            lower.add(word[0].lower())
            if run is not None and word[0] in _INSIDE and len(run.links) < _MOST_LINKS:
                run.links.append(word)
            else:
                run = None
        end = word.end()
    return lower, runs


def _name(run: _CapitalisedRun, lower: set[str], inside: set[str]) -> tuple[int, int, tuple[str, ...]] | None:
    """Where a name begins and ends, and its words; None if the run is none."""
    skip = int(run.first and not _is_of_name(run, lower, inside))
    while skip < len(run.words) and run.words[skip].lower() in COMMON_WORDS:
        skip += 1
    words = tuple(run.words[skip:])
    shouted = len(words) > 2 and all(each.isupper() for each in words)
    only = words[0] if len(words) == 1 else ""
    if not words or len(words) > MOST_WORDS or shouted or len(only) == 1:
        return None
    return run.places[skip][0], run.places[-1][1], words


def _is_of_name(run: _CapitalisedRun, lower: set[str], inside: set[str]) -> bool:
    """Whether the first word of a sentence belongs to a name that begins there."""
    word = run.words[0]
    is_acronym = 1 < len(word) <= MOST_WORDS and word.isupper()
    return word.lower() not in lower and (len(run.words) > 1 or word in inside or is_acronym)


def _longer(names: set[tuple[str, ...]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """For each name that is part of exactly one longer one, that one; of one that is part of others the longest."""
    holders: defaultdict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for name in names:
        for part in _parts(name):
            if part in names:
                holders[part].add(name)
    return {part: next(iter(whole)) for part, found in holders.items() if len(whole := _outermost(found)) == 1}


def _outermost(names: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Those that are no part of another."""
    return names - {part for name in names for part in _parts(name)}


def _parts(name: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Its shorter runs of words."""
    for size in range(1, len(name)):
        for at in range(len(name) - size + 1):
            yield tuple(name[at : at + size])
