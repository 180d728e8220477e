"""Which documents may overlap enough? Asked from the engine that has them, so that their tokens need not fit in here.

Of each set of documents of the same words one is asked about: all tokens of one of some bands of it are in a document
that is wanted, or of a short one so many tokens of all. It asks for those that have more shingles than itself, so that
no pair is asked for twice. Of two documents of the overlap, of which the longer one is no less like the shorter than
their overlap says, it finds the other with a probability of 99 % or more.

Of one that finds more than `LIMIT` the longest so many are looked at. Who is near to some of these is, if no other one
takes it, at last joined with the other ones of which that is true, in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.bands import SHORT
from simdoc_search.duplicates.buffers import TokenBuffer
from simdoc_search.duplicates.checkpoint import ASKED, LATE, Checkpoint, Flood
from simdoc_search.duplicates.collection import TOKEN_BYTES, Documents, content_key
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import Joined, join
from simdoc_search.duplicates.table import Ints, Table
from simdoc_search.query.planner import plan, rows_and_bands_of_enough
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.point_in_time import Found, Frozen, Question
from simdoc_search.stores.record import Record

RECALL = Fraction(99, 100)
"""How likely the engine finds a document of just the overlap; for 99.9 % it would be asked half as many bands more."""

LIMIT = 64
"""Documents that are looked at for each one."""

AT_ONCE = 32
"""Documents that are asked about in one request."""

_Asked = tuple[int, Record]


class EnginePairs:
    """What `join` finds, for documents whose tokens are not held: called first with all of them, then with some.

    Args:
        frozen: the store.
        documents: those of it, without their tokens.
        measure: what overlap means, and how much of it is asked for.
        token_length: characters of a token.
        checkpoint: what is done already.

    Attributes:
        limit: up to how many that look alike are compared all with all.
    """

    limit = LIMIT

    def __init__(
        self, frozen: Frozen, documents: Documents, measure: Measure, token_length: int, checkpoint: Checkpoint
    ) -> None:
        self._frozen = frozen
        self._documents = documents
        self._table = documents.table
        self._measure = measure
        self._token_length = token_length
        self._checkpoint = checkpoint
        self._keys = self._numbers = np.zeros(0, np.int64)
        self._is_asked = False

    def __call__(self, who: Ints, *, known: tuple[Ints, Ints], progress: Callable[[float], None]) -> Joined:
        """The pairs among some documents that may overlap enough; see `join`."""
        if self._is_asked:
            return self._joined(who, known, progress)
        self._is_asked = True
        keys = self._documents.keys[who]
        order = np.argsort(keys)
        self._keys, self._numbers = keys[order], who[order]
        looked_at = self._ask_all(who, progress)
        first, second, estimates = self._checkpoint.pairs()
        a, b = self._numbers_of(first), self._numbers_of(second)
        order = np.lexsort((np.maximum(a, b), np.minimum(a, b)))
        first, second = np.minimum(a, b)[order], np.maximum(a, b)[order]
        floods = [(self._number_of(key), missed) for key, missed, _ in self._checkpoint.floods()]
        flooded = np.array(sorted(number for number, _ in floods), np.int64)
        return Joined(first, second, estimates[order], looked_at, flooded, sum(missed for _, missed in floods))

    def _ask_all(self, who: Ints, progress: Callable[[float], None]) -> int:
        """Ask about each of some documents that is not done yet.

        Returns:
            How many pairs were looked at.
        """
        states = np.full(len(self._table.counts), ASKED)
        states[who] = self._checkpoint.begin(self._documents.keys[who])
        has_tokens = who[self._table.counts[who] > 0]
        late, done = states == LATE, int((states[has_tokens] == ASKED).sum())
        looked_at = 0
        to_do = self._to_do(states)
        while some := list(islice(to_do, AT_ONCE)):
            questions = [self._question(number, record, bool(late[number])) for number, record in some]
            answers = self._frozen.ask(questions, size=LIMIT + 1, once=self._documents.hashed)
            looked_at += self._note(some, answers, late)
            done += len(some)
            progress(done / max(1, len(has_tokens)))
        progress(1.0)
        return looked_at

    def _to_do(self, states: Ints) -> Iterator[_Asked]:
        """The documents that are to be asked about, as the store gives them; of the same words one."""
        for record in self._frozen.records():
            number = self._number_of(content_key(record)) if len(record.codes) else -1
            if number >= 0 and states[number] != ASKED:
                states[number] = ASKED
                yield number, record

    def _question(self, number: int, record: Record, is_late: bool) -> Question:
        planned, shingles = self._measure.planned, int(self._table.shingles[number])
        least = math.ceil(shingles * planned) if is_late else shingles
        sizes = (least, math.floor(shingles / planned)) if self._documents.sized else None
        return Question(_planned(encode(record.codes, self._token_length), planned), sizes)

    def _note(self, some: list[_Asked], answers: list[Found], late: NDArray[np.bool_]) -> int:
        """Note the pairs of some documents with those that were found for them.

        Returns:
            How many pairs were looked at.
        """
        numbers, records, of, other = self._pairs_of(some, answers, late)
        whole = self._table
        shingles = whole.shingles[numbers]
        table = Table.of([each.codes for each in records], shingles, whole.bits, whole.buckets)
        swapped = numbers[of] > numbers[other]
        first, second = np.where(swapped, other, of), np.where(swapped, of, other)
        fit = self._measure.sizes_fit(table, first, second)
        of, other, first, second = of[fit], other[fit], first[fit], second[fit]
        estimates, stay = self._measure.estimates(table, first, second)
        of, other = of[stay], other[stay]
        keys = self._documents.keys[numbers]
        self._checkpoint.note(
            keys[: len(some)].tolist(),
            zip(keys[of].tolist(), keys[other].tolist(), estimates[stay].tolist(), strict=True),
            _floods(answers, keys, records, of, other),
        )
        return len(first)

    def _pairs_of(
        self, some: list[_Asked], answers: list[Found], late: NDArray[np.bool_]
    ) -> tuple[Ints, list[Record], Ints, Ints]:
        """Documents and pairs of them.

        Returns:
            The numbers and records of those that were asked about, and then of those that were found; and for each pair
            the place of its documents among them.
        """
        numbers, records = [number for number, _ in some], [record for _, record in some]
        of, other = [], []
        for at, answer in enumerate(answers):
            seen = {-1, numbers[at]}
            for record in answer.records:
                number = self._number_of(content_key(record)) if len(record.codes) else -1
                if number not in seen and (late[numbers[at]] or self._is_longer(number, numbers[at])):
                    of.append(at)
                    other.append(len(numbers))
                    numbers.append(number)
                    records.append(record)
                seen.add(number)
        return np.array(numbers, np.int64), records, np.array(of, np.int64), np.array(other, np.int64)

    def _is_longer(self, number: int, than: int) -> bool:
        """Whether a document is asked for by another one, and not the other way round."""
        shingles, keys = self._table.shingles, self._documents.keys  # keys are the same in the next run
        return bool((shingles[number], keys[number]) > (shingles[than], keys[than]))

    def _joined(self, who: Ints, known: tuple[Ints, Ints], progress: Callable[[float], None]) -> Joined:
        """The pairs among documents of floods, whose tokens were noted."""
        tokens, missed_by_them = TokenBuffer(TOKEN_BYTES), 0
        counts, begins = (np.zeros(len(self._table.counts), np.int64) for _ in range(2))
        wanted, end = set(who.tolist()), 0
        for key, missed, codes in self._checkpoint.floods():
            if (number := self._number_of(key)) in wanted:
                tokens.append(np.frombuffer(codes, np.uint32))
                begins[number], counts[number] = end, len(codes) // 4
                end += len(codes) // 4
                missed_by_them += missed
        table = replace(self._table, codes=tokens.read(), begins=begins, counts=counts)
        joined = join(table, who, self._measure, known=known, progress=progress)
        return replace(joined, left_over=joined.left_over + missed_by_them)

    def _number_of(self, key: int) -> int:
        """The document with a key; -1 if none of ours has it."""
        at = int(np.searchsorted(self._keys, key))
        return int(self._numbers[at]) if at < len(self._keys) and self._keys[at] == key else -1

    def _numbers_of(self, keys: Ints) -> Ints:
        """Those with some keys, of which each is one of ours."""
        return self._numbers[np.searchsorted(self._keys, keys)]


def _planned(tokens: list[str], overlap: Fraction) -> Plan:
    """What finds a document of the overlap with 99 % at least: bands; where they had one row, as many tokens."""
    rows, _ = rows_and_bands_of_enough(len(tokens), overlap, RECALL)
    return plan(tokens, overlap, RECALL) if rows > 1 and len(tokens) > SHORT else plan(tokens, overlap, verified=True)


def _floods(answers: list[Found], keys: Ints, records: list[Record], of: Ints, other: Ints) -> Iterator[Flood]:
    """Who found too many, and who of these is near to it; nothing is missed of one that is near to any."""
    for at, answer in enumerate(answers):
        if answer.left_over:
            near = other[of == at].tolist()
            for each in (at, *near):
                missed = 0 if near else answer.left_over
                yield int(keys[each]), missed, records[each].codes.tobytes()
