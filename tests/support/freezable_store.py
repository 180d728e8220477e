"""A store in memory for `duplicates --compare-in engine`. It answers queries by brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from simdoc_search.query.plans import Bands, Plan, Threshold
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.point_in_time import FoundRecords, SizedPlan
from simdoc_search.stores.record import Record

__all__ = ["FreezableStore"]


class FreezableStore:
    """A store that records its queries.

    Attributes:
        plans: the plans that were run.
        before_search: called before each batch of queries.
        changed: applied to each record before it is returned.
    """

    def __init__(self, store: Store) -> None:
        self.plans: list[SizedPlan] = []
        self.before_search: Callable[[], None] = lambda: None
        self.changed: Callable[[Record], Record] = lambda record: record
        self.identity = "this store"
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def scan(self, *, filters: Filters | None = None, **options: Any) -> Iterator[Record]:
        return map(self.changed, self._store.scan(filters=filters, **options))

    @contextmanager
    def freeze(self, *, filters: Filters | None = None) -> Iterator[_Frozen]:
        yield _Frozen(self, list(self.scan(filters=filters)))


class _Frozen:
    def __init__(self, store: FreezableStore, records: list[Record]) -> None:
        self.identity = store.identity
        self._store = store
        self._records = records
        self._having: dict[str, set[int]] = {}
        for number, record in enumerate(records):
            for token in encode(record.codes):
                self._having.setdefault(token, set()).add(number)

    def records(self) -> Iterator[Record]:
        return iter(self._records)

    def search(self, plans: Sequence[SizedPlan], *, size: int, distinct_words: bool) -> list[FoundRecords]:
        self._store.before_search()
        self._store.plans += plans
        return [self._answer(plan, size, distinct_words) for plan in plans]

    def _answer(self, plan: SizedPlan, size: int, distinct_words: bool) -> FoundRecords:
        least, most = plan.shingle_range or (0, 1 << 31)
        found = [self._records[number] for number in self._found_by(plan.plan)]
        found = sorted(
            (record for record in found if least <= record.shingles <= most), key=lambda record: -record.shingles
        )
        kept = list({record.words_hash: record for record in found}.values()) if distinct_words else found
        return FoundRecords(kept[:size], len(found) - size if len(kept) >= size else 0)

    def _found_by(self, plan: Plan) -> set[int]:
        match plan:
            case Bands():
                return set().union(*(set.intersection(*map(self._of, band)) for band in plan.bands))
            case Threshold():
                counts = Counter(number for token in plan.tokens for number in self._of(token))
                return {number for number, count in counts.items() if count >= plan.minimum_match}

    def _of(self, token: str) -> set[int]:
        return self._having.get(token, set())
