r"""Words that count as others, from a file in the format of Solr, or of WordNet's prolog.

Solr: `a, b => c` makes each of `a` and `b` count as `c`; of `a, b, c` all count as the first. Names may have several
words; `#` begins a comment, and `\` takes the next sign as it is. Where several are given on the right, the first is
meant: a concept is counted once.

WordNet: `s(100000001,1,'entity',n,1,11).` says of a word that it stands in a set; `''` is an apostrophe in it. A word
that stands in several sets counts as the first word of the first.

Source: `SolrSynonymParser` and `WordnetSynonymParser` of Apache Lucene.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import slices, word_batch
from simdoc_search.concepts.errors import ConceptsError
from simdoc_search.small_files import read_small

_PROLOG = re.compile(r"s\((\d+),\d+,'([^']*(?:''[^']*)*)',[a-z],\d+,\d+\)\.\s*")
_PROLOG_BEGINS = re.compile(r"\s*s\(")
_COMMA = re.compile(r"(?<!\\)((?:\\\\)*),")
_ARROW = re.compile(r"(?<!\\)((?:\\\\)*)=>")
_ESCAPED = re.compile(r"\\(.)")
_MAX_BYTES = 16 << 20  # WordNet's own file has 8 million bytes
_AT_ONCE = 10_000
_CHECK_DIGITS = 6

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Synonyms:
    """What counts as what.

    Attributes:
        meant: normalised words to the words that they count as, which count as nothing else; names of several words
            that others count as also as themselves.
        check: 6 hexadecimal digits that change with them.
    """

    meant: dict[Words, Words]
    check: str = field(init=False)
    _longest: int = field(init=False)

    def __post_init__(self) -> None:
        lines = sorted(f"{' '.join(words)}=>{' '.join(meant)}" for words, meant in self.meant.items())
        digest = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
        object.__setattr__(self, "check", digest[:_CHECK_DIGITS])
        object.__setattr__(self, "_longest", max(map(len, self.meant), default=0))

    def applied(self, words: Sequence[str]) -> list[str]:
        """The words of a concept, each run of them that counts as something else as that; the longest runs first."""
        return [word for _, meant in self.runs(words) for word in meant]

    def runs(self, words: Sequence[str]) -> Iterator[tuple[Words, Words]]:
        """The runs of the words of a concept, each with what it counts as; a word without a synonym is a run."""
        at = 0
        while at < len(words):
            sizes = range(min(self._longest, len(words) - at), 0, -1)
            size = next((size for size in sizes if tuple(words[at : at + size]) in self.meant), 1)
            run = tuple(words[at : at + size])
            yield run, self.meant.get(run, run)
            at += size


def read_synonyms(path: str | Path) -> Synonyms:
    """The synonyms of a file, by its content in the one format or the other.

    Raises:
        ConceptsError: it cannot be read, or a line is of neither format; the message names the line.
    """
    try:
        text = read_small(path, _MAX_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise ConceptsError(f"cannot read the synonyms {path}: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise ConceptsError(f"the synonyms {path} are not UTF-8; save the file as such") from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith(("#", "%"))), "")
    groups = _prolog(path, lines) if _PROLOG_BEGINS.match(first) else _solr(path, lines)
    return Synonyms(_resolved(_normalised(list(groups))))


_Group = tuple[list[str], str]
"""Names, and the one that they count as."""


def _solr(path: str | Path, lines: Sequence[str]) -> Iterator[_Group]:
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        sides = [_names(side) for side in (_split(_ARROW, line) if "=>" in line else [line])]
        if len(sides) > 2:
            raise _wrong(path, number, "has more than one =>; write one rule a line")
        if any(not each for side in sides for each in side):
            raise _wrong(path, number, "has an empty name; write `a, b => c` or `a, b, c`")
        yield sides[0], sides[-1][0]


def _names(side: str) -> list[str]:
    if "\\" not in side:
        return [each.strip() for each in side.split(",")]
    return [_ESCAPED.sub(r"\1", each.strip()) for each in _split(_COMMA, side)]


def _split(sign: re.Pattern[str], line: str) -> list[str]:
    """The parts between signs that no backslash stands before; an even number of these stands for itself."""
    parts, begin = [], 0
    for found in sign.finditer(line):
        parts.append(line[begin : found.end(1)])
        begin = found.end()
    return [*parts, line[begin:]]


def _prolog(path: str | Path, lines: Sequence[str]) -> Iterator[_Group]:
    sets: defaultdict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("%"):
            continue
        found = _PROLOG.fullmatch(line.strip())
        if found is None:
            raise _wrong(path, number, "is not like s(100000001,1,'entity',n,1,11).; write it so, or take it out")
        sets[found[1]].append(found[2].replace("''", "'").replace("_", " "))
    return ((names, names[0]) for names in sets.values())


def _wrong(path: str | Path, number: int, what: str) -> ConceptsError:
    return ConceptsError(f"line {number:,} of the synonyms {path} {what}")


def _normalised(groups: Sequence[_Group]) -> Iterator[tuple[Words, Words]]:
    """Each name with what it counts as, both as normalised words; what has none is left out."""
    names = list(dict.fromkeys(name for some, meant in groups for name in (*some, meant)))
    words: dict[str, Words] = {}
    for at in range(0, len(names), _AT_ONCE):
        part = names[at : at + _AT_ONCE]
        batch = word_batch(part, Analysis())
        every = iter(slices(batch.units, batch.starts, batch.ends))
        for name, count in zip(part, batch.counts.tolist(), strict=True):
            words[name] = tuple(next(every) for _ in range(count))
    for some, meant in groups:
        yield from ((words[name], words[meant]) for name in some if words[name] and words[meant])


def _resolved(pairs: Iterable[tuple[Words, Words]]) -> dict[Words, Words]:
    """What each counts as in the end, and what that is of several words as itself, so that it is left whole.

    Of two rules for one the first holds. Of rules in a circle all of it counts as the first by the alphabet.
    """
    rules: dict[Words, Words] = {}
    for words, meant in pairs:
        rules.setdefault(words, meant)
    ends = {meant: meant for words, meant in rules.items() if rules.get(meant, meant) == meant}
    for words in rules:
        way: list[Words] = []
        at, seen = words, set[Words]()
        while at not in ends and at not in seen:
            seen.add(at)
            way.append(at)
            at = rules[at]
        end = ends[at] if at in ends else min(way[way.index(at) :])
        ends.update(dict.fromkeys(way, end))
    return {words: end for words, end in ends.items() if words != end or len(words) > 1}
