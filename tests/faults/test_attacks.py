"""A bounded part of the attacks, the same on every machine; `scripts/faults.py` runs as many as one wants."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.faults import attached, engine_pairs, engines, folders, local, pairs
from tests.faults.attack import Attack, Place

RUNS = 2
PARTS = 7

pytestmark = pytest.mark.slow

ATTACKS = [*folders.ATTACKS, *local.ATTACKS]


@pytest.mark.parametrize("seed", range(RUNS))
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_it_is_held(attack: Attack, seed: int, tmp_path: Path) -> None:
    """Right, or an error of one sentence; nothing lost."""
    attack.run(random.Random(f"{attack.name} {seed}"), Place(tmp_path))


@pytest.mark.parametrize("part", range(PARTS))
def test_two_commands_at_once_lose_nothing(part: int, tmp_path: Path) -> None:
    """Every pair, in parts that several processes can share."""
    for number in range(part, len(pairs.PAIRS), PARTS):
        (tmp_path / str(number)).mkdir()
        pairs.pair(
            random.Random(f"pair {number}"), Place(tmp_path / str(number)), pairs.PAIRS[number % len(pairs.PAIRS)]
        )


@pytest.mark.parametrize("number", range(0, len(engine_pairs.PAIRS), 7))
def test_two_commands_at_once_lose_nothing_of_an_index(number: int, tmp_path: Path, opensearch_url: str) -> None:
    """A seventh of all pairs, beside an application that writes."""
    engine_pairs.pair(random.Random(f"pair {number}"), Place(tmp_path, opensearch_url), engine_pairs.PAIRS[number])


@pytest.fixture(params=["opensearch", "elasticsearch"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """The address of each engine."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.mark.parametrize("one", engine_pairs.WITHOUT_SCRIPTS)
def test_two_commands_at_once_lose_nothing_of_elasticsearch(one: str, tmp_path: Path, elasticsearch_url: str) -> None:
    """The same where there are no scripts: each command beside the one that removes documents."""
    names = one, "apply"
    engine_pairs.pair(random.Random(f"pair {one}"), Place(tmp_path, elasticsearch_url), names)


@pytest.mark.parametrize("seed", range(RUNS // 2))
@pytest.mark.parametrize("attack", engines.ATTACKS, ids=lambda attack: attack.name)
def test_it_is_held_on_the_way_to_an_engine(attack: Attack, seed: int, tmp_path: Path, engine_url: str) -> None:
    """The same, with a real engine behind a proxy that does not do as it should."""
    attack.run(random.Random(f"{attack.name} {seed}"), Place(tmp_path, engine_url))


@pytest.mark.parametrize("seed", range(RUNS // 2))
@pytest.mark.parametrize("attack", attached.ATTACKS, ids=lambda attack: attack.name)
def test_it_is_held_for_an_index_of_an_application(attack: Attack, seed: int, tmp_path: Path, engine_url: str) -> None:
    """The same for commands that change such an index."""
    attack.run(random.Random(f"{attack.name} {seed}"), Place(tmp_path, engine_url))
