"""Measures how well shared passages are found: recall, precision, granularity and plagdet, the official score.

    python scripts/bench_passages.py CORPUS... [--pairs 100]   plants passages in these texts and aligns them
    python scripts/bench_passages.py --planted FOLDER          aligns the pairs that scripts/plant_passages.py wrote
    python scripts/bench_passages.py --pan FOLDER              aligns a corpus in the format of the PAN competitions

    alarms    pairs with a reported passage, per 1,000 pairs without a planted passage
    seconds   alignment time, in one process

`--min-run` and `--max-gap` change the preset. `--sample N` uses the first N pairs of each kind. `--write FILE` writes a
line of JSON for each pair: its kind, the planted and the found spans, and the score.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

sys.path.insert(0, str(Path(__file__).parents[1]))

from passage_corpora import Case, read_pan, read_planted
from plant_passages import DOCUMENT_WORDS, KINDS, planted_pairs, read_material

from simdoc_search.passages.align import PRESETS, AlignmentSettings, align
from tests.support.passages.plagdet import Reuse, score


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="*")
    parser.add_argument("--planted", type=Path)
    parser.add_argument("--pan", type=Path)
    parser.add_argument("--pairs", type=int, default=100, help="number of pairs to plant, per kind")
    parser.add_argument("--kind", action="append", choices=KINDS, help="kind of change to plant. Default: all kinds")
    parser.add_argument("--seed", default="0", help="random seed for planting")
    parser.add_argument("--preset", choices=PRESETS, default="edited")
    parser.add_argument("--sample", type=int, help="maximum number of pairs of each kind")
    parser.add_argument("--write", type=argparse.FileType("w", encoding="utf-8"))
    parser.add_argument("--min-run", type=int, help="minimum run length, in words")
    parser.add_argument("--max-gap", type=int, help="maximum number of unmatched words between two runs")
    arguments = parser.parse_args()
    if arguments.planted:
        cases = read_planted(arguments.planted)
    elif arguments.pan:
        cases = read_pan(arguments.pan)
    elif arguments.corpus:
        cases = plant_cases(arguments.corpus, arguments.pairs, arguments.kind or KINDS, arguments.seed)
    else:
        parser.error("give folders of texts, --planted FOLDER or --pan FOLDER")
    changes = {name: value for name in ("min_run", "max_gap") if (value := getattr(arguments, name)) is not None}
    settings = replace(PRESETS[arguments.preset], **changes)
    print(settings)
    print_table(Results.of(sampled(cases, arguments.sample), settings, arguments.write))


def plant_cases(corpora: list[Path], count: int, kinds: Sequence[str], seed: str) -> Iterator[Case]:
    """The pairs that scripts/plant_passages.py plants with these arguments."""
    material = read_material(corpora, seed)
    for number, (kind, pair) in enumerate(planted_pairs(material, count, kinds, DOCUMENT_WORDS, seed)):
        names = f"suspicious {number}", f"source {number}"
        spans = tuple(Reuse(names, a, b) for a, b in pair.spans)
        yield Case(kind, names, (pair.suspicious, pair.source), spans)


def sampled(cases: Iterable[Case], count: int | None) -> Iterator[Case]:
    """The first cases of each kind."""
    taken: Counter[str] = Counter()
    for case in cases:
        taken[case.kind] += 1
        if count is None or taken[case.kind] <= count:
            yield case


class Results:
    """The planted and the found passages of one kind."""

    def __init__(self) -> None:
        self.planted: list[Reuse] = []
        self.found: list[Reuse] = []
        self.pairs = self.clean = self.alarms = 0
        self.seconds = 0.0

    @staticmethod
    def of(cases: Iterable[Case], settings: AlignmentSettings, log: TextIO | None) -> dict[str, Results]:
        """Align every pair. Return the results of each kind, and of all kinds together."""
        results: dict[str, Results] = defaultdict(Results)
        for case in cases:
            began = time.perf_counter()
            aligned = align(*case.texts, settings)
            seconds = time.perf_counter() - began
            found = [Reuse(case.names, passage.a, passage.b) for passage in aligned]
            for name in (case.kind, "all"):
                results[name].add(case, found, seconds)
            if log:
                spans = {
                    "planted": [(passage.a, passage.b) for passage in case.planted],
                    "found": [(passage.a, passage.b) for passage in found],
                }
                plagdet = score(case.planted, found).plagdet
                log.write(json.dumps({"kind": case.kind, "names": case.names, **spans, "plagdet": plagdet}) + "\n")
        results["all"] = results.pop("all")
        return results

    def add(self, case: Case, found: list[Reuse], seconds: float) -> None:
        """Add a pair."""
        self.pairs += 1
        self.planted += case.planted
        self.found += found
        self.clean += not case.planted
        self.alarms += bool(found) and not case.planted
        self.seconds += seconds


def print_table(results: dict[str, Results]) -> None:
    """Print one row for each kind."""
    print(f"{'kind':<26}{'pairs':>7}{'planted':>9}{'found':>7}{'recall':>9}{'precision':>11}{'granularity':>13}"
          f"{'plagdet':>9}{'alarms':>8}{'seconds':>9}")  # fmt: skip
    for kind, result in results.items():
        total = score(result.planted, result.found)
        figures = (f"{total.recall:>9.4f}{total.precision:>11.4f}{total.granularity:>13.3f}{total.plagdet:>9.4f}"
                   if result.planted else f"{'-':>9}{'-':>11}{'-':>13}{'-':>9}")  # fmt: skip
        alarms = f"{1000 * result.alarms / result.clean:.1f}" if result.clean else "-"
        print(f"{kind:<26}{result.pairs:>7,}{total.planted:>9,}{total.detections:>7,}{figures}{alarms:>8}"
              f"{result.seconds:>9.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
