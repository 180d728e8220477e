"""Finds names of people, places, organisations and works, and acronyms, by their capital letters.

A name is a run of words that begin with a capital letter. It may contain initials and small words such as `of the` and
`van`. The first word of a sentence also has a capital letter. It is part of a name only if it never occurs in lower
case in the text. In addition, another word of the name must follow, or the word must be in another name, or it must be
an acronym.

If a name is part of exactly one longer name in the text, the longer name replaces it: `Dufner` becomes `Jason
Dufner`. A name does not begin with the name of a day or a month. No names are found in text that is all in capitals,
or in a script without capital letters. In German, all nouns are found.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from simdoc_search.chunks import paragraph_spans
from simdoc_search.concepts.finder import COMMON_WORDS, Occurrence, count_by_paragraph

_MAX_NAME_WORDS = 6  # a longer run of capitalised words is a heading or a list, not a name
_WORD = re.compile(r"[^\W\d_]\w*(?:[’'\-]\w+)*")
_GAP = re.compile(r" {1,2}|[ \t]*\n[ \t]*| & ")
_SENTENCE_END = re.compile(r"[.!?…:;\"“”„«»()\[\]{}|*#>•\-–—/=<]|\n[^\S\n]*\n")
_POSSESSIVE = re.compile(r"[’']s?$")
_PARTICLES = "of the de del della di da dos du la le van von der den het el al bin ibn"
_PARTICLE_WORDS = frozenset(_PARTICLES.split())
_MAX_PARTICLES = 2

Name = tuple[str, ...]
"""The words of a name."""


@dataclass(slots=True)
class _CapitalisedRun:
    """Words that may be a name."""

    begins_sentence: bool  # whether the first word begins a sentence
    words: list[str] = field(default_factory=list)  # the words, without possessive endings
    spans: list[tuple[int, int]] = field(default_factory=list)  # start and end of each word
    # particles after the last word, such as `van`. They belong to the name if another capitalised word follows.
    particles: list[re.Match[str]] = field(default_factory=list)

    def add(self, word: re.Match[str]) -> None:
        """Add the pending particles and the next word."""
        for match in (*self.particles, word):
            self.words.append(_POSSESSIVE.sub("", match[0]))
            self.spans.append(match.span())
        self.particles.clear()

    def can_continue(self, text: str, gap: str) -> bool:
        """Whether the name may continue after `gap`, the text between the last word and the next one."""
        if len(self.words[-1]) == 1 and gap in {". ", "."}:
            return True  # the last word is an initial, as in `J. R. R. Tolkien`
        return bool(_GAP.fullmatch(gap)) and not _POSSESSIVE.search(text, *self.spans[-1])


class NameFinder:
    """Finds the names in each paragraph. It needs no additional package."""

    name = "names"

    def find(self, text: str) -> list[Counter[str]]:
        """Return the names in each paragraph, with their frequencies."""
        return count_by_paragraph(paragraph_spans(text), find_names(text))


def find_names(text: str) -> list[Occurrence]:
    """Return the names in a text, in order. Each name is replaced with the longer name that it is part of."""
    lower_case_words, runs = _find_capitalised_runs(text)
    words_in_names = {word for run in runs for word in run.words[run.begins_sentence :]}
    names = [name for run in runs if (name := _read_name(run, lower_case_words, words_in_names))]
    longer = _longer_names({words for _, _, words in names})
    return [Occurrence(begin, end, " ".join(longer.get(words, words))) for begin, end, words in names]


def _find_capitalised_runs(text: str) -> tuple[set[str], list[_CapitalisedRun]]:
    """Return the lower-case words of a text, and its runs of capitalised words."""
    lower_case_words: set[str] = set()
    runs: list[_CapitalisedRun] = []
    run: _CapitalisedRun | None = None
    end = 0
    for word in _WORD.finditer(text):
        gap = text[end : word.start()]
        is_field = "\n" in gap and text[word.end() : word.end() + 1] == ":"
        if run is not None and (is_field or not run.can_continue(text, gap)):
            run = None
        if word[0][0].isupper() or word[0][0].istitle():
            if run is None:
                run = _CapitalisedRun(not end or is_field or bool(_SENTENCE_END.search(gap)))
                runs.append(run)
            run.add(word)
        else:
            lower_case_words.add(word[0].lower())
            if run is not None and word[0] in _PARTICLE_WORDS and len(run.particles) < _MAX_PARTICLES:
                run.particles.append(word)
            else:
                run = None
        end = word.end()
    return lower_case_words, runs


def _read_name(
    run: _CapitalisedRun, lower_case_words: set[str], words_in_names: set[str]
) -> tuple[int, int, Name] | None:
    """Return the start, end and words of the name in a run, or None if the run has no name."""
    first = int(run.begins_sentence and not _begins_name(run, lower_case_words, words_in_names))
    while first < len(run.words) and run.words[first].lower() in COMMON_WORDS:
        first += 1
    words = tuple(run.words[first:])
    all_capitals = len(words) > 2 and all(word.isupper() for word in words)
    is_initial = len(words) == 1 and len(words[0]) == 1
    if not words or len(words) > _MAX_NAME_WORDS or all_capitals or is_initial:
        return None
    return run.spans[first][0], run.spans[-1][1], words


def _begins_name(run: _CapitalisedRun, lower_case_words: set[str], words_in_names: set[str]) -> bool:
    """Return whether the first word of a run, which begins a sentence, belongs to a name."""
    word = run.words[0]
    is_acronym = 1 < len(word) <= _MAX_NAME_WORDS and word.isupper()
    return word.lower() not in lower_case_words and (len(run.words) > 1 or word in words_in_names or is_acronym)


def _longer_names(names: set[Name]) -> dict[Name, Name]:
    """Map each name to the longer name that it is part of, if there is only one.

    If the longer names contain each other, only the longest one counts.
    """
    longer: defaultdict[Name, set[Name]] = defaultdict(set)
    for name in names:
        for part in names.intersection(_shorter_runs(name)):
            longer[part].add(name)
    outermost = {
        part: wholes - {p for whole in wholes for p in _shorter_runs(whole)} for part, wholes in longer.items()
    }
    return {part: next(iter(wholes)) for part, wholes in outermost.items() if len(wholes) == 1}


def _shorter_runs(name: Sequence[str]) -> Iterator[Name]:
    """Yield all shorter runs of the words of a name."""
    for size in range(1, len(name)):
        for start in range(len(name) - size + 1):
            yield tuple(name[start : start + size])
