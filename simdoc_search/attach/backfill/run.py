"""A backfill: index after index, round after round, until every document has its fingerprint."""

from __future__ import annotations

import math
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, NoReturn

from simdoc_search.attach.backfill import queries
from simdoc_search.attach.backfill.guarded_writer import Writer, wanted_source
from simdoc_search.attach.backfill.rounds import Pace, Rounds
from simdoc_search.attach.backfill.seq_nos import Span, remember, shards_of, span_of, work_in
from simdoc_search.attach.backfill.targets import Target, add_mapping, find_targets, maximum
from simdoc_search.attach.backfill.task import BackfillReport, SkippedIndex, Task, UnfitIndexError
from simdoc_search.errors import StoreError, StoreNotFoundError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.point_in_time import open_point_in_time

RENEWED_AFTER = 50_000
"""Documents after which the engine may let go of what it was at the start; merged segments are freed by that."""

CATCH_UP = 3
"""Rounds for what others write meanwhile; after that `watch` is for it."""

POLL, LAG = 5.0, 60.0
"""Seconds between two looks at what changed, and how late a change may be seen."""

Progress = Callable[[int, int], None]
"""Called with the documents that are done, and how many there were to do at the start."""

_LOST = "search_context_missing_exception"
_UNFIT = frozenset({"index_closed_exception", "cluster_block_exception"})


