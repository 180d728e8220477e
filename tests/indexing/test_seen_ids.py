"""`SeenIds` is as exact as dictionaries, and needs at most 64 bytes per id."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter

import pytest

from simdoc_search.indexing.seen_ids import IdStatus, SeenIds


@pytest.mark.parametrize("seed", range(2))
def test_statuses_are_those_of_dictionaries(seed: int) -> None:
    choose = random.Random(seed)
    seen, before, now, places = SeenIds(), {}, {}, {}
    for _ in range(8_000):
        id = f"id{choose.randrange(2_000)}"
        if id not in before:
            assert id not in seen
            before[id], places[id] = choose.choice([None, "", "x", "y"]), choose.randrange(1 << 32)
            seen.add(id, places[id], before[id])
            now[id] = before[id]
            assert id in seen
        action = choose.randrange(4)
        if action == 0:
            now[id] = choose.choice(["x", "y"])
            seen.note_stored(id, str(now[id]))
        elif action == 1:
            now[id] = None
            seen.note_removed(id)
        elif action == 2:
            now[id] = before[id]
            seen.note_refused(id)
        assert (now[id] is not None) == seen.is_stored(id)

    def expected_status(old: str | None, new: str | None) -> IdStatus:
        if old is None:
            return IdStatus.NOT_WRITTEN if new is None else IdStatus.ADDED
        return IdStatus.DELETED if new is None else IdStatus.UNCHANGED if old == new else IdStatus.REPLACED

    expected = Counter(expected_status(before[id], now[id]) for id in before)
    for status in (IdStatus.ADDED, IdStatus.REPLACED, IdStatus.DELETED):
        assert expected[status] == seen.count(status)
    assert places == {id: seen.path_number(id) for id in places}
    assert {id: old is None for id, old in before.items()} == {id: seen.is_new(id) for id in before}
    assert "another" not in seen
    assert not seen.is_new("another")


def test_an_id_costs_at_most_64_bytes() -> None:
    count = 1_400
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    seen = SeenIds()
    for number in range(count):
        seen.add(f"some/folder/with/a/long/name/document{number}.txt", 1, f"{number:032x}")
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    assert 64 * count >= used > 55 * count
