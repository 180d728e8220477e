"""Names, by the letters that they begin with: of people, places, organisations, works; and acronyms.

A name is a run of words that begin with a capital letter, with what may stand in one (`of the`, `van`), and initials.
The first word of a sentence has such a letter too. It is part of a name only if the text never has it in lower case,
and if another word of the name follows it, or if it is in a name elsewhere. A name that is part of one longer name of
the same text means that one: `Dufner` is `Jason Dufner`. What is written in capitals throughout has no names, nor has a
script that knows no capital letters. German, where all nouns begin with one, has its nouns.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simdoc_search.chunks.paragraphs import paragraph_spans

__all__ = ["Names", "names_in"]

MOST_WORDS = 6
"""Of a name; a longer run is a heading or a list."""

_WORD = re.compile(r"[^\W\d_]\w*(?:[’'\-]\w+)*")
_GAP = re.compile(r"\.? (?! )|[ \t]*\n[ \t]*(?=[^\s#*\-|>])| & ")
_SENTENCE_END = re.compile(r"[.!?…:;\"“”„«»()\[\]{}|*#>•\-–—/=<]|\n[^\S\n]*\n")
_POSSESSIVE = re.compile(r"[’']s?$")
_INSIDE = frozenset("of the de del della di da dos du la le van von der den het el al bin ibn".split())
_NEVER = frozenset(
    """a about above after again all also although always an and another any as at back be because been before being
    below between both but by can did do does each either every few first for from had has have having he her here hers
    him his how however i if in indeed instead into is it its just last later least less let like many may maybe me
    meanwhile might more moreover most much must my never nevertheless next no nor not nothing now of often on once one
    only or other our out over perhaps please same second see shall she should since so some still such than that the
    their them then there therefore these they third this those though through thus to today too two under unless until
    up upon us very was we well were what when where whether which while who whom whose why will with within without
    would yes yesterday yet you your""".split()
)


@dataclass(frozen=True, slots=True)
class _Run:
    """Words that may be a name, with the place of the first, and whether that begins a sentence."""

    begin: int
    words: tuple[str, ...]
    first: bool


class Names:
    """Finds the names of each paragraph; needs no other package."""

    name = "names"

    def find(self, text: str) -> list[Counter[str]]:
        """The names of each paragraph."""
        return by_paragraph(paragraph_spans(text), names_in(text))


def by_paragraph(spans: Sequence[tuple[int, int]], found: Sequence[tuple[int, str]]) -> list[Counter[str]]:
    """Concepts at places of a text, counted for each of its paragraphs."""
    counts: list[Counter[str]] = [Counter() for _ in spans]
    at = 0
    for begin, name in sorted(found):
        while begin >= spans[at][1]:
            at += 1
        counts[at][name] += 1
    return counts


def names_in(text: str) -> list[tuple[int, str]]:
    """The names in a text, in order: at which character each begins, and the name, the longest that it is part of."""
    lower, runs = _read(text)
    inside = {word for run in runs for word in run.words[run.first :]}
    names = [(place, name) for run in runs for place, name in _name(run, lower, inside)]
    longer = _longer([name for _, name in names])
    return [(place, " ".join(longer.get(name, name))) for place, name in names]


def _read(text: str) -> tuple[set[str], list[_Run]]:
    """The words that the text has in lower case, and its runs of words with a capital letter."""
    lower: set[str] = set()
    runs: list[_Run] = []
    words: list[re.Match[str]] = []
    linking: list[re.Match[str]] = []
    starts = True
    first = True
    end = 0

    def close() -> None:
        if words:
            runs.append(_Run(words[0].start(), tuple(_POSSESSIVE.sub("", each[0]) for each in words), first))
        words.clear()
        linking.clear()

    for word in _WORD.finditer(text):
        gap = text[end : word.start()]
        starts = not end or bool(_SENTENCE_END.search(gap)) and not _is_initial(words, gap)
        joins = bool(words) and not starts and bool(_GAP.fullmatch(gap)) or _is_initial(words, gap)
        if words and _POSSESSIVE.search(text[words[-1].start() : end]):
            joins = False
        if joins and "\n" in gap and text[word.end() : word.end() + 1] == ":":
            joins, starts = False, True
        end = word.end()
        if not joins:
            close()
        if word[0][0].isupper() or word[0][0].istitle():
            if not words:
                first = starts
            words.extend(linking)
            linking.clear()
            words.append(word)
        else:
            lower.add(word[0].lower())
            if joins and word[0] in _INSIDE and len(linking) < 2:
                linking.append(word)
            else:
                close()
    close()
    return lower, runs


def _is_initial(words: Sequence[re.Match[str]], gap: str) -> bool:
    """Whether a full stop is that of an initial, as in `J. R. R. Tolkien`."""
    return bool(words) and len(words[-1][0]) == 1 and gap in {". ", "."}


def _name(run: _Run, lower: set[str], inside: set[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    words, place = run.words, run.begin
    if run.first:
        word = words[0].lower()
        single = len(words) == 1 and words[0] not in inside and not _is_acronym(words[0])
        if word in _NEVER or word in lower or single:
            words = words[1:]
    while words and (words[0].lower() in _NEVER or words[0] in _INSIDE):
        words = words[1:]
    shouted = sum(each.isupper() and len(each) > 1 for each in words)
    if not words or len(words) > MOST_WORDS or (shouted > 2 and shouted == len(words)):
        return
    if len(words) == 1 and len(words[0]) == 1:
        return
    yield place, words


def _is_acronym(word: str) -> bool:
    return 1 < len(word) <= 6 and word.isupper()


def _longer(names: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """For each name that is part of exactly one longest one, that one."""
    known = set(names)
    holders: defaultdict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for name in known:
        for size in range(1, len(name)):
            for at in range(len(name) - size + 1):
                if (part := name[at : at + size]) in known:
                    holders[part].add(name)
    return {part: next(iter(found)) for part, found in holders.items() if len(found) == 1}