class Backfill:
    """One backfill.

    Args:
        engine: where the indices are.
        index: the name of an index, an alias or a data stream.
        task: what is to be done.
        progress: told what is done.

    Attributes:
        report: what was done so far.
    """

    def __init__(self, engine: Engine, index: str, task: Task, progress: Progress | None = None) -> None:
        self.report: BackfillReport = BackfillReport()
        self._engine = engine.in_background()
        self._index = index
        self._task = task
        self._progress = progress
        self._pace = Pace(task.throttle)
        self._began = time.monotonic()
        self._total = 0
        self._newest: dict[str, deque[tuple[float, Any]]] = defaultdict(deque)  # by index: when it was seen, and it

    def run(self) -> BackfillReport:
        """Do what is to be done now.

        A run that was interrupted, or killed, is completed by another one.

        Raises:
            StoreNotFoundError: there is no such index.
            StoreUnavailableError: the engine does not answer.
            StoreError: it refuses.
        """
        with self._rounds() as rounds:
            self._run(rounds)
        return self.report

    def watch(self, changed_field: str) -> NoReturn:
        """Do what is to be done now, and then what changes, until Ctrl-C.

        Documents without a fingerprint are found in any case. A changed text is found where the application gives
        `changed_field`, a date or a number, a greater value than any before, dates to come aside. A change that
        searches show more than LAG seconds after a later one may be missed.

        Raises:
            StoreError: as `run`, or no document has the field.
        """
        targets = self._targets()
        seen = [self._newest_value(each, changed_field) is not None for each in targets]
        if not any(seen) and any(self._number(each, queries.all_chosen(each, self._task)) for each in targets):
            raise StoreError(f"no document has the field {changed_field}; name a date or a number that changes with it")
        with self._rounds() as rounds:
            self._run(rounds)
            rounds.again_if_changed = True
            while True:
                time.sleep(POLL)
                for target in self._targets():
                    with self._skipped_if_unfit(target):
                        self._look(rounds, target, changed_field)

    def _run(self, rounds: Rounds) -> None:
        targets = self._targets()
        for target in targets:
            with self._skipped_if_unfit(target):
                self._total += sum(self._number(target, each) for each in work_in(self._engine, target, self._task))
        for target in targets:
            with self._skipped_if_unfit(target):
                self._bring_up_to_date(rounds, target)

    def _look(self, rounds: Rounds, target: Target, changed_field: str) -> None:
        """Do what is new or changed since the last look."""
        self._add_mapping(target)
        value = self._newest_value(target, changed_field)
        shards = shards_of(self._engine, target.index, target.shards) if target.has_text is None else None
        seen = self._of_lag_ago(f"{target.index}#", shards.numbers) if shards else None
        self._round(rounds, target, queries.to_do(target, self._task), span=Span(seen) if seen else None)
        if value is not None:
            self._round(rounds, target, queries.changed_since(target, self._task, changed_field, value))

    @contextmanager
    def _rounds(self) -> Iterator[Rounds]:
        """Rounds that count into the report."""
        with closing(Rounds(self._engine, self._pace, self._done)) as rounds:
            try:
                yield rounds
            finally:
                self.report.seconds = time.monotonic() - self._began

    def _done(self, page: BackfillReport) -> None:
        self.report.add(page)
        if self._progress:
            self._progress(self.report.documents, self._total)

    def _targets(self) -> list[Target]:
        targets, skipped = find_targets(self._engine, self._index, self._task)
        for each in skipped:
            self._skip(each)
        notes = [each.note for each in targets if each.note and each.note not in self.report.notes]
        self.report.notes += notes
        return targets

    def _add_mapping(self, target: Target) -> None:
        add_mapping(self._engine, target, self._task.field)

    def _skip(self, skipped: SkippedIndex) -> None:
        if skipped not in self.report.skipped_indices:
            self.report.skipped_indices.append(skipped)

    @contextmanager
    def _skipped_if_unfit(self, target: Target) -> Iterator[None]:
        """An index that was closed, blocked or removed meanwhile costs itself alone."""
        try:
            yield
        except (UnfitIndexError, StoreNotFoundError) as error:
            self._skip(SkippedIndex(target.index, str(error)))
        except RequestError as error:
            if error.kind not in _UNFIT:
                raise
            self._skip(SkippedIndex(target.index, str(error)))

    def _bring_up_to_date(self, rounds: Rounds, target: Target) -> None:
        """Do one index: what queries find, and of what they cannot tell, what was written since it was looked at."""
        self._add_mapping(target)
        shards = shards_of(self._engine, target.index, target.shards)
        is_visible = self._refresh(target)  # what was written until then, as far as we may ask for it
        before = self.report.writes, len(self.report.refused)
        span = span_of(self._engine, target, self._task, shards)
        query = queries.to_do(target, self._task)
        if target.has_text is None:  # or documents without a text would be read for ever
            self._look_at(rounds, target, query, span, unindexed=True)
        self._until_none_is_left(rounds, target, query, Span(span.upto) if target.has_text is None else None)
        self._look_at(rounds, target, queries.doubtful(target, self._task), span)
        self._refresh(target)
        if shards and is_visible and before[1] == len(self.report.refused):
            remember(self._engine, target, self._task, shards, self.report.writes - before[0])

    def _until_none_is_left(self, rounds: Rounds, target: Target, query: dict[str, Any], span: Span | None) -> None:
        """Rounds of a query that finds what is not done; each sees the index as it is then."""
        ends, visible, left = 0, self._refresh(target), math.inf
        while True:
            limit = RENEWED_AFTER if visible else math.inf
            read, finished = self._round(rounds, target, query, limit, span=span, unindexed=True)
            visible = self._refresh(target)
            ends += finished
            if finished and (not read or not visible or ends > CATCH_UP):
                return
            if visible and not finished:  # what is found again however often it is written must not be done for ever
                before, left = left, self._number(target, query)
                if left >= before:
                    return

    def _look_at(
        self, rounds: Rounds, target: Target, query: dict[str, Any], span: Span, *, unindexed: bool = False
    ) -> None:
        """Read each document once that a query finds and that was last written in a span."""
        number = self._number(target, queries.both(query, span.of_any()))
        for part in span.parts(math.ceil(number / RENEWED_AFTER)):
            finished = False
            while not finished:
                _, finished = self._round(rounds, target, query, span=part, unindexed=unindexed)

    def _round(
        self,
        rounds: Rounds,
        target: Target,
        query: dict[str, Any],
        limit: float = math.inf,
        *,
        span: Span | None = None,
        unindexed: bool = False,
    ) -> tuple[int, bool]:
        """How many documents were read, and whether these were all; `unindexed` as `Writer.write` has it."""
        write = partial(Writer(self._engine, target, self._task).write, unindexed=unindexed)
        before = self.report.documents
        query, of_shard = (queries.both(query, span.of_any()), span.of_shard) if span else (query, None)
        body = {"query": query, "sort": ["_doc"], "_source": wanted_source(self._task), "seq_no_primary_term": True}
        with closing(
            open_point_in_time(self._engine, target.index, body, {target.index: target.shards}, of_shard)
        ) as pages:
            try:
                return rounds.run(pages, write, limit)
            except RequestError as error:
                if error.kind != _LOST or self.report.documents == before:
                    raise
                return self.report.documents - before, False  # the engine let go of the moment

    def _newest_value(self, target: Target, field: str) -> Any:
        """The greatest value of LAG seconds ago, or the oldest one known; None if there is none."""
        return self._of_lag_ago(target.index, self._greatest(target, field))

    def _of_lag_ago(self, name: str, value: Any) -> Any:
        """What this value was LAG seconds ago, or the oldest one known; None if there is none."""
        values, now = self._newest[name], time.monotonic()
        if value is not None:
            values.append((now, value))
        while len(values) > 1 and values[1][0] <= now - LAG:
            values.popleft()
        return values[0][1] if values else None

    def _greatest(self, target: Target, field: str) -> Any:
        """The greatest value of a number, or of a date that is not yet to come, as ranges take it; None: there is none.

        A date to come, be it a mistake, would hide all changes until then.
        """
        found = maximum(self._engine, target.index, field)
        if "value_as_string" in found:  # a date
            found = maximum(self._engine, target.index, field, {"range": {field: {"lte": f"now+{LAG:.0f}s"}}})
        return None if found["value"] is None else found.get("value_as_string", found["value"])

    def _number(self, target: Target, query: dict[str, Any]) -> int:
        return self._engine.count(target.index, query)

    def _refresh(self, target: Target) -> bool:
        """Let searches see what was written; False if we may not."""
        return self._engine.refresh(target.index, allow=(403,))
