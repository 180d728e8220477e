"""How often passage tokens lead from a run of words to the document that has it, beside what is promised.

    python scripts/bench_passage_tokens.py CORPUS... [--runs 1000] [--window 32] [--seed 0]

Documents are made of the texts of the folders, as scripts/plant_passages.py does. A run is found if the document keeps
a token that is asked for: with all shingles of the run (`all`; texts of at most 1,000 shingles ask like that), or with
the passage tokens that the run has itself (`own`).

    runs       of 8 to 36 words, by the length of the document; `promised` is the computed probability of `all`
    excerpts   of 50 to 2,000 words out of documents of 500 to 50,000: how many are found; `shown`: the share of an
               excerpt's characters in the passages that it shares with the document, on average and at least
    planted    pairs with passages planted among other text, and clean ones: how many share a token, or two
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from plant_passages import CLEAN, DOCUMENT_WORDS, excerpt_pairs, excerpts, planted_pairs, read_material

from simdoc_search.passages.align import align
from simdoc_search.sketch.fingerprint import fingerprint, shingle_token_ids
from simdoc_search.sketch.tokens import TokenIds
from simdoc_search.sketch.winnow import PassageSettings
from tests.support.passages.planting import Material
from tests.support.passages.rewording import KINDS

LENGTHS = (1_000, 6_000, 40_000)
WORDS = (*range(8, 36, 3), 36)
PER_DOCUMENT, SHINGLE, ASKED_WITH_ALL = 50, 5, 1_000
EXCERPT, EXCERPTS_FROM = (50, 2_000), (500, 50_000)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=1_000, help="of each length, out of documents of each length")
    parser.add_argument("--excerpts", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=100, help="planted, of each kind")
    parser.add_argument("--window", type=int, default=32)
    parser.add_argument("--seed", default="0")
    given = parser.parse_args()
    material, passages = read_material(given.corpus, given.seed), PassageSettings(given.window)
    print(
        f"{material.words:,} words of material; with window {given.window}, every run of "
        f"{passages.guaranteed_run_length(SHINGLE)} words is found"
    )
    print_runs(material, passages, given.runs, given.seed)
    print_excerpts(material, passages, given.excerpts, given.seed)
    print_planted(material, passages, given.pairs, given.seed)


def kept(text: str, passages: PassageSettings) -> TokenIds:
    """The passage tokens of a text, as numbers."""
    return fingerprint(text, passages=passages).passages


def asked(text: str, passages: PassageSettings) -> TokenIds:
    """What is asked for with a text: all shingles of a short one, or else its passage tokens."""
    token_ids = shingle_token_ids(text)
    return token_ids if len(token_ids) <= ASKED_WITH_ALL else kept(text, passages)


def shared(ones: TokenIds, others: TokenIds) -> int:
    """How many are in both."""
    return len(np.intersect1d(ones, others, assume_unique=True))


def print_runs(material: Material, passages: PassageSettings, count: int, seed: str) -> None:
    """Runs by their words and by the length of the document."""
    found: Counter[tuple[int, int, str]] = Counter()
    for length in LENGTHS:
        for number in range(count // PER_DOCUMENT):
            rng = random.Random(f"{seed} {length} {number}")
            document = material.text(rng, length)
            tokens = kept(document, passages)
            for words in WORDS:
                for pair in excerpts(rng, document, [words] * PER_DOCUMENT):
                    run = pair.suspicious
                    found[words, length, "all"] += bool(shared(shingle_token_ids(run), tokens))
                    found[words, length, "own"] += bool(shared(kept(run, passages), tokens))
    runs = count // PER_DOCUMENT * PER_DOCUMENT
    print(f"\n{'words':<8}{'promised':>9}" + "".join(f"{f'{length:,}':>12} all{'own':>7}" for length in LENGTHS))
    for words in WORDS:
        shares = (f"{found[words, length, 'all'] / runs:>16.3f}{found[words, length, 'own'] / runs:>7.3f}"
                  for length in LENGTHS)  # fmt: skip
        print(f"{words:<8}{passages.probability_of_finding(words, SHINGLE):>9.3f}" + "".join(shares))


def print_excerpts(material: Material, passages: PassageSettings, count: int, seed: str) -> None:
    """Excerpts by their words: found, and how much of them is shown."""
    rows: dict[int, list[tuple[bool, bool, float]]] = defaultdict(list)
    for _, pair in excerpt_pairs(material, count, EXCERPT, EXCERPTS_FROM, seed):
        text, document = pair.suspicious, pair.source
        tokens = kept(document, passages)
        spans = [passage.a for passage in align(text, document)]
        words = len(text.split())
        rows[next(bound for bound in (100, 200, 500, 1_000, sys.maxsize) if words < bound)].append(
            (
                bool(shared(asked(text, passages), tokens)),
                bool(shared(kept(text, passages), tokens)),
                covered(spans) / len(text),
            )
        )
    print(f"\n{'excerpt':<16}{'excerpts':>9}{'found':>8}{'own':>8}{'shown':>8}{'least':>8}")
    for bound, row in sorted(rows.items()):
        found, own, shares = zip(*row, strict=True)
        name = f"under {bound:,} words" if bound < sys.maxsize else "longer"
        print(f"{name:<16}{len(row):>9}{np.mean(found):>8.3f}{np.mean(own):>8.3f}{np.mean(shares):>8.4f}"
              f"{min(shares):>8.4f}")  # fmt: skip


def covered(spans: Iterable[tuple[int, int]]) -> int:
    """How many characters lie in at least one of the spans."""
    return len({at for span in spans for at in range(*span)})


def print_planted(material: Material, passages: PassageSettings, count: int, seed: str) -> None:
    """Planted and clean pairs by kind."""
    tokens: dict[str, list[int]] = defaultdict(list)
    for kind, ones, others in sketched(material, passages, count, seed):
        tokens[kind].append(shared(ones, others))
    print(f"\n{'planted':<16}{'pairs':>9}{'1 token':>9}{'2 tokens':>9}")
    for kind, counts in tokens.items():
        one, two = (np.mean([each >= least for each in counts]) for least in (1, 2))
        print(f"{kind:<16}{len(counts):>9}{one:>9.3f}{two:>9.3f}")


def sketched(
    material: Material, passages: PassageSettings, count: int, seed: str
) -> Iterator[tuple[str, TokenIds, TokenIds]]:
    """What each pair asks and keeps."""
    for kind, pair in planted_pairs(material, count, [*KINDS, CLEAN], DOCUMENT_WORDS, seed):
        yield kind, asked(pair.suspicious, passages), kept(pair.source, passages)


if __name__ == "__main__":
    main()
