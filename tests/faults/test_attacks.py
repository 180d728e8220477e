"""A bounded part of the attacks, the same on every machine; `scripts/faults.py` runs as many as one wants."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.faults import attached, engines, folders, local
from tests.faults.attack import Attack, Place

RUNS = 4

pytestmark = pytest.mark.slow

ATTACKS = [*folders.ATTACKS, *local.ATTACKS]


@pytest.mark.parametrize("seed", range(RUNS))
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_it_is_held(attack: Attack, seed: int, tmp_path: Path) -> None:
    """Right, or an error of one sentence; nothing lost."""
    attack.run(random.Random(f"{attack.name} {seed}"), Place(tmp_path))


@pytest.mark.parametrize("seed", range(RUNS))
@pytest.mark.parametrize("attack", engines.ATTACKS, ids=lambda attack: attack.name)
def test_it_is_held_on_the_way_to_an_engine(attack: Attack, seed: int, tmp_path: Path, opensearch_url: str) -> None:
    """The same, with a real engine behind a proxy that does not do as it should."""
    attack.run(random.Random(f"{attack.name} {seed}"), Place(tmp_path, opensearch_url))


@pytest.mark.parametrize("seed", range(RUNS // 2))
@pytest.mark.parametrize("attack", attached.ATTACKS, ids=lambda attack: attack.name)
def test_it_is_held_for_an_index_of_an_application(
    attack: Attack, seed: int, tmp_path: Path, opensearch_url: str
) -> None:
    """Likewise, of commands that change such an index; fewer of them, as each run is of seven."""
    attack.run(random.Random(f"{attack.name} {seed}"), Place(tmp_path, opensearch_url))
