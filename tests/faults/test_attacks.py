"""Runs a few attacks, the same on every machine. `scripts/faults.py` runs as many as you want."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.faults import attached, engine_pairs, engines, folders, local, pairs
from tests.faults.attack import Attack, Place

pytestmark = pytest.mark.slow

ENGINES = ["opensearch", "elasticsearch"]


@pytest.mark.parametrize("attack", [*folders.ATTACKS, *local.ATTACKS], ids=lambda attack: attack.name)
def test_nothing_is_lost_on_this_machine(attack: Attack, tmp_path: Path) -> None:
    attack.run(random.Random(f"{attack.name} 0"), Place(tmp_path))


@pytest.mark.parametrize("number", range(0, len(pairs.PAIRS), 7))
def test_two_commands_at_once_lose_nothing(number: int, tmp_path: Path) -> None:
    """Runs every seventh pair."""
    pairs.run_pair(random.Random(f"pair {number}"), Place(tmp_path), pairs.PAIRS[number])


@pytest.mark.parametrize("number", range(0, len(engine_pairs.PAIRS), 9))
def test_two_commands_at_once_lose_nothing_in_an_index(number: int, tmp_path: Path, opensearch_url: str) -> None:
    """Runs every ninth pair, while an application writes."""
    engine_pairs.run_pair(random.Random(f"pair {number}"), Place(tmp_path, opensearch_url), engine_pairs.PAIRS[number])


@pytest.mark.parametrize("command", ["backfill --stale", "mark", "apply, the other plan"])
def test_two_commands_at_once_lose_nothing_in_elasticsearch(
    command: str, tmp_path: Path, elasticsearch_url: str
) -> None:
    names = command, "apply"
    engine_pairs.run_pair(random.Random(f"pair {command}"), Place(tmp_path, elasticsearch_url), names)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("attack", [*engines.ATTACKS, *attached.ATTACKS], ids=lambda attack: attack.name)
def test_nothing_is_lost_on_the_way_to_an_engine(
    attack: Attack, engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url: str = request.getfixturevalue(f"{engine}_url")
    attack.run(random.Random(f"{attack.name} 0"), Place(tmp_path, url))
