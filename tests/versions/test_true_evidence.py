"""If all evidence is true, an older version is never called the newest, however much evidence is missing."""

from __future__ import annotations

import random
from datetime import datetime, timezone

import pytest

from simdoc_search.versions import DateSources, build_timeline
from simdoc_search.versions.date_order import ProposeOrder

DAY = 86_400 * 10**9
START = 1_600_000_000 * 10**9


def random_family(chance: random.Random) -> list[tuple[int, DateSources]]:
    """Return the versions of a document, and their numbers, in random order.

    File times are true, except those of copies, which are later. Other evidence is true, but most documents lack it.
    """
    starts = [START + chance.randint(1, 60) * DAY * number**2 for number in range(chance.randint(2, 5))]
    share_of = {kind: chance.choice([0, 0.5, 1]) for kind in ("metadata", "date", "version")}
    documents = []
    for number, start in enumerate(sorted(starts)):
        day = date_label(start)
        for copy in range(chance.choice([1, 1, 2])):
            name = f"lease v{number}" if chance.random() < share_of["version"] else chance.choice("abcdef")
            name += f" {day}" if chance.random() < share_of["date"] else ""
            metadata = {"modified": day} if chance.random() < share_of["metadata"] else {}
            time = start + copy * chance.randint(1, 90) * DAY
            documents.append((number, DateSources(name, metadata, time, None, str(start))))
    return chance.sample(documents, len(documents))


def date_label(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 10**9, timezone.utc).strftime("%Y-%m-%d")


@pytest.mark.parametrize("propose_order", [list, None])
def test_true_evidence_never_names_an_older_version(propose_order: ProposeOrder | None) -> None:
    """However much of the evidence is missing, the newest is either named or not known."""
    named = 0
    for seed in range(1_000):
        family = random_family(random.Random(seed))
        line = build_timeline([document for _, document in family], propose_order)
        if line.newest is not None:
            named += 1
            newest = max(family, key=lambda numbered: numbered[0])[1]
            assert newest.text_hash == family[line.newest][1].text_hash, seed

    assert named > 500
