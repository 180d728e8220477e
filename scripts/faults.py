"""Runs the attacks of tests/faults many times, and prints how many succeeded.

    python scripts/faults.py --runs 100 --seed 7 [--only "damaged stores"] [--engine http://127.0.0.1:9201]

Each run depends only on the seed and its number, so a failed run can be repeated: --first 42 --runs 1. Attacks that
need an engine run only with --engine.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.faults import attached, engine_pairs, engines, folders, local, pairs
from tests.faults.attack import Attack, Place


def main() -> int:
    """Run the attacks. Return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--only", help="the name of one attack")
    parser.add_argument("--engine", default="", help="address of an OpenSearch or Elasticsearch")
    options = parser.parse_args()
    every = [
        *folders.ATTACKS,
        *local.ATTACKS,
        *pairs.ATTACKS,
        *engines.ATTACKS,
        *attached.ATTACKS,
        *engine_pairs.ATTACKS,
    ]
    chosen = [attack for attack in every if options.only in (None, attack.name)]
    failed = 0
    print(f"{'attack':<40} {'runs':>6} {'passed':>6} {'seconds':>8}")
    for attack in chosen:
        if attack.needs_engine and not options.engine:
            print(f"{attack.name:<40} {'needs --engine':>22}")
            continue
        began = time.monotonic()
        numbers = range(options.first, options.first + options.runs)
        passed = sum(_passed(attack, number, options.seed, options.engine) for number in numbers)
        failed += options.runs - passed
        print(f"{attack.name:<40} {options.runs:>6} {passed:>6} {time.monotonic() - began:>8.0f}", flush=True)
    return min(1, failed)


def _passed(attack: Attack, number: int, seed: str, engine: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            attack.run(random.Random(f"{seed} {attack.name} {number}"), Place(Path(folder), engine))
        except Exception as error:  # a crash of the attack counts as a failure
            print(f"  failed: {attack.name}, run {number}: {type(error).__name__}: {str(error)[:500]}", file=sys.stderr)
            return False
    return True


if __name__ == "__main__":
    raise SystemExit(main())
