"""If all evidence is true, an older version is never called the newest, however much evidence is missing."""

from __future__ import annotations

import random
from datetime import datetime, timezone

import pytest

from simdoc_search.versions import DateSources, build_timeline
from simdoc_search.versions.date_order import ProposeOrder

DAY = 86_400 * 10**9
START = 1_600_000_000 * 10**9


def random_family(chance: random.Random, *, with_shared_date: bool = False) -> list[tuple[int, DateSources]]:
    """Return the versions of a document, and their numbers, in random order.

    File times are true, except those of copies, which are later. Other evidence is true, but most documents lack it.

    If `with_shared_date` is true, no name has the date when its version was written. All names have the date for which
    the document is written: one day, or only its month or year. File times are equal, as after unpacking an archive.
    """
    starts = [START + chance.randint(1, 60) * DAY * number**2 for number in range(chance.randint(2, 5))]
    share_of = {kind: chance.choice([0, 0.5, 1]) for kind in ("metadata", "date", "version")}
    purpose = date_label(START + chance.randint(0, 1_500) * DAY)
    documents = []
    for number, start in enumerate(sorted(starts)):
        day = date_label(start)
        for copy in range(chance.choice([1, 1, 2])):
            name = f"lease v{number}" if chance.random() < share_of["version"] else chance.choice("abcdef")
            if with_shared_date:
                name += f" {purpose[: chance.choice([4, 7, 10])]}"
            elif chance.random() < share_of["date"]:
                name += f" {day}"
            metadata = {"modified": day} if chance.random() < share_of["metadata"] else {}
            time = START if with_shared_date else start + copy * chance.randint(1, 90) * DAY
            documents.append((number, DateSources(name, metadata, time, None, str(start))))
    return chance.sample(documents, len(documents))


def date_label(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 10**9, timezone.utc).strftime("%Y-%m-%d")


@pytest.mark.parametrize("with_shared_date", [False, True])
@pytest.mark.parametrize("propose_order", [list, None])
def test_true_evidence_never_names_an_older_version(
    propose_order: ProposeOrder | None, *, with_shared_date: bool
) -> None:
    """However much of the evidence is missing, the newest is either named or not known."""
    named = 0
    for seed in range(1_000):
        family = random_family(random.Random(seed), with_shared_date=with_shared_date)
        line = build_timeline([document for _, document in family], propose_order)
        named += line.newest is not None
        newest = max(family, key=lambda numbered: numbered[0])[1]
        for number in (line.newest, line.newest_without_file_times):
            assert number is None or newest.text_hash == family[number][1].text_hash, seed

    assert named > (300 if with_shared_date else 500)
