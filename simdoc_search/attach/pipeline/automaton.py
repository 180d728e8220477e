"""The rules of the word grammar as one table of states, which a language without regular expressions can run.

The patterns of `word_grammar` become a nondeterministic automaton (Thompson 1968), that a deterministic one (sets of
its states), and that the smallest one (Moore 1956); classes of characters that no state tells apart are one symbol.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

from simdoc_search.analysis.word_grammar import classes, rules

_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Automaton:
    """States 0 (no word can come of this any more), 1 (the beginning) and so on; the accepting ones are the last.

    Attributes:
        symbols: class of a character -> its symbol; a class that is in no word has the symbol 0.
        next: state -> symbol -> the state after it.
        accepting: the first accepting state: what was read so far is a word.
    """

    symbols: tuple[int, ...]
    next: tuple[tuple[int, ...], ...]
    accepting: int


@functools.cache
def word_automaton() -> Automaton:
    """That of all rules together; the longest match counts."""
    return _numbered(*_smallest(*_deterministic(_Parser.alternatives(rules()), len(classes().properties))))


# --- patterns to a nondeterministic automaton ---


@dataclass(slots=True)
class _Nodes:
    """A nondeterministic automaton.

    Attributes:
        steps: node -> the classes that lead on from it, and where to.
        jumps: node -> nodes that it is as well: always, or (not empty) only after one of some classes.
    """

    steps: list[list[tuple[frozenset[int], int]]] = field(default_factory=list)
    jumps: list[list[tuple[frozenset[int], int]]] = field(default_factory=list)

    def new(self) -> int:
        self.steps.append([])
        self.jumps.append([])
        return len(self.steps) - 1

    def join(self, start: int, end: int, after: frozenset[int] = _NONE) -> None:
        self.jumps[start].append((after, end))


class _Parser:
    """Reads a pattern: sets `[...]`, groups, `|`, `*`, `+`, `?`, `(?!set)` before a set, `(?<=set)`."""

    def __init__(self, pattern: bytes, nodes: _Nodes) -> None:
        self._rest = pattern
        self._nodes = nodes
        self._without = _NONE  # what the next set may not be

    @classmethod
    def alternatives(cls, patterns: Iterable[bytes]) -> tuple[_Nodes, int, int]:
        """The automaton of all patterns, where it begins and where it ends."""
        nodes = _Nodes()
        start, end = nodes.new(), nodes.new()
        for pattern in patterns:
            parser = cls(pattern, nodes)
            first, last = parser._either()
            parser._need(not parser._rest)
            nodes.join(start, first)
            nodes.join(last, end)
        return nodes, start, end

    def _either(self) -> tuple[int, int]:
        start, end = self._nodes.new(), self._nodes.new()
        while True:
            first, last = self._sequence()
            self._nodes.join(start, first)
            self._nodes.join(last, end)
            if not self._takes(b"|"):
                return start, end

    def _sequence(self) -> tuple[int, int]:
        start = end = self._nodes.new()
        while self._rest and self._rest[:1] not in (b"|", b")"):
            first, last = self._repeated(*self._atom())
            self._nodes.join(end, first)
            end = last
        return start, end

    def _repeated(self, first: int, last: int) -> tuple[int, int]:
        sign = next((each for each in (b"*", b"+", b"?") if self._takes(each)), b"")
        if not sign:
            return first, last
        start, end = self._nodes.new(), self._nodes.new()
        self._nodes.join(start, first)
        self._nodes.join(last, end)
        if sign != b"?":
            self._nodes.join(last, first)
        if sign != b"+":
            self._nodes.join(start, end)
        return start, end

    def _atom(self) -> tuple[int, int]:
        start, end = self._nodes.new(), self._nodes.new()
        if self._takes(b"(?!"):
            self._without = self._set()
            self._nodes.join(start, end)
        elif self._takes(b"(?<="):
            self._nodes.join(start, end, self._set())
        elif self._takes(b"(?:"):
            start, end = self._either()
        else:
            self._nodes.steps[start].append((self._set() - self._without, end))
            self._without = _NONE
            return start, end
        self._need(self._takes(b")"))
        return start, end

    def _set(self) -> frozenset[int]:
        self._need(self._takes(b"["))
        found = set()
        while not self._takes(b"]"):
            self._takes(b"\\")
            found.add(self._rest[0])
            self._rest = self._rest[1:]
        return frozenset(found)

    def _need(self, is_so: bool) -> None:
        if not is_so:
            raise ValueError(f"a pattern of another form than ours: {self._rest!r}")

    def _takes(self, sign: bytes) -> bool:
        if not self._rest.startswith(sign):
            return False
        self._rest = self._rest[len(sign) :]
        return True


# --- to a deterministic one, to the smallest one ---

_Table = tuple[list[list[int]], list[bool]]


def _deterministic(automaton: tuple[_Nodes, int, int], count: int) -> _Table:
    """For each state the next one by class, and whether it accepts; state 0 leads nowhere, 1 is the beginning."""
    nodes, start, end = automaton
    sets = {_NONE: 0, _closed(nodes, {start}, None): 1}
    table: list[list[int]] = []
    while len(table) < len(sets):
        here = list(sets)[len(table)]
        row = []
        for each in range(count):
            moved = {goal for node in here for chosen, goal in nodes.steps[node] if each in chosen}
            row.append(sets.setdefault(_closed(nodes, moved, each), len(sets)))
        table.append(row)
    return table, [end in each for each in sets]


def _closed(nodes: _Nodes, some: set[int], last: int | None) -> frozenset[int]:
    """All nodes that these are as well, `last` being the class of the character before."""
    found, waiting = set(some), list(some)
    while waiting:
        for after, goal in nodes.jumps[waiting.pop()]:
            if goal not in found and (not after or last in after):
                found.add(goal)
                waiting.append(goal)
    return frozenset(found)


def _smallest(table: list[list[int]], accepts: list[bool]) -> _Table:
    """The same with states merged from which the same words lead on."""
    kinds = [int(each) for each in accepts]
    while True:
        seen: dict[tuple[int, ...], int] = {}
        split = [
            seen.setdefault((kind, *(kinds[goal] for goal in row)), len(seen))
            for kind, row in zip(kinds, table, strict=True)
        ]
        if len(seen) == len(set(kinds)):
            break
        kinds = split
    first = [split.index(each) for each in range(len(seen))]
    return [[split[goal] for goal in table[each]] for each in first], [accepts[each] for each in first]


def _numbered(table: list[list[int]], accepts: list[bool]) -> Automaton:
    """Accepting states last, equal columns once."""
    order = sorted(range(len(table)), key=accepts.__getitem__)
    place = {state: number for number, state in enumerate(order)}
    columns = [tuple(place[table[state][each]] for state in order) for each in range(len(table[0]))]
    distinct = list(dict.fromkeys(columns))
    symbols = tuple(distinct.index(column) for column in columns)
    return Automaton(symbols, tuple(zip(*distinct, strict=True)), accepts.count(False))
