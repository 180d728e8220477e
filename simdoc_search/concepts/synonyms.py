r"""Reads synonyms from a file in the format of Solr.

`a, b => c` replaces `a` and `b` with `c`. `a, b, c` replaces `b` and `c` with `a`. A term may have several words. A
line that begins with `#` is a comment, and `\` escapes the next character. If there are several terms on the right,
only the first is used, because a concept must not be counted twice.

Source: `SolrSynonymParser` of Apache Lucene.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simdoc_search.analysis.words import words_of_texts
from simdoc_search.concepts.finder import ConceptsError
from simdoc_search.small_files import read_small_file

_TERM = re.compile(r"((?:\\.|[^\\,=]|=(?!>))*)(,|=>|$)")
_ESCAPED_CHARACTER = re.compile(r"\\(.)")
_MAX_BYTES = 16 << 20
_CHECKSUM_DIGITS = 6

Words = tuple[str, ...]

_Rule = tuple[list[str], str]
"""The terms to replace, and their replacement."""


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Terms and their replacements.

    Attributes:
        replacements: maps normalised words to the words that replace them. Words are replaced only once. A replacement
            of several words is also mapped to itself, so that its words are not replaced one by one.
        checksum: checksum of the replacements, 6 hexadecimal digits.
    """

    replacements: dict[Words, Words]
    checksum: str = field(init=False)
    _max_term_words: int = field(init=False)

    def __post_init__(self) -> None:
        lines = sorted(f"{' '.join(words)}=>{' '.join(synonym)}" for words, synonym in self.replacements.items())
        digest = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
        object.__setattr__(self, "checksum", digest[:_CHECKSUM_DIGITS])
        object.__setattr__(self, "_max_term_words", max(map(len, self.replacements), default=0))

    def split_into_runs(self, words: Sequence[str]) -> Iterator[tuple[Words, Words]]:
        """Cut the words of a concept into the longest runs with a replacement.

        Yield each run and its replacement. The replacement of a run without a rule is the run itself.
        """
        start = 0
        while start < len(words):
            sizes = range(min(self._max_term_words, len(words) - start), 0, -1)
            size = next((size for size in sizes if tuple(words[start : start + size]) in self.replacements), 1)
            run = tuple(words[start : start + size])
            yield run, self.replacements.get(run, run)
            start += size


def read_synonyms(path: str | Path) -> Synonyms:
    """Return the synonyms in a file.

    Raises:
        ConceptsError: the file cannot be read, or a line is malformed; the message names the line.
    """
    try:
        text = read_small_file(path, _MAX_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise ConceptsError(f"cannot read the synonym file {path}: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise ConceptsError(f"the synonym file {path} is not in UTF-8; save it as UTF-8") from None
    return Synonyms(_resolve_chains(_normalise_rules(list(_parse_rules(path, text)))))


def _parse_rules(path: str | Path, text: str) -> Iterator[_Rule]:
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        sides: list[list[str]] = [[]]
        for name, separator in _TERM.findall(line):
            sides[-1].append(_ESCAPED_CHARACTER.sub(r"\1", name.strip()))
            if separator == "=>":
                sides.append([])
            elif not separator:
                break
        line_number = f"line {number:,} of the synonym file {path}"
        if len(sides) > 2:
            raise ConceptsError(f"{line_number} has more than one =>; write one rule per line")
        if not all(name for side in sides for name in side):
            raise ConceptsError(f"{line_number} has an empty term; write `a, b => c` or `a, b, c`")
        yield sides[0], sides[-1][0]


def _normalise_rules(rules: Sequence[_Rule]) -> Iterator[tuple[Words, Words]]:
    """Yield each term and its replacement, both as normalised words. Terms without words are omitted."""
    names = list(dict.fromkeys(name for left, replacement in rules for name in (*left, replacement)))
    words = dict(zip(names, map(tuple, words_of_texts(names)), strict=True))
    for left, replacement in rules:
        yield from ((words[name], words[replacement]) for name in left if words[name] and words[replacement])


def _resolve_chains(pairs: Iterable[tuple[Words, Words]]) -> dict[Words, Words]:
    """Map each term to the end of its chain of rules. A replacement of several words is also mapped to itself.

    If a term has several rules, the first rule is used. All terms in a cycle are replaced with the first term in
    alphabetical order.
    """
    rules: dict[Words, Words] = {}
    for words, replacement in pairs:
        rules.setdefault(words, replacement)
    ends = {name: name for name in rules.values() if rules.get(name, name) == name}
    for words in rules:
        chain: dict[Words, None] = {}
        current = words
        while current not in ends and current not in chain:
            chain[current] = None
            current = rules[current]
        end = ends[current] if current in ends else min(list(chain)[list(chain).index(current) :])
        ends.update(dict.fromkeys(chain, end))
    return {words: end for words, end in ends.items() if words != end or len(words) > 1}
