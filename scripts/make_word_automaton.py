"""Writes simdoc_search/analysis/word_automaton.txt: the word grammar as a table of states.

The patterns of `word_grammar` become a nondeterministic automaton (Thompson 1968), then a deterministic one, then the
smallest one (Moore 1956). Character classes that no state distinguishes share a symbol.

    python scripts/make_word_automaton.py > simdoc_search/analysis/word_automaton.txt
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from simdoc_search.analysis.word_automaton import Automaton
from simdoc_search.analysis.word_grammar import character_classes, rules

_NONE: frozenset[int] = frozenset()


def main() -> None:
    """Print the symbol of each character class, the first accepting state, and for each state the next states."""
    automaton = compile_grammar()
    for line in (automaton.symbols, (automaton.first_accepting_state,), *automaton.transitions):
        print(*line)


def compile_grammar() -> Automaton:
    """Return the automaton of all rules together. The longest match counts."""
    nodes, start, end = _Parser.parse_all(rules())
    return _numbered(*_minimal(*_deterministic(nodes, start, end, len(character_classes().properties))))


# --- patterns to a nondeterministic automaton ---


@dataclass(slots=True)
class _Nodes:
    """A nondeterministic automaton.

    Attributes:
        steps: node -> pairs of character classes and the node that they lead to.
        jumps: node -> pairs of classes and a node that is reached without a character. If there are classes, the last
            character must be of one of them.
    """

    steps: list[list[tuple[frozenset[int], int]]] = field(default_factory=list)
    jumps: list[list[tuple[frozenset[int], int]]] = field(default_factory=list)

    def add(self) -> int:
        self.steps.append([])
        self.jumps.append([])
        return len(self.steps) - 1

    def join(self, start: int, end: int, after: frozenset[int] = _NONE) -> None:
        self.jumps[start].append((after, end))


class _Parser:
    """Parses a pattern of sets `[...]`, groups, `|`, `*`, `+`, `?`, `(?!set)` before a set, and `(?<=set)`."""

    def __init__(self, pattern: bytes, nodes: _Nodes) -> None:
        self._rest = pattern
        self._nodes = nodes
        self._excluded = _NONE  # from the next set

    @classmethod
    def parse_all(cls, patterns: Iterable[bytes]) -> tuple[_Nodes, int, int]:
        """The automaton of all patterns, its start and its end."""
        nodes = _Nodes()
        start, end = nodes.add(), nodes.add()
        for pattern in patterns:
            parser = cls(pattern, nodes)
            first, last = parser._alternatives()
            parser._require(not parser._rest)
            nodes.join(start, first)
            nodes.join(last, end)
        return nodes, start, end

    def _alternatives(self) -> tuple[int, int]:
        start, end = self._nodes.add(), self._nodes.add()
        while True:
            first, last = self._sequence()
            self._nodes.join(start, first)
            self._nodes.join(last, end)
            if not self._take(b"|"):
                return start, end

    def _sequence(self) -> tuple[int, int]:
        start = end = self._nodes.add()
        while self._rest and self._rest[:1] not in (b"|", b")"):
            first, last = self._repeated(*self._atom())
            self._nodes.join(end, first)
            end = last
        return start, end

    def _repeated(self, first: int, last: int) -> tuple[int, int]:
        sign = next((sign for sign in (b"*", b"+", b"?") if self._take(sign)), b"")
        if not sign:
            return first, last
        start, end = self._nodes.add(), self._nodes.add()
        self._nodes.join(start, first)
        self._nodes.join(last, end)
        if sign != b"?":
            self._nodes.join(last, first)
        if sign != b"+":
            self._nodes.join(start, end)
        return start, end

    def _atom(self) -> tuple[int, int]:
        start, end = self._nodes.add(), self._nodes.add()
        if self._take(b"(?!"):
            self._excluded = self._set()
            self._nodes.join(start, end)
        elif self._take(b"(?<="):
            self._nodes.join(start, end, self._set())
        elif self._take(b"(?:"):
            start, end = self._alternatives()
        else:
            self._nodes.steps[start].append((self._set() - self._excluded, end))
            self._excluded = _NONE
            return start, end
        self._require(self._take(b")"))
        return start, end

    def _set(self) -> frozenset[int]:
        self._require(self._take(b"["))
        members = set()
        while not self._take(b"]"):
            self._take(b"\\")
            members.add(self._rest[0])
            self._rest = self._rest[1:]
        return frozenset(members)

    def _require(self, is_valid: bool) -> None:
        if not is_valid:
            raise ValueError(f"cannot parse the pattern at {self._rest!r}")

    def _take(self, sign: bytes) -> bool:
        if not self._rest.startswith(sign):
            return False
        self._rest = self._rest[len(sign) :]
        return True


# --- to a deterministic automaton, and to the smallest one ---

_Table = tuple[list[list[int]], list[bool]]
"""For each state the next states by character class, and whether it accepts."""


def _deterministic(nodes: _Nodes, start: int, end: int, class_count: int) -> _Table:
    sets = {_NONE: 0, _closure(nodes, {start}, None): 1}
    table: list[list[int]] = []
    while len(table) < len(sets):
        state = list(sets)[len(table)]
        row = []
        for number in range(class_count):
            goals = {goal for node in state for chosen, goal in nodes.steps[node] if number in chosen}
            row.append(sets.setdefault(_closure(nodes, goals, number), len(sets)))
        table.append(row)
    return table, [end in state for state in sets]


def _closure(nodes: _Nodes, starts: set[int], last_class: int | None) -> frozenset[int]:
    """All nodes that are reached without a character, after a character of this class."""
    reached, waiting = set(starts), list(starts)
    while waiting:
        for after, goal in nodes.jumps[waiting.pop()]:
            if goal not in reached and (not after or last_class in after):
                reached.add(goal)
                waiting.append(goal)
    return frozenset(reached)


def _minimal(table: list[list[int]], accepts: list[bool]) -> _Table:
    """Merge the states that the same words lead on from."""
    groups = [int(accepting) for accepting in accepts]
    while True:
        numbers: dict[tuple[int, ...], int] = {}
        split = [
            numbers.setdefault((group, *(groups[goal] for goal in row)), len(numbers))
            for group, row in zip(groups, table, strict=True)
        ]
        if len(numbers) == len(set(groups)):
            break
        groups = split
    first = [split.index(number) for number in range(len(numbers))]
    return [[split[goal] for goal in table[state]] for state in first], [accepts[state] for state in first]


def _numbered(table: list[list[int]], accepts: list[bool]) -> Automaton:
    """Put accepting states last, and equal columns together."""
    order = sorted(range(len(table)), key=accepts.__getitem__)
    place = {state: number for number, state in enumerate(order)}
    columns = [tuple(place[table[state][number]] for state in order) for number in range(len(table[0]))]
    distinct = list(dict.fromkeys(columns))
    symbols = tuple(distinct.index(column) for column in columns)
    return Automaton(symbols, tuple(zip(*distinct, strict=True)), accepts.count(False))


if __name__ == "__main__":
    main()
